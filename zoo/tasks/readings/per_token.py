"""A label per token: outside, begins or inside an entity of a type (BIO; Ramshaw & Marcus 1995).

Shapes: B examples, T tokens, D model width.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from zoo.models import Transformer
from zoo.tasks.layout import Layout, Source
from zoo.tasks.readings.states import read
from zoo.tasks.task import Example, Prediction, Span, Task

_NOT_TEXT = -100  # special tokens, the query, padding


class PerToken:
    """Tagging with a linear head on each state."""

    needs, kinds = "states", frozenset({"tag"})

    def __init__(self, task: Task, layout: Layout) -> None:
        self.classes, self.layout = task.classes, layout

    def head(self, d_model: int) -> nn.Module:
        return nn.Linear(d_model, 1 + 2 * len(self.classes))

    def labels(self, example: Example, source: Source) -> list[int]:
        """0 outside; of class c, 1 + 2c where an entity begins and 2 + 2c inside it."""
        found = [0] * len(source.starts)
        for span in example.spans:
            begin = 1 + 2 * self.classes.index(span.label)
            touched = [
                i
                for i, (a, b) in enumerate(zip(source.starts, source.ends, strict=True))
                if a < span.end and b > span.start and _inside(example.text, a, b, span)
            ]
            for order, i in enumerate(touched):
                found[i] = begin + (order > 0)
        return found

    def spans(self, example: Example, source: Source, labels: list[int]) -> tuple[Span, ...]:
        """The entities that ``labels`` spell, without the spaces around them."""
        found: list[Span] = []
        open_at, kind = 0, -1
        for i, label in enumerate([*labels, 0]):
            if kind >= 0 and label != 2 + 2 * kind:
                found.append(_trimmed(example.text, open_at, source.ends[i - 1], self.classes[kind]))
                kind = -1
            if label and kind < 0:
                open_at, kind = source.starts[i], (label - 1) // 2
        return tuple(span for span in found if span.end > span.start)

    def loss(
        self,
        model: Transformer,
        head: nn.Module | None,
        examples: Sequence[Example],
        rng: np.random.Generator,
    ) -> Tensor:
        assert head is not None
        sources, states, _ = read(model, self.layout, examples)
        labels = torch.full(states.shape[:2], _NOT_TEXT)
        for row, (example, source) in enumerate(zip(examples, sources, strict=True)):
            at = source.text_at
            labels[row, at : at + len(source.starts)] = torch.tensor(self.labels(example, source))
        logits = head(states).float()
        return F.cross_entropy(
            logits.flatten(0, 1), labels.flatten().to(logits.device), ignore_index=_NOT_TEXT
        )

    def predict(
        self, model: Transformer, head: nn.Module | None, examples: Sequence[Example], **_: object
    ) -> list[Prediction]:
        assert head is not None
        sources, states, _rule = read(model, self.layout, examples)
        best = head(states).argmax(-1).tolist()
        return [
            self.spans(example, source, row[source.text_at : source.text_at + len(source.starts)])
            for example, source, row in zip(examples, sources, best, strict=True)
        ]

    def options(self) -> list[dict[str, object]]:
        return [{}]


def _inside(text: str, start: int, end: int, span: Span) -> bool:
    """Whether the token has more than the space before or after the entity."""
    return bool(text[max(start, span.start) : min(end, span.end)].strip())


def _trimmed(text: str, start: int, end: int, label: str) -> Span:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start, end, label)
