"""Fine-tune a model on a task by one reading: the protocol, the same for every architecture.

Same examples in the same order, same number of updates; measured on validation at a few points; the best of these is
what is tested, once.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import nn

from zoo.models import Transformer
from zoo.models.evaluating import evaluating
from zoo.tasks.readings import Reading
from zoo.tasks.task import Example, Prediction, Task


@dataclass
class Point:
    """A measured point of the curve: ``scores`` are means over the validation items."""

    updates: int
    options: dict[str, object]
    scores: dict[str, float]


@dataclass
class Tuned:
    """What came of it; ``model`` and ``head`` are those of the best point."""

    model: Transformer
    head: nn.Module | None
    best: Point
    curve: list[Point] = field(default_factory=list)


def tune(
    model: Transformer,
    task: Task,
    reading: Reading,
    train: Sequence[Example],
    validation: Sequence[Example],
    *,
    updates: int,
    batch_size: int,
    lr: float,
    weight_decay: float,
    warmup: float,
    clip: float,
    measure: Sequence[float],
    seed: int,
) -> Tuned:
    """A fine-tuned copy of ``model``.

    The learning rate rises and then stays, so that every point of the curve is what a run of that length would give.

    Args:
        measure: where to measure, as shares of ``updates``.
    """
    model = copy.deepcopy(model)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        head = reading.head(model.embedding.tokens.embedding_dim)
    if head is not None:
        head.to(model.embedding.tokens.weight.device)
    parameters = [*model.parameters(), *(head.parameters() if head is not None else ())]
    groups = [
        {"params": [p for p in parameters if p.dim() >= 2], "weight_decay": weight_decay},
        {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=lr, betas=(0.9, 0.98), fused=True)
    ramp = max(1, int(warmup * updates))
    points = sorted({max(1, round(share * updates)) for share in measure})
    first, *others = reading.options()  # the others are tried where the first one is best
    curve: list[Point] = []
    best: tuple[Point, dict, dict | None] | None = None
    model.train()
    for update, batch in enumerate(_batches(train, batch_size, updates, seed), start=1):
        for group in optimizer.param_groups:
            group["lr"] = lr * min(1.0, update / ramp)
        loss = reading.loss(model, head, batch, np.random.default_rng((seed, 3, update)))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, clip)
        optimizer.step()
        optimizer.zero_grad()
        if update in points:
            point = _point(model, head, task, reading, validation, update, batch_size, first)
            curve.append(point)
            if best is None or point.scores[task.metric] > best[0].scores[task.metric]:
                best = point, _state(model), _state(head) if head is not None else None
    assert best is not None
    model.load_state_dict(best[1])
    if head is not None and best[2] is not None:
        head.load_state_dict(best[2])
    chosen = best[0]
    for options in others:
        point = _point(model, head, task, reading, validation, chosen.updates, batch_size, options)
        curve.append(point)
        chosen = max(chosen, point, key=lambda p: p.scores[task.metric])
    return Tuned(model.eval(), head, chosen, curve)


def answer(tuned: Tuned, reading: Reading, examples: Sequence[Example], batch_size: int) -> list[Prediction]:
    """The best point's answers."""
    return _predictions(tuned.model, tuned.head, reading, examples, batch_size, tuned.best.options)


def mean_scores(
    task: Task, examples: Sequence[Example], predictions: Sequence[Prediction]
) -> dict[str, float]:
    """Means over the items that have something to score."""
    return {name: float(np.nanmean(values)) for name, values in task.scores(examples, predictions).items()}


def _point(
    model: Transformer,
    head: nn.Module | None,
    task: Task,
    reading: Reading,
    examples: Sequence[Example],
    update: int,
    batch_size: int,
    options: dict[str, object],
) -> Point:
    predictions = _predictions(model, head, reading, examples, batch_size, options)
    return Point(update, options, mean_scores(task, examples, predictions))


def _predictions(
    model: Transformer,
    head: nn.Module | None,
    reading: Reading,
    examples: Sequence[Example],
    batch_size: int,
    options: dict[str, object],
) -> list[Prediction]:
    """In the order of ``examples``; read in the order of their length, so that little is padding."""
    order = sorted(range(len(examples)), key=lambda i: len(examples[i].text) + len(examples[i].query))
    found: dict[int, Prediction] = {}
    with evaluating(model):
        for low in range(0, len(order), 2 * batch_size):
            chosen = order[low : low + 2 * batch_size]
            answers = reading.predict(model, head, [examples[i] for i in chosen], **options)
            found.update(zip(chosen, answers, strict=True))
    return [found[i] for i in range(len(examples))]


def _batches(
    examples: Sequence[Example], batch_size: int, updates: int, seed: int
) -> Iterator[list[Example]]:
    """Epoch after epoch in another order; the same for every architecture and reading."""
    order: list[int] = []
    epoch = 0
    for _ in range(updates):
        while len(order) < batch_size:
            order += np.random.default_rng((seed, 4, epoch)).permutation(len(examples)).tolist()
            epoch += 1
        yield [examples[i] for i in order[:batch_size]]
        order = order[batch_size:]


def _state(module: nn.Module) -> dict[str, Any]:
    return {name: value.detach().clone() for name, value in module.state_dict().items()}
