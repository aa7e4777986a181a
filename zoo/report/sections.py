"""The tables of the comparison as plain dicts: numbers with their intervals and the runs they come from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from zoo.report import claims, groups
from zoo.report.groups import Group
from zoo.report.measure import Measured, Scale, at_budget, per_seed
from zoo.report.read import CURRENCIES, Run
from zoo.report.statistics import Mean, Term, combine, over_seeds

BUDGET = {
    "parameters": "parameters",
    "parameters_without_embedding": "parameters without embedding",
    "flops_per_token": "training FLOPs per token",
    "tokens_seen": "source tokens seen",
    "tokens_in_loss": "tokens in the loss",
    "updates": "updates",
    "training_seconds": "seconds of pre-training",
    "session_seconds": "seconds of the last session, tasks included",
}


def cell_of(mean: Mean | None, runs: Sequence[str]) -> dict[str, Any] | None:
    """A number with its interval and the runs that it comes from; the interval is null where nothing gives one."""
    if mean is None:
        return None
    low, high = mean.interval()
    finite = math.isfinite(low)
    return {
        "value": mean.value,
        "low": low if finite else None,
        "high": high if finite else None,
        "seeds": mean.seeds,
        "runs": list(runs),
    }


def group_of(group: Group) -> dict[str, Any]:
    return {
        "label": group.label,
        "arch": group.config.get("arch.name", ""),
        "seeds": sorted(group.runs),
        "runs": group.names,
    }


def words(
    measured: Measured, tasks: Sequence[str], columns: Mapping[str, Group | None], words: Mapping[str, float]
) -> dict[str, Any]:
    """Each architecture's mean score, its ratio to the best of them, and the word for it; and the controls', beside."""
    present = {name: group for name, group in columns.items() if group is not None}
    own = {group.label for group in present.values()}
    controls = {group.label: group for group in measured.groups if group.label not in own}
    means = {
        name: mean
        for name, group in (present | controls).items()
        if (mean := measured.ability(tasks, (1.0, group))) is not None
    }
    cells: dict[str, Any] = {}
    best = max(present.keys() & means.keys(), key=lambda name: (means[name].value, name), default="")
    for name, mean in means.items() if best else ():
        group = (present | controls)[name]
        seeds = set.intersection(*(set(measured.items(group, task)) for task in tasks))
        cell = cell_of(mean, [group.runs[seed].name for seed in sorted(seeds)]) or {}
        cells[name] = {**cell, "ratio": None, "word": None}
        if means[best].value > 0:
            ratio = mean.value / means[best].value
            rest = measured.ability(tasks, (1.0, group), (-ratio, present[best]))
            half = rest.half() / means[best].value if rest else math.inf
            cells[name] |= {"ratio": ratio, "word": word(ratio, words)}
            if math.isfinite(half):
                cells[name] |= {"ratio_low": ratio - half, "ratio_high": ratio + half}
    return {
        "tasks": tasks,
        "cells": {name: cell for name, cell in cells.items() if name in present},
        "controls": {name: cell for name, cell in cells.items() if name in controls},
    }


def word(ratio: float, words: Mapping[str, float]) -> str:
    """strong, medium or weak."""
    return next((name for name, least in words.items() if ratio >= least), "weak")


def claim_of(verdict: claims.Verdict, columns: Mapping[str, Group | None]) -> dict[str, Any]:
    tight, claim = verdict.tight, verdict.claim
    used = [claim.architecture] if claim.row in ("direction", "objective") else list(columns)
    runs = [name for one in used if (group := columns[one]) for name in group.names]
    return {
        "architecture": claim.architecture,
        "row": claim.row,
        "says": claim.says,
        "task": claim.task,
        "verdict": verdict.word,
        "p": verdict.p,
        "why": verdict.why,
        "margin": tight and {"what": tight.what, **(cell_of(tight.mean, runs) or {})},
    }


def application(measured: Measured, task: str) -> dict[str, Any]:
    scale = measured.scales.get(task)
    cells = {
        group.label: cell_of(measured.score((1.0, group, task)), _names(measured, group, task))
        for group in measured.groups
    }
    lows = [cell["low"] for cell in cells.values() if cell and cell["low"] is not None]
    return {
        "task": task,
        "signal": not lows or max(lows) > 0,  # whether any group is above the baseline, by its interval
        "kind": measured.kinds[task],
        "metric": scale.metric if scale else "",
        "baseline": scale and scale.baseline,
        "oracle": scale and scale.oracle,
        "cells": cells,
        "raw": {
            group.label: cell_of(measured.raw(group, task), _names(measured, group, task))
            for group in measured.groups
        },
        "marked": {
            group.label: cell_of(measured.raw(group, task, marked=True), _names(measured, group, task))
            for group in measured.groups
        },
        "items": max(
            (len(items.item) for group in measured.groups for items in measured.items(group, task).values()),
            default=0,
        ),
    }


def _names(measured: Measured, group: Group, task: str) -> list[str]:
    return [group.runs[seed].name for seed in measured.items(group, task)]


def readings(found: Sequence[Group], task: str) -> list[dict[str, Any]]:
    """Each reading's own score, and in how many runs it was the chosen one."""
    names = sorted(
        {
            reading
            for group in found
            for run in group.runs.values()
            for other, reading in run.items
            if other == task
        }
    )
    rows = []
    for reading in names:
        cells: dict[str, Any] = {}
        for group in found:
            items = {
                seed: run.items[task, reading].part(False)
                for seed, run in sorted(group.runs.items())
                if (task, reading) in run.items
            }
            items = {seed: one for seed, one in items.items() if len(one.item)}
            cell = cell_of(combine([Term(1.0, items)]), [group.runs[seed].name for seed in items])
            chosen = sum(group.runs[seed].chosen(task) == reading for seed in items)
            options = {
                ", ".join(f"{key}={say(value)}" for key, value in sorted((row.get("options") or {}).items()))
                for seed in items
                for row in group.runs[seed].select(task=task, reading=reading, split="test", headline=True)
            }
            told = options.pop() if len(options) == 1 else "options differ between runs" if options else ""
            cells[group.label] = cell and {**cell, "chosen": chosen, "of": len(group.runs), "options": told}
        rows.append({"task": task, "reading": reading, "cells": cells})
    return rows


