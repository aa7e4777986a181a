"""What a grid of runs found best on validation, for each architecture: rates, readings, ways of decoding."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml

from zoo.errors import UserError
from zoo.report.read import Run, find, read
from zoo.report.text import markdown_table

Choice = dict[str, Any]
HEAD = """# @package _global_
# Chosen on validation, once, by experiment=lr_grid and experiment=tuning_grid.
"""


def grid(places: Iterable[Path]) -> list[Run]:
    """The finished runs in ``places``.

    Raises:
        UserError: none is finished; one architecture is trained by several objectives.
    """
    runs = [run for run in map(read, find(places)) if run.status == "done"]
    if not runs:
        raise UserError("no run there is finished; python train.py -m experiment=lr_grid makes some")
    objectives: dict[str, set[str]] = defaultdict(set)
    for run in runs:
        objectives[run.config["arch"]["name"]].add(run.config["objective"]["name"])
    for arch, names in objectives.items():
        if len(names) > 1:
            raise UserError(
                f"runs of arch={arch} there are trained by {' and '.join(sorted(names))}, but a choice is for one "
                "objective; keep them in folders of their own"
            )
    return runs


def rates(runs: Sequence[Run]) -> dict[str, dict[float, float]]:
    """By architecture and peak rate of pre-training, the mean held-out loss over seeds."""
    found: dict[str, dict[float, list[float]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        loss = run.value(kind="pre-training", metric="loss")
        if loss is not None:
            found[run.config["arch"]["name"]][float(run.config["optim"]["lr"])].append(loss)
    return {
        arch: {lr: sum(losses) / len(losses) for lr, losses in sorted(own.items())}
        for arch, own in found.items()
    }


def tunings(runs: Sequence[Run]) -> dict[str, dict[str, list[Choice]]]:
    """By architecture and task, everything tried: {reading, lr, options, score}, best first; of equals the first tried.

    A trial's score is its best point's on the curve, the mean over seeds.
    """
    found: dict[str, dict[str, dict[str, list[Any]]]] = defaultdict(lambda: defaultdict(dict))
    for run in runs:
        if not run.config["tuning"]["rates"]:
            continue
        best: dict[tuple[str, str], tuple[float, Choice]] = {}
        for row in run.select(split="validation", headline=True):
            options = dict(row["options"])
            trial = {"reading": row["reading"], "lr": options.pop("lr"), "options": options}
            key = (row["task"], str(trial))
            if key not in best or row["value"] > best[key][0]:
                best[key] = row["value"], trial
        for (task, name), (score, trial) in best.items():
            found[run.config["arch"]["name"]][task].setdefault(name, [trial, []])[1].append(score)
    return {
        arch: {
            task: sorted(
                ({**trial, "score": sum(scores) / len(scores)} for trial, scores in trials.values()),
                key=lambda trial: -trial["score"],
            )
            for task, trials in tasks.items()
        }
        for arch, tasks in found.items()
    }


def files(runs: Sequence[Run]) -> dict[str, str]:
    """For each architecture a file as in conf/chosen."""
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    for arch, own in _several(rates(runs)).items():
        found[arch]["optim"] = {"lr": min(own, key=lambda lr: own[lr])}
    for arch, tasks in tunings(runs).items():
        chosen = {
            task: {k: v for k, v in trials[0].items() if k != "score"} for task, trials in tasks.items()
        }
        found[arch]["tuning"] = {"chosen": chosen}
    return {
        arch: HEAD + yaml.safe_dump(own, sort_keys=False, default_flow_style=None, width=120)
        for arch, own in sorted(found.items())
    }


def _several(found: dict[str, dict[float, float]]) -> dict[str, dict[float, float]]:
    """Those with a choice."""
    return {arch: own for arch, own in found.items() if len(own) > 1}


def table(runs: Sequence[Run]) -> str:
    """Everything that was tried, in Markdown; the best is bold."""
    parts: list[str] = []
    if tried := _several(rates(runs)):
        rows = [([arch], own, min(own.values())) for arch, own in sorted(tried.items())]
        parts += ["Held-out loss by the peak rate of pre-training:", _by_rate([""], rows)]
    for arch, tasks in sorted(tunings(runs).items()):
        rows = []
        for task, trials in tasks.items():
            ways: dict[tuple[str, str], dict[float, float]] = defaultdict(dict)
            for trial in trials:
                ways[trial["reading"], str(trial["options"] or "")][trial["lr"]] = trial["score"]
            rows += [
                ([task, " ".join(way).strip()], own, trials[0]["score"]) for way, own in sorted(ways.items())
            ]
        parts += [f"Validation score by rate of fine-tuning, {arch}:", _by_rate(["task", "reading"], rows)]
    return "\n\n".join(parts)


def _by_rate(head: list[str], rows: list[tuple[list[str], dict[float, float], float]]) -> str:
    """A column per rate; a row: what it is called, its value at each rate it was tried at, and the best of its kind."""
    every = sorted({lr for _, own, _ in rows for lr in own})
    cells = [[*name, *(_number(own.get(lr), best) for lr in every)] for name, own, best in rows]
    return markdown_table([*head, *(f"{lr:g}" for lr in every)], cells)


def _number(value: float | None, best: float) -> str:
    if value is None:
        return ""
    return f"**{value:.3f}**" if value == best else f"{value:.3f}"
