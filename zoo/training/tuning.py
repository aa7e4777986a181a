"""Fine-tune a model on a task by one reading: the protocol, the same for every architecture.

Same examples in the same order, same number of updates; measured on validation at a few points; the best of these is
what is tested, once.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel

from zoo.models import Transformer
from zoo.models.evaluating import evaluating
from zoo.tasks.readings import Reading
from zoo.tasks.task import Example, Prediction, Task
from zoo.training.optimisation import adamw, schedule

Options = dict[str, object]

_TOGETHER = 10  # batches that are sorted by length together


@dataclass
class Point:
    """A measured point of the curve: ``scores`` are means over the validation items."""

    updates: int
    options: Options
    scores: dict[str, float]


@dataclass
class Tuned:
    """What came of it; ``model`` and ``head`` are those of the best point."""

    model: Transformer
    head: nn.Module | None
    best: Point
    curve: list[Point] = field(default_factory=list)


class _Learner(nn.Module):
    """A model, and what a reading adds to it."""

    def __init__(self, model: Transformer, head: nn.Module | None) -> None:
        super().__init__()
        self.model, self.head = model, head


def tune(
    model: Transformer,
    task: Task,
    reading: Reading,
    train: Sequence[Example],
    validation: Sequence[Example],
    *,
    updates: int,
    batch_size: int,
    measure: Sequence[float],
    average: float,
    optim: dict[str, Any],
    seed: int,
    options: Options | None = None,
) -> Tuned:
    """A fine-tuned copy of ``model``.

    Args:
        measure: where to measure, as shares of ``updates``.
        average: what is measured has the mean of the weights over about this share of the updates so far (Polyak
            averaging, with exponentially fading weights).  With a rate that stays, every point of the curve is
            then what a run of that length gives, as good as if its rate had been lowered at its end.
        optim: the keys of ``conf/optim``.
        options: how to decode; None: the reading's first way along the curve, the others where that one is best.
    """
    model = copy.deepcopy(model)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        head = reading.head(model.d_model)
    learner = _Learner(model, head).to(model.embedding.tokens.weight.device).train()
    averaged = AveragedModel(learner, multi_avg_fn=_fading(average))
    kept = cast(_Learner, averaged.module)
    optimizer = adamw(learner, optim)
    rate = schedule(optimizer, optim, updates)
    points = sorted({max(1, round(share * updates)) for share in measure})
    first, *others = reading.options() if options is None else [options]
    curve: list[Point] = []
    best: tuple[Point, dict[str, Tensor]] | None = None
    for update, batch in enumerate(_batches(train, batch_size, updates, seed), start=1):
        loss = reading.loss(model, learner.head, batch, np.random.default_rng((seed, 3, update)))
        loss.backward()
        if optim["clip"]:
            nn.utils.clip_grad_norm_(learner.parameters(), optim["clip"])
        optimizer.step()
        optimizer.zero_grad()
        rate.step()
        averaged.update_parameters(learner)
        if update in points:
            point = _point(kept, task, reading, validation, update, batch_size, first)
            curve.append(point)
            if best is None or point.scores[task.metric] > best[0].scores[task.metric]:
                best = point, {k: v.detach().clone() for k, v in kept.state_dict().items()}
    assert best is not None
    kept.load_state_dict(best[1])
    chosen = best[0]
    for other in others:
        point = _point(kept, task, reading, validation, chosen.updates, batch_size, other)
        curve.append(point)
        chosen = max(chosen, point, key=lambda p: p.scores[task.metric])
    return Tuned(kept.model.eval(), kept.head, chosen, curve)


def _fading(share: float) -> Any:
    """For ``AveragedModel``: the newest weights count one part in ``share`` of the updates so far."""

    @torch.no_grad()
    def step(kept: list[Tensor], new: list[Tensor], before: Tensor | int) -> None:
        torch._foreach_lerp_(kept, new, 1 / max(1.0, share * (int(before) + 1)))

    return step


def answer(tuned: Tuned, reading: Reading, examples: Sequence[Example], batch_size: int) -> list[Prediction]:
    """The best point's answers."""
    return _predictions(tuned.model, tuned.head, reading, examples, batch_size, tuned.best.options)


def mean_scores(
    task: Task, examples: Sequence[Example], predictions: Sequence[Prediction]
) -> dict[str, float]:
    """Means over the items that have something to score."""
    return {name: float(np.nanmean(values)) for name, values in task.scores(examples, predictions).items()}


def _point(
    learner: _Learner,
    task: Task,
    reading: Reading,
    examples: Sequence[Example],
    update: int,
    batch_size: int,
    options: Options,
) -> Point:
    predictions = _predictions(learner.model, learner.head, reading, examples, batch_size, options)
    return Point(update, options, mean_scores(task, examples, predictions))


def _predictions(
    model: Transformer,
    head: nn.Module | None,
    reading: Reading,
    examples: Sequence[Example],
    batch_size: int,
    options: Options,
) -> list[Prediction]:
    """In the order of ``examples``; read in the order of their length, so that little is padding."""
    order = sorted(range(len(examples)), key=lambda i: _length(examples[i]))
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
    """Epoch after epoch in another order; the same for every architecture and reading.

    Some batches at a time are drawn, sorted by length and dealt in a drawn order, so that little is padding.
    """
    order: list[int] = []
    epoch = done = 0
    while done < updates:
        while len(order) < _TOGETHER * batch_size:
            order += np.random.default_rng((seed, 4, epoch)).permutation(len(examples)).tolist()
            epoch += 1
        drawn, order = order[: _TOGETHER * batch_size], order[_TOGETHER * batch_size :]
        drawn.sort(key=lambda i: _length(examples[i]))
        for place in np.random.default_rng((seed, 5, done)).permutation(_TOGETHER)[: updates - done]:
            yield [examples[i] for i in drawn[place * batch_size : (place + 1) * batch_size]]
            done += 1


def _length(example: Example) -> int:
    return len(example.text) + len(example.query)
