"""The answer's first and last token (Devlin et al. 2019, 4.2).  Shapes: B examples, T tokens, D model width."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from zoo.models import Transformer
from zoo.tasks.layout import Layout, Source
from zoo.tasks.readings.states import read
from zoo.tasks.task import Example, Prediction, Task

_LONGEST = 30  # tokens of an answer


class SpanEnds:
    """Extraction with two scores per token, answer's start and end."""

    needs, kinds = "states", frozenset({"extract"})

    def __init__(self, task: Task, layout: Layout) -> None:
        self.layout = layout

    def head(self, d_model: int) -> nn.Module:
        return nn.Linear(d_model, 2)

    def _scores(
        self, model: Transformer, head: nn.Module | None, examples: Sequence[Example]
    ) -> tuple[list[Source], Tensor]:
        """The sources, and (B, T, 2) with -inf where there is no text."""
        assert head is not None
        sources, states, _ = read(model, self.layout, examples)
        outside = torch.ones(states.shape[:2], dtype=torch.bool)
        for row, source in enumerate(sources):
            outside[row, source.text_at : source.text_at + len(source.starts)] = False
        return sources, head(states).float().masked_fill(outside[..., None].to(states.device), -torch.inf)

    def loss(
        self,
        model: Transformer,
        head: nn.Module | None,
        examples: Sequence[Example],
        rng: np.random.Generator,
    ) -> Tensor:
        sources, scores = self._scores(model, head, examples)
        places = torch.tensor([_place(e, s) for e, s in zip(examples, sources, strict=True)])
        told = places[:, 0] >= 0  # an answer that was cut off cannot be pointed at
        if not bool(told.any()):
            return scores.nan_to_num(neginf=0.0).sum() * 0.0
        scores, places = scores[told.to(scores.device)], places[told].to(scores.device)
        return (
            F.cross_entropy(scores[..., 0], places[:, 0]) + F.cross_entropy(scores[..., 1], places[:, 1])
        ) / 2

    def predict(
        self, model: Transformer, head: nn.Module | None, examples: Sequence[Example], **_: object
    ) -> list[Prediction]:
        sources, scores = self._scores(model, head, examples)
        pairs = scores[..., 0, None] + scores[:, None, :, 1]  # (B, start, end)
        width = scores.shape[1]
        allowed = torch.ones(width, width, dtype=torch.bool, device=scores.device).triu().tril(_LONGEST - 1)
        best = pairs.masked_fill(~allowed, -torch.inf).flatten(1).argmax(1).tolist()
        found: list[Prediction] = []
        for example, source, place in zip(examples, sources, best, strict=True):
            first, last = (i - source.text_at for i in divmod(place, width))
            inside = 0 <= first <= last < len(source.starts)
            found.append(example.text[source.starts[first] : source.ends[last]].strip() if inside else "")
        return found

    def options(self) -> list[dict[str, object]]:
        return [{}]


def _place(example: Example, source: Source) -> tuple[int, int]:
    """The answer's first and last token in the row; (-1, -1) where the text was cut before it."""
    span = example.spans[0]
    touched = [
        i
        for i, (start, end) in enumerate(zip(source.starts, source.ends, strict=True))
        if example.text[max(start, span.start) : min(end, span.end)].strip()
    ]
    whole = bool(touched) and source.ends[touched[-1]] >= span.end
    return (source.text_at + touched[0], source.text_at + touched[-1]) if whole else (-1, -1)
