"""Pairs for next-sentence prediction (Devlin et al. 2019, 3.1, task 2).

Label 0: the second half follows the first in the same document.  Label 1: it comes from another document.
Shapes: B rows, n source tokens per row, K sentence starts inside documents.
"""

from __future__ import annotations

import numpy as np

from zoo.errors import UserError
from zoo.objectives.batch import Rows

NEXT, RANDOM = 0, 1


def pair(rows: Rows, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cut each row at a sentence start, and exchange every other second half for one from another document.

    Returns:
        text (B, n), cut (B,) where the second half starts, labels (B,).

    Raises:
        UserError: the stream has a single document, so that nothing comes from another one.
    """
    stream, n, count = rows.stream, rows.length, len(rows.starts)
    if len(stream.documents) < 3:
        raise UserError(
            "next-sentence prediction needs at least two documents; set objective.next_sentence=false, "
            "or say where documents end (data.documents=blank_lines)"
        )
    text = rows.tokens[:, :-1].astype(np.int64)
    cut, inside = _cuts(rows, rng)
    # Half of the batch is random; first those rows that can be nothing else, no document spanning their middle.
    order = np.argsort(rng.random(count) - ~inside)
    labels = np.full(count, NEXT)
    labels[order[: max((count + int(rng.integers(2))) // 2, int((~inside).sum()))]] = RANDOM
    for row in np.flatnonzero(labels == RANDOM):
        first = rows.starts[row]
        other = _elsewhere(rows, first, first + cut[row] - 1, n - cut[row], rng)
        text[row, cut[row] :] = stream.tokens[other]
    return text, cut, labels


def _cuts(rows: Rows, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """(B,) where to cut: at a sentence start in the middle half of the row if there is one, else between any two
    tokens of a document there; and (B,) whether both sides belong to one document."""
    n = rows.length
    low, high = rows.starts + n // 4, rows.starts + n - n // 4
    first, last = np.searchsorted(rows.inner, low), np.searchsorted(rows.inner, high)
    any_place = rng.integers(low, high)
    index = np.minimum(first + (rng.random(len(low)) * (last - first)).astype(np.int64), len(rows.inner) - 1)
    cut = np.where(last > first, rows.inner[index] if len(rows.inner) else 0, any_place)
    inside = rows.stream.document_of(cut) == rows.stream.document_of(cut - 1)
    return cut - rows.starts, inside


def _elsewhere(rows: Rows, first: int, last: int, length: int, rng: np.random.Generator) -> np.ndarray:
    """Slots (length,) in other documents than those from ``first`` to ``last``; beginning at a sentence start inside
    a document where there is one, as for true pairs, so that how a half begins gives nothing away."""
    stream = rows.stream
    mine = stream.document_of(np.array([first, last]))
    own = stream.documents[mine[0]], stream.documents[mine[1] + 1]
    for places in (rows.inner, stream.documents[:-1]):
        usable = np.searchsorted(places, len(stream) - length, side="right")
        before = np.searchsorted(places, own[0] - length, side="right")
        after = np.searchsorted(places, own[1])
        after = np.minimum(after, usable)
        before = np.minimum(before, usable)
        choices = before + usable - after
        if choices > 0:
            choice = int(rng.integers(choices))
            return places[choice if choice < before else choice - before + after] + np.arange(length)
    # No other document starts early enough to leave ``length`` tokens: go round the end of the stream.
    return (own[1] + np.arange(length)) % len(stream)
