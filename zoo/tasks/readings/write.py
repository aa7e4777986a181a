"""Write the answer, left to right, after all has been read.  Shapes: B examples, T tokens per row, U of an answer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from zoo.generation.padding import padded
from zoo.generation.write import write
from zoo.models import Transformer
from zoo.tasks.layout import Layout
from zoo.tasks.task import Example, Prediction, Task
from zoo.tasks.wording import understood, worded


class Write:
    """Every kind of task as text to text (Raffel et al. 2020): a decoder goes on after the source, an encoder-decoder
    reads it and writes.  The loss is on the answer and the <eos> after it."""

    needs, kinds = "write", frozenset({"classify", "tag", "extract", "generate"})

    def __init__(self, task: Task, layout: Layout) -> None:
        self.kind, self.classes, self.layout = task.kind, task.classes, layout

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
        answers = [
            [*row, tokenizer.eos]
            for row in tokenizer.encode_batch([worded(self.kind, example) for example in examples])
        ]
        labels = torch.tensor([token for answer in answers for token in answer], device=device)
        if model.encoder is None:
            read = [[*source, *answer[:-1]] for source, answer in zip(sources, answers, strict=True)]
            # Padding is to the right of all that counts: no rule is needed.
            tokens, _ = padded(read, tokenizer.pad, device)
            given = [len(source) for source in sources]
            states = model(tokens, prefix=torch.tensor(given, device=device))
            offsets = [length - 1 for length in given]
        else:
            tokens, rule = padded(sources, tokenizer.pad, device)
            begun, _ = padded([[tokenizer.bos, *answer[:-1]] for answer in answers], tokenizer.pad, device)
            states = model(tokens, begun, rule=rule, memory_rule=rule)
            offsets = [0] * len(sources)
        where = torch.tensor(
            [
                row * states.shape[1] + offset + i
                for row, (offset, answer) in enumerate(zip(offsets, answers, strict=True))
                for i in range(len(answer))
            ],
            device=device,
        )
        return model.loss(states.flatten(0, 1).index_select(0, where), labels) / len(labels)

    def predict(
        self, model: Transformer, head: nn.Module | None, examples: Sequence[Example], **_: object
    ) -> list[Prediction]:
        tokenizer = self.layout.tokenizer
        rows = write(
            model,
            [source.tokens for source in self.layout.sources(examples)],
            max_new_tokens=self.layout.answer,
            stop=[tokenizer.eos],
            pad=tokenizer.pad,
            bos=tokenizer.bos,
        )
        return [
            understood(self.kind, self.classes, example, tokenizer.decode(row))
            for example, row in zip(examples, rows, strict=True)
        ]

    def options(self) -> list[dict[str, object]]:
        return [{}]
