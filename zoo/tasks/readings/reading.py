"""What a reading is.  Shapes: B examples, T tokens per row, D model width, C classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from torch import Tensor, nn

from zoo.models import Transformer
from zoo.tasks.task import Example, Prediction


class Reading(Protocol):
    """Made for one task and tokenizer; ``head`` is what it adds to a model, if anything."""

    needs: str  # a capability of the model: states | write | fill
    kinds: frozenset[str]  # of tasks that it can do

    def head(self, d_model: int) -> nn.Module | None: ...

    def loss(
        self,
        model: Transformer,
        head: nn.Module | None,
        examples: Sequence[Example],
        rng: np.random.Generator,
    ) -> Tensor:
        """The mean over everything in ``examples`` that the loss counts; ``rng`` for noise."""
        ...

    def predict(
        self, model: Transformer, head: nn.Module | None, examples: Sequence[Example], **options: object
    ) -> list[Prediction]:
        """Answers; ``options`` are of decoding."""
        ...

    def options(self) -> list[dict[str, object]]:
        """The small set of ways to decode, of which validation chooses one; the first is measured along the way."""
        ...
