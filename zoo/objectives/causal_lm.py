"""Causal language modelling: every token from those before it (Radford et al. 2018)."""

from __future__ import annotations

import numpy as np

from zoo.objectives.batch import Batch, Rows


class CausalLM:
    """Rows of the packed stream; the label of each token is the next.

    ``documents``: whether a token sees only its own document.
    """

    way = "on"  # see zoo.generation.asking

    def __init__(self, *, documents: bool = False, name: str = "causal_lm", needs: str = "write") -> None:
        self.documents, self.name, self.needs = documents, name, needs

    def __call__(self, rows: Rows, rng: np.random.Generator) -> Batch:
        """No noise: ``rng`` is not used."""
        slots = rows.starts[:, None] + np.arange(rows.length)
        return Batch(
            inputs=rows.tokens[:, :-1],
            labels=rows.tokens[:, 1:].reshape(-1),
            documents=rows.stream.document_of(slots) if self.documents else None,
            source_tokens=rows.tokens[:, 1:].size,
        )