def metric_rows(found: Sequence[Group], kind: str) -> list[dict[str, Any]]:
    """Rows of one value per run, over seeds."""
    keys: dict[tuple[str, str], None] = {}
    for group in found:
        for run in group.runs.values():
            for row in run.select(kind=kind):
                keys.setdefault((row["task"], row["metric"]))
    rows = []
    for task, metric in keys:
        cells = {}
        for group in found:
            mean = per_seed(group, lambda run, t=task, m=metric: run.value(kind=kind, task=t, metric=m))  # type: ignore[misc]
            cells[group.label] = cell_of(mean, group.names)
        rows.append({"task": task, "metric": metric, "cells": cells})
    return rows


def currencies(found: Sequence[Group]) -> list[dict[str, Any]]:
    """Cloze and continuation; where there are items, the interval is over stories too."""
    rows = []
    for kind in CURRENCIES:
        for row in metric_rows(found, kind):
            if (
                row["metric"] == "accuracy"
                and any((kind, "direct") in run.items for group in found for run in group.runs.values())
                and row["task"] == kind
            ):
                for group in found:
                    items = {
                        seed: one
                        for seed, run in sorted(group.runs.items())
                        for (task, _), one in run.items.items()
                        if task == kind
                    }
                    row["cells"][group.label] = cell_of(
                        combine([Term(1.0, items)]), [group.runs[seed].name for seed in items]
                    )
            rows.append({**row, "task": kind if row["task"] == kind else f"{kind}, {row['task']}"})
    return rows


