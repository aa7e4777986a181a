"""Fill the answer in: an encoder that sees both ways, and as many masks after the source as an answer may be long.

Shapes: B examples, T tokens per row, U masks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from zoo.errors import UserError
from zoo.generation.fill import Blanks, fill_in_turns, fill_left_to_right, mask_predict
from zoo.generation.padding import padded
from zoo.models import Transformer
from zoo.tasks.layout import Layout
from zoo.tasks.task import Example, Prediction, Task
from zoo.tasks.wording import understood, worded


class Fill:
    """Text to text for an encoder: ``source answer <eos> <eos> ...``, of which a share drawn evenly between 0 and 1 is
    masked (Ghazvininejad et al. 2019, 3.2), so that it can be decoded all at once, in rounds, left to right or in
    random order."""

    needs, kinds = "fill", frozenset({"classify", "tag", "extract", "generate"})

    def __init__(self, task: Task, layout: Layout) -> None:
        self.kind, self.classes, self.layout = task.kind, task.classes, layout
        banned = torch.from_numpy(layout.tokenizer.is_special.copy())
        banned[layout.tokenizer.eos] = False
        self.banned = banned

    def head(self, d_model: int) -> None:
        return None

    def loss(
        self,
        model: Transformer,
        head: nn.Module | None,
        examples: Sequence[Example],
        rng: np.random.Generator,
    ) -> Tensor:
        tokenizer = self.layout.tokenizer
        device = model.embedding.tokens.weight.device
        sources = [source.tokens for source in self.layout.sources(examples)]
        answers = tokenizer.encode_batch([worded(self.kind, example) for example in examples])
        width = (
            self.layout.answer
        )  # as many masks as when answering: their number must not give the length away
        rows, where, labels = [], [], []
        longest = max(len(source) for source in sources) + width
        for row, (source, answer) in enumerate(zip(sources, answers, strict=True)):
            whole = np.array([*answer, *[tokenizer.eos] * width])[:width]
            hidden = rng.random(width) < rng.random()
            hidden[rng.integers(width)] = True
            rows.append([*source, *np.where(hidden, tokenizer.mask, whole).tolist()])
            where += (row * longest + len(source) + np.flatnonzero(hidden)).tolist()
            labels += whole[hidden].tolist()
        tokens, rule = padded(rows, tokenizer.pad, device)
        states = model(tokens, rule=rule).flatten(0, 1)
        picked = states.index_select(0, torch.tensor(where, device=device))
        return model.loss(picked, torch.tensor(labels, device=device)) / len(labels)

    def predict(
        self, model: Transformer, head: nn.Module | None, examples: Sequence[Example], **options: object
    ) -> list[Prediction]:
        tokenizer = self.layout.tokenizer
        device = model.embedding.tokens.weight.device
        width = self.layout.answer
        sources = [source.tokens for source in self.layout.sources(examples)]
        tokens, _ = padded([[*s, *[tokenizer.mask] * width] for s in sources], tokenizer.pad, device)
        blanks = Blanks(tokenizer.mask, tokenizer.pad, self.banned.to(device))
        filled = self._filled(model, tokens, blanks, options)
        found = []
        for example, source, row in zip(examples, sources, filled.tolist(), strict=True):
            said = row[len(source) : len(source) + width]
            said = said[: said.index(tokenizer.eos)] if tokenizer.eos in said else said
            found.append(understood(self.kind, self.classes, example, tokenizer.decode(said)))
        return found

    def _filled(
        self, model: Transformer, tokens: Tensor, blanks: Blanks, options: Mapping[str, object]
    ) -> Tensor:
        """The likeliest tokens for the masks of (B, T), in the order asked for."""
        order, iterations = options.get("order", "mask_predict"), int(options.get("iterations", 1))  # type: ignore[call-overload]
        if order == "mask_predict":
            return mask_predict(model, tokens, blanks, iterations=iterations)
        if order == "left_to_right":
            return fill_left_to_right(model, tokens, blanks)
        if order == "diffusion":
            # Drawn once for the places of an answer: it must not depend on the rows beside it.
            turns = np.random.default_rng(0).integers(iterations, size=self.layout.answer)
            place = (tokens == blanks.mask).cumsum(1).clamp(min=1) - 1
            return fill_in_turns(model, tokens, blanks, torch.from_numpy(turns).to(tokens.device)[place])
        raise UserError(f"order={order} fills no answer in; use mask_predict, left_to_right or diffusion")

    def options(self) -> list[dict[str, object]]:
        return [
            {"order": "mask_predict", "iterations": 10},
            {"order": "left_to_right"},
            {"order": "diffusion", "iterations": 64},
        ]
