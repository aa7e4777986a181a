"""The curves, maps and texts of the comparison as plain dicts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from zoo.report import sections
from zoo.report.groups import Group
from zoo.report.measure import Measured
from zoo.report.read import BOUNDS, Run
from zoo.report.statistics import over_seeds

SHOWN = 2  # examples of each generated task, and of each decoding


def curve(group: Group) -> dict[str, Any]:
    """Held-out loss by tokens seen, a line per run."""
    lines = []
    for seed, run in sorted(group.runs.items()):
        points = []
        for row in run.metrics:
            try:
                points.append([float(row["tokens_seen"]), float(row["val/loss"])])
            except (KeyError, TypeError, ValueError):
                continue  # a row of training
        if points:
            lines.append({"seed": seed, "run": run.name, "points": points})
    objective = group.config.get("objective.name", "")
    return {"label": group.label, "objective": objective, "lines": lines}


def task_curve(found: Sequence[Group], task: str, measured: Measured) -> dict[str, Any]:
    """Validation score by fine-tuning updates: at each point each run's best reading and options there."""
    metric = measured.scales[task].metric if task in measured.scales else None
    lines = []
    for group in found:
        points: dict[int, list[float]] = {}
        for _, run in sorted(group.runs.items()):
            best: dict[int, float] = {}
            for row in run.select(task=task, split="validation"):
                wanted = row["metric"] == metric if metric else row.get("headline")
                if wanted and row["reading"] not in BOUNDS and isinstance(row["updates"], int):
                    best[row["updates"]] = max(best.get(row["updates"], -math.inf), row["value"])
            for updates, value in best.items():
                points.setdefault(updates, []).append(value)
        lines.append(
            {
                "label": group.label,
                "points": [_point(updates, values) for updates, values in sorted(points.items())],
            }
        )
    return {"task": task, "metric": metric or "", "lines": lines}


def _point(updates: int, values: Sequence[float]) -> list[Any]:
    cell = sections.cell_of(over_seeds(values), [])
    return [updates, cell["value"], cell["low"], cell["high"]] if cell else [updates, None, None, None]


def maps(group: Group) -> dict[str, Any]:
    """Mean over seeds of the influence of input j on output i."""
    maps: dict[str, Any] = {}
    for stack in ("encoder", "decoder", "cross"):
        found = [run.direction[stack] for run in group.runs.values() if stack in run.direction]
        if found and len({matrix.shape for matrix in found}) == 1:
            maps[stack] = np.round(np.mean(found, axis=0), 6).tolist()
    return {"label": group.label, "maps": maps, "runs": group.names}


def examples(found: Sequence[Group], measured: Measured) -> list[dict[str, Any]]:
    """The first items of each generated task, as the first run of each group answered them."""
    shown: list[dict[str, Any]] = []
    for task, kind in measured.kinds.items():
        if kind != "generate":
            continue
        answers: dict[str, dict[str, Any]] = {}
        for group in found:
            for _, run in sorted(group.runs.items()):
                items = run.items.get((task, run.chosen(task) or ""))
                if items is None or "prediction" not in items.texts:
                    continue
                for i, name in enumerate(items.item[:SHOWN]):
                    entry = answers.setdefault(
                        str(name),
                        {
                            "task": task,
                            "item": str(name),
                            **{key: items.texts[key][i] for key in ("input", "answer") if key in items.texts},
                            "answers": {},
                        },
                    )
                    entry["answers"][group.label] = {
                        "text": items.texts["prediction"][i],
                        "score": None if math.isnan(items.score[i]) else float(items.score[i]),
                        "run": run.name,
                    }
                break
        shown += [answers[name] for name in sorted(answers)]
    return shown


def samples(group: Group) -> dict[str, Any]:
    """What the first run of the group wrote straight after pre-training."""
    for _, run in sorted(group.runs.items()):
        texts = [
            {key: str(row.get(key) or "") for key in ("decoding", "prompt", "text")}
            for row in shown_samples(run)
        ]
        if texts:
            return {"label": group.label, "run": run.name, "texts": texts}
    return {"label": group.label, "run": None, "texts": []}


def shown_samples(run: Run) -> list[dict[str, Any]]:
    """The first texts of each decoding, of the last update that wrote any."""
    good = [row for row in run.samples if isinstance(row, dict) and "text" in row]
    last = max((row.get("update") or 0 for row in good), default=0)
    by_decoding: dict[str, list[dict[str, Any]]] = {}
    for row in good:
        if (row.get("update") or 0) == last:
            by_decoding.setdefault(str(row.get("decoding") or ""), []).append(row)
    return [row for rows in by_decoding.values() for row in rows[:SHOWN]]
