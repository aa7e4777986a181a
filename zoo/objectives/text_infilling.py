"""Text infilling and sentence permutation (Lewis et al. 2020, 2.2): shuffle, cut out, write the whole text again.

Shapes: B rows, n source tokens per row, T inputs per row (a closed form in ``zoo.plan.lengths``).
"""

from __future__ import annotations

import numpy as np

from zoo.objectives.batch import Batch, Rows
from zoo.objectives.span_corruption import shift_right
from zoo.plan.lengths import spans


def permute(text: np.ndarray, sentence: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Rows (B, n) with their sentences in another order, all orders equally likely; ``sentence`` (B, n) numbers them,
    ascending."""
    number = sentence - sentence[:, :1]
    keys = np.take_along_axis(rng.random((len(text), int(number.max()) + 1)), number, axis=1)
    return np.take_along_axis(text, np.argsort(keys, axis=1, kind="stable"), axis=1)


def infill(
    text: np.ndarray, mask: int, rng: np.random.Generator, *, density: float, mean_span: float
) -> np.ndarray:
    """Rows (B, n) with spans cut out, one ``mask`` in the place of each.

    The lengths of a row's spans are what Poisson lengths are, given their sum: so all rows get equally long, and some
    spans are empty.  Between two masks there is always a token.
    """
    rows, n = text.shape
    noise, count = spans(n, density, mean_span)
    cut = rng.multinomial(noise, np.full(count, 1 / count), size=rows)
    gaps = np.sort(np.argsort(rng.random((rows, n - noise + 1)), axis=1)[:, :count], axis=1)
    kept = np.diff(gaps, axis=1, prepend=0, append=n - noise)
    lengths = np.empty((rows, 2 * count + 1), dtype=np.int64)
    lengths[:, 0::2], lengths[:, 1::2] = kept, cut
    is_kept = np.repeat(np.tile(np.arange(2 * count + 1) % 2 == 0, rows), lengths.reshape(-1)).reshape(
        rows, n
    )
    masks = np.zeros((rows, n - noise + count), dtype=bool)
    np.put_along_axis(masks, gaps + np.arange(count), True, axis=1)
    inputs = np.full(masks.shape, mask, dtype=np.int64)
    inputs[~masks] = text[is_kept]
    return inputs


class TextInfilling:
    """An encoder reads the damaged text, a decoder writes it whole.

    Args:
        density: share of the tokens cut out.
        mean_span: mean length of a span, in tokens.
        permute: whether the sentences are shuffled first.
    """

    way = "whole"  # see zoo.generation.asking

    def __init__(
        self,
        *,
        density: float = 0.3,
        mean_span: float = 3.0,
        permute: bool = True,
        name: str = "text_infilling",
        needs: str = "write",
    ) -> None:
        self.density, self.mean_span, self.permute = density, mean_span, permute
        self.name, self.needs = name, needs

    def __call__(self, rows: Rows, rng: np.random.Generator) -> Batch:
        tokenizer = rows.tokenizer
        text = damaged = rows.tokens[:, :-1].astype(np.int64)
        if self.permute:
            slots = rows.starts[:, None] + np.arange(rows.length)
            damaged = permute(text, np.searchsorted(rows.stream.sentences, slots, side="right"), rng)
        damaged = infill(damaged, tokenizer.mask, rng, density=self.density, mean_span=self.mean_span)
        end = np.full((len(text), 1), tokenizer.eos)
        targets = np.concatenate([text, end], axis=1)
        return Batch(
            inputs=np.concatenate([damaged, end], axis=1),
            targets=shift_right(targets, tokenizer.bos),
            labels=targets.reshape(-1),
            source_tokens=text.size,
        )
