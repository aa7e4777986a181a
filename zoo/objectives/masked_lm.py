"""Masked language modelling, with a second task on pairs of sentences (Devlin et al. 2019, 3.1).

Shapes: B rows, T inputs per row, n source tokens per row.
"""

from __future__ import annotations

import numpy as np

from zoo.objectives.batch import Batch, Rows
from zoo.objectives.next_sentence import pair
from zoo.objectives.sentence_order import ordered_pair


def mask_tokens(
    tokens: np.ndarray,
    is_special: np.ndarray,
    mask_id: int,
    rng: np.random.Generator,
    *,
    rate: float = 0.15,
    mask: float = 0.8,
    random: float = 0.1,
) -> tuple[np.ndarray, np.ndarray]:
    """Hide tokens.  ``tokens`` (B, T), ``is_special`` (V,) bool -> inputs (B, T), chosen (B, T) bool.

    Each token that is not special is chosen with probability ``rate``; of the chosen, a share ``mask`` becomes
    ``mask_id``, a share ``random`` a random token (never a special one), the rest stays.
    """
    chosen = (rng.random(tokens.shape) < rate) & ~is_special[tokens]
    fate = rng.random(tokens.shape)
    plain = np.flatnonzero(~is_special)
    inputs = np.where(chosen & (fate < mask), mask_id, tokens)
    swapped = chosen & (fate >= mask) & (fate < mask + random)
    inputs[swapped] = rng.choice(plain, size=int(swapped.sum()))
    return inputs, chosen


class MaskedLM:
    """<cls> A <sep>, or with ``next_sentence`` <cls> A <sep> B <sep>, with tokens hidden.

    Args:
        rate: share of the text to predict.
        mask, random: shares of those replaced by <mask>, by a random token.
        next_sentence: ask whether B follows A.
        wrong_pair: where it does not: "random", B is from another document (BERT); "swapped", A follows B (ALBERT).
    """

    way = None  # it fills

    def __init__(
        self,
        *,
        rate: float = 0.15,
        mask: float = 0.8,
        random: float = 0.1,
        next_sentence: bool = True,
        wrong_pair: str = "random",
        name: str = "masked_lm",
        needs: str = "fill",
    ) -> None:
        self.rate, self.mask, self.random = rate, mask, random
        self.next_sentence, self.name, self.needs = next_sentence, name, needs
        self.pair = {"random": pair, "swapped": ordered_pair}[wrong_pair]

    def __call__(self, rows: Rows, rng: np.random.Generator) -> Batch:
        """Raises UserError where ``next_sentence`` needs another document and there is none."""
        tokenizer = rows.tokenizer
        text = rows.tokens[:, :-1].astype(np.int64)
        source_tokens = text.size
        labels = None
        if self.next_sentence:
            text, cut, labels = self.pair(rows, rng)
            framed, segments = frame_pair(text, cut, cls=tokenizer.cls, sep=tokenizer.sep)
        else:
            framed = frame(text, cls=tokenizer.cls, sep=tokenizer.sep)
            segments = None
        inputs, chosen = mask_tokens(
            framed,
            tokenizer.is_special,
            tokenizer.mask,
            rng,
            rate=self.rate,
            mask=self.mask,
            random=self.random,
        )
        return Batch(
            inputs=inputs,
            labels=framed[chosen],
            where=np.flatnonzero(chosen),
            segments=segments,
            next_sentence=labels,
            source_tokens=source_tokens,
        )


def frame(text: np.ndarray, *, cls: int, sep: int) -> np.ndarray:
    """(B, n) -> <cls> text <sep>, (B, n + 2)."""
    ends = ((0, 0), (1, 1))
    return np.pad(text, ends, constant_values=((0, 0), (cls, sep)))


def frame_pair(text: np.ndarray, cut: np.ndarray, *, cls: int, sep: int) -> tuple[np.ndarray, np.ndarray]:
    """(B, n) with B starting at ``cut`` (B,) -> <cls> A <sep> B <sep> and its segments, both (B, n + 3)."""
    rows, n = text.shape
    slots = np.arange(n + 3)
    middle = cut[:, None] + 1  # the slot of the first <sep>
    source = np.where(slots <= middle, slots - 1, slots - 2).clip(0, n - 1)
    framed = np.take_along_axis(text, source, axis=1)
    framed[:, 0], framed[:, -1] = cls, sep
    framed[np.arange(rows), middle[:, 0]] = sep
    return framed, (slots > middle).astype(np.int64)