def budgets(found: Sequence[Group]) -> list[dict[str, Any]]:
    rows = []
    for key, name in BUDGET.items():
        cells: dict[str, Any] = {}
        for group in found:
            values = [one for run in group.runs.values() if (one := _budget(run, key)) is not None]
            cells[group.label] = (
                {
                    "value": sum(values) / len(values),
                    "low": min(values),
                    "high": max(values),
                    "runs": group.names,
                }
                if values
                else None
            )
        known = [cell["value"] for cell in cells.values() if cell]
        ratio = max(known) / min(known) if known and min(known) > 0 else None
        rows.append({"quantity": name, "cells": cells, "ratio": ratio})
    return rows


def _budget(run: Run, key: str) -> float | None:
    for part in ("budget", "timings"):
        value = (run.record.get(part) or {}).get(key)
        if isinstance(value, int | float) and math.isfinite(value):
            return float(value)
    return None


def differences(measured: Measured, first: Group, tasks: Sequence[str]) -> list[dict[str, Any]]:
    """Each group minus ``first``, items paired within seeds."""
    rows = []
    for task in tasks:
        cells = {}
        for group in measured.groups:
            if group is not first:
                terms = [Term(1.0, measured.items(group, task)), Term(-1.0, measured.items(first, task))]
                cells[group.label] = cell_of(
                    combine(terms), [*_names(measured, group, task), *_names(measured, first, task)]
                )
        rows.append({"task": task, "cells": cells})
    for metric in metric_rows(measured.groups, "pre-training"):
        cells = {}
        for group in measured.groups:
            if group is first:
                continue
            seeds = [seed for seed in sorted(group.runs) if seed in first.runs]
            pairs = [
                (group.runs[seed].value(**_which(metric)), first.runs[seed].value(**_which(metric)))
                for seed in seeds
            ]
            values = [one - two for one, two in pairs if one is not None and two is not None]
            cells[group.label] = cell_of(over_seeds(values), [*group.names, *first.names])
        if any(cells.values()):
            rows.append({"task": f"{metric['task']} {metric['metric']}", "cells": cells})
    return rows


def _which(metric: Mapping[str, Any]) -> dict[str, Any]:
    return {"kind": "pre-training", "task": metric["task"], "metric": metric["metric"]}


def budget_words(
    sorted_: groups.Sorted,
    measured: Measured,
    abilities: Mapping[str, Sequence[str]],
    columns: Mapping[str, Group | None],
    thresholds: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """The words at multiples of the tuning budget, on validation; nothing where nobody measured there."""
    labels = {name: group.label for name, group in columns.items() if group is not None}
    if not labels or not isinstance(sorted_.budget, int | float):
        return []
    rows = []
    for factor in thresholds["budgets"]:
        updates = factor * sorted_.budget
        row: dict[str, Any] = {"factor": factor, "updates": updates, "abilities": {}}
        for ability, tasks in abilities.items():
            cells = _reached(sorted_, labels, tasks, updates, measured.scales) if tasks else {}
            best = max((cell["value"] for cell in cells.values()), default=0.0)
            for cell in cells.values():
                cell["ratio"] = cell["value"] / best if best > 0 else None
                cell["word"] = word(cell["ratio"], thresholds["words"]) if best > 0 else None
            row["abilities"][ability] = cells
        rows.append(row)
    return rows


def _reached(
    sorted_: groups.Sorted,
    labels: Mapping[str, str],
    tasks: Sequence[str],
    updates: float,
    scales: Mapping[str, Scale],
) -> dict[str, dict[str, Any]]:
    """From the runs whose own budget is nearest to ``updates`` among those that went so far."""
    budgets = [budget for budget in sorted_.budgets if isinstance(budget, int | float)]
    for budget in sorted(budgets, key=lambda budget: (abs(budget - updates), budget)):
        by_label = {group.label: group for group in sorted_.budgets[budget]}
        if set(labels.values()) <= by_label.keys():
            columns = {name: by_label[label] for name, label in labels.items()}
            means = at_budget(columns, tasks, updates, scales) or {}
            cells = {name: cell_of(mean, columns[name].names) or {} for name, mean in means.items()}
            if cells:
                return cells
    return {}


def say(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
