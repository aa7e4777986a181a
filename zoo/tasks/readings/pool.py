"""Pool the states into one vector, and classify it.  Shapes: B examples, T tokens, D model width, C classes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from zoo.models import Transformer
from zoo.tasks.layout import Layout
from zoo.tasks.readings.states import read
from zoo.tasks.task import Example, Prediction, Task


class AttentivePooling(nn.Module):
    """One learned query attends to all states: it can become the mean, the first or the last of them, so that no
    architecture is given the token that suits another.  Beside it the largest value of each feature (as in Conneau et
    al. 2017): whether something is anywhere in the text, which a mean over many tokens hides."""

    def __init__(self, *, d_model: int, classes: int) -> None:
        super().__init__()
        self.query = nn.Linear(d_model, 1, bias=False)
        self.output = nn.Linear(2 * d_model, classes)
        nn.init.zeros_(self.query.weight)  # at first the mean

    def forward(self, states: Tensor, real: Tensor) -> Tensor:
        """(B, T, D), (B, T) bool -> (B, C)."""
        scores = self.query(states).squeeze(-1).masked_fill(~real, -torch.inf)
        mean = (scores.softmax(-1)[:, None] @ states).squeeze(1)
        largest = states.masked_fill(~real[..., None], -torch.inf).amax(1)
        return self.output(torch.cat((mean, largest), -1))


class Pool:
    """Classification from a pooled vector."""

    needs, kinds = "states", frozenset({"classify"})

    def __init__(self, task: Task, layout: Layout) -> None:
        self.classes, self.layout = task.classes, layout
        self.index = {name: i for i, name in enumerate(task.classes)}

    def head(self, d_model: int) -> nn.Module:
        return AttentivePooling(d_model=d_model, classes=len(self.classes))

    def _logits(self, model: Transformer, head: nn.Module | None, examples: Sequence[Example]) -> Tensor:
        assert head is not None
        sources, states, _ = read(model, self.layout, examples)
        lengths = torch.tensor([len(source.tokens) for source in sources], device=states.device)
        real = torch.arange(states.shape[1], device=states.device) < lengths[:, None]
        return head(states, real)

    def loss(
        self,
        model: Transformer,
        head: nn.Module | None,
        examples: Sequence[Example],
        rng: np.random.Generator,
    ) -> Tensor:
        logits = self._logits(model, head, examples)
        labels = torch.tensor([self.index[e.answers[0]] for e in examples], device=logits.device)
        return F.cross_entropy(logits.float(), labels)

    def predict(
        self, model: Transformer, head: nn.Module | None, examples: Sequence[Example], **_: object
    ) -> list[Prediction]:
        return [self.classes[i] for i in self._logits(model, head, examples).argmax(-1).tolist()]

    def options(self) -> list[dict[str, object]]:
        return [{}]
