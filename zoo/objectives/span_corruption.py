"""Span corruption (Raffel et al. 2020, 3.1.4): cut spans out, write them.

Shapes: B rows, n source tokens per row, T inputs and U targets per row (closed forms in ``zoo.plan.lengths``).
"""

from __future__ import annotations

import numpy as np

from zoo.objectives.batch import Batch, Rows
from zoo.plan.lengths import spans


def noise_mask(
    rows: int, n: int, rng: np.random.Generator, *, density: float, mean_span: float
) -> np.ndarray:
    """Which tokens are cut out, (B, n) bool: in each row the same number of tokens and of spans.

    T5's own mask always begins with text and ends with noise, so that the last token is always cut out and the
    first never; here the text before the first and after the last span may be empty.
    """
    noise, count = spans(n, density, mean_span)
    cut = _partition(rows, noise, count, rng)
    kept = _partition(rows, n - noise + 2, count + 1, rng)
    kept[:, [0, -1]] -= 1
    lengths = np.empty((rows, 2 * count + 1), dtype=np.int64)
    lengths[:, 0::2], lengths[:, 1::2] = kept, cut
    return np.repeat(np.tile(np.arange(2 * count + 1) % 2 == 1, rows), lengths.reshape(-1)).reshape(rows, n)


def _partition(rows: int, total: int, parts: int, rng: np.random.Generator) -> np.ndarray:
    """(B, parts) positive whole numbers that sum to ``total``, all such sequences equally likely."""
    places = np.argsort(rng.random((rows, total - 1)), axis=1)[:, : parts - 1] + 1
    ends = np.concatenate(
        [np.zeros((rows, 1), int), np.sort(places, axis=1), np.full((rows, 1), total)], axis=1
    )
    return np.diff(ends, axis=1)


def corrupt(
    text: np.ndarray, noise: np.ndarray, sentinels: np.ndarray, eos: int
) -> tuple[np.ndarray, np.ndarray]:
    """Text (B, n) and its mask -> inputs (B, T), targets (B, U).

    Inputs: the text, each span replaced by its sentinel, then ``eos``.  Targets: each sentinel followed by its span,
    then ``eos``.  ``sentinels[i]`` is the id of <extra_id_i>, so ids need not be in any order.
    """
    rows = len(text)
    starts = noise & ~np.pad(noise, ((0, 0), (1, 0)))[:, :-1]
    ids = sentinels[np.maximum(starts.cumsum(1) - 1, 0)]
    end = np.full((rows, 1), eos)
    inputs = np.where(starts, ids, text)[~noise | starts].reshape(rows, -1)
    # Each span's first token is preceded by its sentinel: lay both side by side and keep what belongs.
    both = np.stack([ids, text], axis=-1).reshape(rows, -1)
    keep = np.stack([starts, noise], axis=-1).reshape(rows, -1)
    targets = both[keep].reshape(rows, -1)
    return np.concatenate([inputs, end], axis=1), np.concatenate([targets, end], axis=1)


class SpanCorruption:
    """An encoder reads the corrupted text, a decoder writes what is missing.

    Args:
        density: share of the tokens cut out.
        mean_span: mean length of a span, in tokens.
    """

    way = "spans"  # see zoo.generation.asking

    def __init__(
        self,
        *,
        density: float = 0.15,
        mean_span: float = 3.0,
        name: str = "span_corruption",
        needs: str = "write",
    ) -> None:
        self.density, self.mean_span, self.name, self.needs = density, mean_span, name, needs

    def __call__(self, rows: Rows, rng: np.random.Generator) -> Batch:
        text = rows.tokens[:, :-1].astype(np.int64)
        noise = noise_mask(len(text), rows.length, rng, density=self.density, mean_span=self.mean_span)
        tokenizer = rows.tokenizer
        inputs, targets = corrupt(text, noise, np.array(tokenizer.sentinels), tokenizer.eos)
        return Batch(
            inputs=inputs,
            targets=shift_right(targets, tokenizer.bos),
            labels=targets.reshape(-1),
            source_tokens=text.size,
        )


def shift_right(targets: np.ndarray, bos: int) -> np.ndarray:
    """What the decoder reads while it writes ``targets`` (B, U): a start token, then all but the last."""
    return np.pad(targets[:, :-1], ((0, 0), (1, 0)), constant_values=bos)
