"""Pairs for sentence-order prediction (Lan et al. 2020, 3.1): are two stretches of one text in order, or swapped?

Label 0: in order.  Label 1: swapped.  Shapes: B rows, n source tokens per row.
"""

from __future__ import annotations

import numpy as np

from zoo.data.stream import Stream
from zoo.objectives.batch import Rows

IN_ORDER, SWAPPED = 0, 1


def ordered_pair(rows: Rows, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two stretches of n / 2 tokens of one document for each row, every other row's the wrong way round.

    Both begin with a sentence and end wherever they are full, so that neither's edges say which was first.  Where the
    row's documents are too short for both, what follows the row's start takes their place: such a pair is in no order.

    Returns:
        text (B, n), cut (B,) where the second stretch starts, labels (B,).
    """
    stream, n, count = rows.stream, rows.length, len(rows.starts)
    half = (n + 1) // 2
    first, second = _stretches(stream, rows.starts, half)
    for ahead in (1, 2):  # else those of the next document, or of the one after it
        poor = stream.document_of(first) != stream.document_of(second)
        later = np.minimum(stream.document_of(rows.starts[poor]) + ahead, len(stream.documents) - 2)
        first[poor], second[poor] = _stretches(stream, stream.documents[later], half)
    labels = np.full(count, IN_ORDER)
    labels[np.argsort(rng.random(count))[: (count + int(rng.integers(2))) // 2]] = SWAPPED
    swapped = labels == SWAPPED
    begin, then = np.where(swapped, second, first), np.where(swapped, first, second)
    slots = np.concatenate([begin[:, None] + np.arange(half), then[:, None] + np.arange(n - half)], axis=1)
    text = stream.tokens[slots % len(stream)].astype(np.int64)
    return text, np.full(count, half), labels


def _stretches(stream: Stream, starts: np.ndarray, half: int) -> tuple[np.ndarray, np.ndarray]:
    """Where the first sentence from each of ``starts`` begins, and the first at least ``half`` tokens after it."""
    first = _next_sentence(stream, starts)
    return first, _next_sentence(stream, first + half)


def _next_sentence(stream: Stream, places: np.ndarray) -> np.ndarray:
    """The first sentence start at or after each of ``places``; the place itself where there is none."""
    index = np.searchsorted(stream.sentences, places)
    inside = index < len(stream.sentences)
    return np.where(inside, stream.sentences[np.minimum(index, len(stream.sentences) - 1)], places)
