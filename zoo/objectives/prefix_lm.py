"""Prefix language modelling: read the beginning of a text both ways, write the rest (Raffel et al. 2020, 3.2.1, 3.2.3).

Shapes: B rows, n source tokens per row, M positions in the loss.
"""

from __future__ import annotations

import numpy as np

from zoo.objectives.batch import Batch, Rows


class PrefixLM:
    """Rows of the packed stream, each split at a place of its own: what stands before is given, what follows is asked.

    A row and the token after it are n + 1 tokens; all n places that leave a token on either side are equally likely.
    """

    way = "on"  # see zoo.generation.asking

    def __init__(self, *, name: str = "prefix_lm", needs: str = "write") -> None:
        self.name, self.needs = name, needs

    def __call__(self, rows: Rows, rng: np.random.Generator) -> Batch:
        inputs, following = rows.tokens[:, :-1], rows.tokens[:, 1:]
        prefix = rng.integers(1, rows.length + 1, size=len(inputs))
        # The prefix's last position predicts the first token after it.
        asked = np.arange(rows.length) >= prefix[:, None] - 1
        return Batch(
            inputs=inputs,
            labels=following[asked],
            where=np.flatnonzero(asked),
            prefix=prefix,
            bos=rows.tokenizer.bos,
            source_tokens=inputs.size,
        )
