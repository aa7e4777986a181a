"""What the runs of a group score: means over seeds and items, on the scale from the baseline (0) to the oracle (1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from zoo.report.groups import Group
from zoo.report.read import BOUNDS, TASK_KINDS, Items, Run
from zoo.report.statistics import Mean, Term, combine, over_seeds


@dataclass(frozen=True)
class Scale:
    """A task's headline metric, its computed baseline and its oracle."""

    metric: str
    baseline: float
    oracle: float

    @property
    def width(self) -> float:
        return self.oracle - self.baseline


class Measured:
    """Scores of groups. Everything that had to be left out is in ``warnings``.

    Args:
        least: the least distance between baseline and oracle that makes a scale.
    """

    def __init__(self, groups: Sequence[Group], least: float) -> None:
        self.groups = groups
        self.warnings: list[str] = []
        self.kinds = self._kinds()
        self._items = {
            (group.label, task): self._chosen(group, task) for group in groups for task in self.kinds
        }
        self.scales: dict[str, Scale] = {}
        for task in self.kinds:
            self._same_items(task)
            scale = self._scale(task)
            if scale and scale.width < least:
                self.warnings.append(
                    f"{task}: baseline {scale.baseline:.3f} and oracle {scale.oracle:.3f} leave no scale to measure on"
                )
            elif scale:
                self.scales[task] = scale

    def items(self, group: Group, task: str, *, marked: bool = False) -> dict[int, Items]:
        """By seed: the test items as the chosen reading answered them; the marked ones or the others."""
        kept = {seed: items.part(marked) for seed, items in self._items[group.label, task].items()}
        return {seed: items for seed, items in kept.items() if len(items.item)}

    def raw(self, group: Group, task: str, *, marked: bool = False) -> Mean | None:
        """The mean of the headline metric."""
        return combine([Term(1.0, self.items(group, task, marked=marked))])

    def score(self, *parts: tuple[float, Group, str]) -> Mean | None:
        """The sum of weight x score over (weight, group, task), the score from the baseline (0) to the oracle (1)."""
        if any(task not in self.scales for _, _, task in parts):
            return None
        terms = [
            Term(weight / self.scales[task].width, self.items(group, task)) for weight, group, task in parts
        ]
        constant = -sum(
            weight * self.scales[task].baseline / self.scales[task].width for weight, _, task in parts
        )
        return combine(terms, constant)

    def ability(self, tasks: Sequence[str], *parts: tuple[float, Group]) -> Mean | None:
        """The sum of weight x mean score over the tasks."""
        if not tasks:
            return None
        return self.score(*((weight / len(tasks), group, task) for weight, group in parts for task in tasks))

    def common(self, tasks: Sequence[str], groups: Sequence[Group]) -> list[str]:
        """The tasks that have a scale and a score in all groups."""
        return [
            task for task in tasks if task in self.scales and all(self.items(group, task) for group in groups)
        ]

    def _kinds(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for run in self._runs():
            for row in run.rows:
                if row["kind"] in TASK_KINDS:
                    found.setdefault(row["task"], row["kind"])
        return found

    def _runs(self) -> list[Run]:
        return [run for group in self.groups for _, run in sorted(group.runs.items())]

    def _scale(self, task: str) -> Scale | None:
        """What most runs say; a run that says otherwise is left out of this task."""
        bounds: dict[tuple[Any, ...], list[Run]] = {}
        for run in self._runs():
            rows = [
                next(iter(run.select(task=task, reading=bound, split="test", headline=True)), None)
                for bound in BOUNDS
            ]
            if all(rows):
                values = [round(row["value"], 6) for row in rows if row]
                bounds.setdefault((rows[0] and rows[0]["metric"], *values), []).append(run)
        if not bounds:
            self.warnings.append(
                f"{task}: no run has both a baseline and an oracle (split test): no score from 0 to 1"
            )
            return None
        most = max(bounds, key=lambda values: len(bounds[values]))
        if 2 * len(bounds[most]) <= sum(map(len, bounds.values())):
            told = "; ".join(
                f"{values} in {', '.join(run.name for run in runs)}" for values, runs in bounds.items()
            )
            self.warnings.append(
                f"{task}: runs have different metrics, baselines or oracles: {told}: no score"
            )
            return None
        good = {run.name for run in bounds[most]}
        for group in self.groups:
            for seed in list(self._items[group.label, task]):
                if group.runs[seed].name not in good:
                    self.warnings.append(
                        f"{group.runs[seed].name}: {task} has another metric, baseline or oracle than most runs have"
                        " and is not compared"
                    )
                    del self._items[group.label, task][seed]
        return Scale(*most)

    def _chosen(self, group: Group, task: str) -> dict[int, Items]:
        found = {}
        for seed, run in sorted(group.runs.items()):
            reading = run.chosen(task)
            if reading is None:
                self.warnings.append(f"{run.name}: {task} has no test result of a chosen reading")
            elif (task, reading) not in run.items:
                self.warnings.append(
                    f"{run.name}: {task} by {reading}, the chosen reading, has no usable predictions"
                )
            else:
                found[seed] = run.items[task, reading]
                if found[seed].marked.all():
                    self.warnings.append(f"{run.name}: {task} has marked items only: no score of it")
        return found

    def _same_items(self, task: str) -> None:
        """Runs that were asked other items cannot be paired: those unlike most are left out, by name."""
        asked: dict[tuple[str, ...], list[tuple[str, int]]] = {}
        for group in self.groups:
            for seed, items in self._items[group.label, task].items():
                asked.setdefault(tuple(items.item), []).append((group.label, seed))
        most = max(asked, key=lambda names: len(asked[names]), default=())
        for names, runs in asked.items():
            if names == most:
                continue
            for label, seed in runs:
                group = next(group for group in self.groups if group.label == label)
                extra = len(set(names) ^ set(most))
                self.warnings.append(
                    f"{group.runs[seed].name}: {task} was tested on other items ({extra} differ) and is not compared"
                )
                del self._items[label, task][seed]


def per_seed(group: Group, value: Callable[[Run], float | None]) -> Mean | None:
    """The mean over the group's runs of one value each; runs without it do not count."""
    values = [value(run) for _, run in sorted(group.runs.items())]
    return over_seeds([one for one in values if one is not None])


def at_budget(
    groups: Mapping[str, Group], tasks: Sequence[str], updates: float, scales: Mapping[str, Scale]
) -> dict[str, Mean] | None:
    """The groups' mean validation scores after ``updates`` fine-tuning updates, each task by its best reading so far;
    tasks of a kind that is tuned for longer, after so many times more.

    None where not every group has been measured on every task at ``updates`` (or within 1 % of it).
    """
    found = {}
    for label, group in groups.items():
        means = [
            score
            for _, run in sorted(group.runs.items())
            if (score := _validation(run, tasks, updates, scales)) is not None
        ]
        mean = over_seeds(means)
        if mean is None:
            return None
        found[label] = mean
    return found or None


def _validation(run: Run, tasks: Sequence[str], updates: float, scales: Mapping[str, Scale]) -> float | None:
    scores, tuning = [], run.config.get("tuning")
    longer = (tuning.get("longer") if isinstance(tuning, dict) else None) or {}
    for task in tasks:
        points = [
            row
            for row in run.select(task=task, metric=scales[task].metric, split="validation")
            if row["reading"] not in BOUNDS and isinstance(row["updates"], int)
        ]
        due = updates * max((longer.get(row["kind"], 1) for row in points), default=1)
        reached = [row["value"] for row in points if row["updates"] <= due * 1.01]
        if not reached or max(row["updates"] for row in points) < due * 0.99:
            return None
        scores.append((max(reached) - scales[task].baseline) / scales[task].width)
    return sum(scores) / len(scores) if scores else None
