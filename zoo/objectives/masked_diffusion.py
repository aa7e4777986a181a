"""Masked diffusion: masked LM at every rate between 0 and 1, weighted so that its loss bounds a likelihood.

The control for masked LM (Sahoo et al. 2024, MDLM; Nie et al. 2025, LLaDA): the same encoder, but able to write from
nothing but masks, as it has seen every share of them.

The bound.  A row of n text tokens x, of which each is masked with probability t, has

    -log p(x)  <=  E over t in (0, 1) of  1/t  x  sum over masked i of  -log p(x_i | what is not masked)

(MDLM, equation 10; LLaDA, equation 3).  The number of masks under a uniform t is itself uniform, and all that t still
tells is this number.  So it is drawn at once: l from 1 to n, then l of the n tokens, each with the weight n / l.
The expectation is the same, exactly; no row is ever without a mask; no weight is above n, where 1/t has no bound; and
each row's weights add up to n, so that the loss is still a sum over tokens divided by their number.  LLaDA evaluates
with this estimator (Nie et al. 2025, 2.4); here it trains as well, so that training and held-out loss are the same
quantity: at most so many nats per text token of a row, where documents end being given.  (GPT's loss is exact, of
all tokens but a row's first, those that end documents included.)

Shapes: B rows, T inputs per row, n text tokens in a row.
"""

from __future__ import annotations

import numpy as np

from zoo.objectives.batch import Batch, Rows
from zoo.objectives.masked_lm import frame


def masked_at_every_rate(
    tokens: np.ndarray, is_special: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """What to mask.  ``tokens`` (B, T), ``is_special`` (V,) bool -> chosen (B, T) bool, weights (B,).

    Each row's rate t is uniform, and the batch's are spread evenly, one in each B-th of (0, 1) (MDLM's low-discrepancy
    sampler); l is t n rounded up.  A row of nothing but special tokens has no masks.
    """
    rows = len(tokens)
    is_text = ~is_special[tokens]
    n = is_text.sum(1)
    t = (rng.permutation(rows) + rng.random()) / rows
    masks = np.minimum((t * n).astype(np.int64) + 1, n)
    order = np.where(is_text, rng.random(tokens.shape), 1.0).argsort(1).argsort(1)
    return order < masks[:, None], n / np.maximum(masks, 1)


class MaskedDiffusion:
    """<cls> text <sep>, of which a share drawn evenly between 0 and 1 is <mask>, never anything else."""

    way = None  # it fills

    def __init__(self, *, name: str = "masked_diffusion", needs: str = "fill") -> None:
        self.name, self.needs = name, needs

    def __call__(self, rows: Rows, rng: np.random.Generator) -> Batch:
        tokenizer = rows.tokenizer
        text = rows.tokens[:, :-1].astype(np.int64)
        framed = frame(text, cls=tokenizer.cls, sep=tokenizer.sep)
        chosen, weights = masked_at_every_rate(framed, tokenizer.is_special, rng)
        return Batch(
            inputs=np.where(chosen, tokenizer.mask, framed),
            labels=framed[chosen],
            where=np.flatnonzero(chosen),
            weights=np.repeat(weights, chosen.sum(1)),
            source_tokens=text.size,
        )
