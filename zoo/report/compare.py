"""From run folders to one plain dict that holds all that the report says; every format is written from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from zoo.report import claims, groups, pictures, read, sections
from zoo.report.groups import Group
from zoo.report.measure import Measured
from zoo.report.read import Run


def compare(places: Sequence[Path], thresholds: Mapping[str, Any]) -> dict[str, Any]:
    """All results of the runs under ``places``.

    Args:
        thresholds: conf/compare.yaml as a dict.

    Raises:
        UserError: no run folder is there, or group_by or baseline name nothing.
    """
    runs = [read.read(folder) for folder in read.find(places)]
    group_by = thresholds["group_by"]
    sorted_ = groups.sort(
        runs,
        group_by,
        axes=thresholds["axes"],
        ignore=thresholds["ignore"],
        budget_key=thresholds["budget_key"],
        with_budget=thresholds["with_budget"],
        order=list(thresholds["documents"]),
    )
    measured = Measured(sorted_.groups, thresholds["least_scale"])
    thresholds = {**thresholds, "abilities": _suite(thresholds["abilities"], measured)}
    columns = _columns(sorted_.groups, thresholds) if group_by == "arch" else {}
    abilities = {
        name: _ability_tasks(measured, name, columns, thresholds) for name in thresholds["abilities"]
    }
    verdicts = claims.judge(
        claims.documents(measured, columns, thresholds) if columns else [], thresholds["alpha"]
    )
    report: dict[str, Any] = {
        "group_by": group_by,
        "baseline": thresholds["baseline"],
        "thresholds": {key: thresholds[key] for key in ("words", "margin", "alpha", "direction")},
        "places": [str(place) for place in places],
        "groups": [sections.group_of(group) for group in sorted_.groups],
        "columns": {name: group and group.label for name, group in columns.items()},
        "documents": thresholds["documents"] if columns else {},
        "abilities": {
            name: sections.words(measured, tasks, columns, thresholds["words"])
            for name, tasks in abilities.items()
        },
        "documents_metrics": {
            objective: [str(name) for rule in rules for name in rule.values()]
            for objective, rules in thresholds["pretraining"].items()
        },
        "claims": [sections.claim_of(verdict, columns) for verdict in verdicts],
        "applications": [sections.application(measured, task) for task in _order(measured, thresholds)],
        "readings": [
            row for task in _order(measured, thresholds) for row in sections.readings(sorted_.groups, task)
        ],
        "words": sections.budget_words(sorted_, measured, abilities, columns, thresholds),
        "pretraining": sections.metric_rows(sorted_.groups, "pre-training"),
        "direction": sections.metric_rows(sorted_.groups, "direction"),
        "currencies": sections.currencies(sorted_.groups),
        "direct": sections.metric_rows(sorted_.groups, "direct_writing"),
        "budgets": sections.budgets(sorted_.groups),
        "by_design": {
            key: {label: sections.say(value) for label, value in row.items()}
            for key, row in sorted_.by_design.items()
        },
        "curves": [pictures.curve(group) for group in sorted_.groups],
        "task_curves": [
            pictures.task_curve(sorted_.groups, task, measured) for task in _order(measured, thresholds)
        ],
        "maps": [pictures.maps(group) for group in sorted_.groups],
        "examples": pictures.examples(sorted_.groups, measured),
        "samples": [pictures.samples(group) for group in sorted_.groups],
        "runs": [_run(run, sorted_) for run in runs],
    }
    if thresholds["baseline"] is not None:
        first = groups.find(sorted_.groups, str(thresholds["baseline"]))
        report["differences"] = sections.differences(measured, first, _order(measured, thresholds))
    report["warnings"] = _warnings(runs, sorted_, measured)
    report["missing"] = _missing(runs, sorted_, report, thresholds)
    return report


def _columns(found: Sequence[Group], thresholds: Mapping[str, Any]) -> dict[str, Group | None]:
    """The group for each architecture of the documents: the one with the objective they give it, most seeds first."""
    columns: dict[str, Group | None] = {}
    for name, says in thresholds["documents"].items():
        own = [
            group
            for group in found
            if group.config.get("arch.name") == name
            and group.config.get("objective.name") == says["objective"]
        ]
        columns[name] = max(own, key=lambda group: len(group.runs), default=None)
    return columns


def _suite(suites: Mapping[str, Mapping[str, list[str]]], measured: Measured) -> Mapping[str, list[str]]:
    """The tasks of the suite of which most have been measured; the first where none has."""
    return max(
        suites.values(),
        key=lambda suite: sum(task in measured.kinds for tasks in suite.values() for task in tasks),
    )


def _ability_tasks(
    measured: Measured, name: str, columns: Mapping[str, Group | None], thresholds: Mapping[str, Any]
) -> list[str]:
    present = [group for group in columns.values() if group is not None] or list(measured.groups)
    tasks = measured.common(thresholds["abilities"][name], present)
    absent = [task for task in thresholds["abilities"][name] if task not in tasks]
    if absent and measured.kinds:
        measured.warnings.append(
            f"{name} is measured without {', '.join(absent)}: not every group has a result"
        )
    return tasks


def _order(measured: Measured, thresholds: Mapping[str, Any]) -> list[str]:
    known = [task for tasks in thresholds["abilities"].values() for task in tasks if task in measured.kinds]
    return known + sorted(set(measured.kinds) - set(known))


def _run(run: Run, sorted_: groups.Sorted) -> dict[str, Any]:
    label = next((group.label for group in sorted_.groups if run.name in group.names), None)
    other = next(
        (
            f"{group.label}, budget {budget}"
            for budget, found in sorted_.budgets.items()
            for group in found
            if run.name in group.names and label is None
        ),
        None,
    )
    return {
        "name": run.name,
        "path": str(run.folder),
        "status": run.status,
        "seed": run.seed,
        "group": label or other,
        "error": run.record.get("error"),
        "commit": run.record.get("git_commit"),
        "versions": run.record.get("versions") or {},
        "left_out": sorted_.left_out.get(run.name),
        "warnings": run.warnings,
    }


def _warnings(runs: Sequence[Run], sorted_: groups.Sorted, measured: Measured) -> list[str]:
    """All of them, each with the name of its run."""
    found = []
    for run in runs:
        if run.status != "done":
            error = f": {run.record['error']}" if run.record.get("error") else ""
            found.append(f"{run.name}: {run.status}{error}; no number of it is used")
        if run.name in sorted_.left_out:
            found.append(f"{run.name}: {sorted_.left_out[run.name]}; it is not compared")
        found += [f"{run.name}: {warning}" for warning in run.warnings]
    used = [run for group in sorted_.groups for run in group.runs.values()]
    for key, name in (("source", "source of the data"), ("corpus", "corpus"), ("vocabulary", "vocabulary")):
        values: dict[str, list[str]] = {}
        for run in used:
            values.setdefault(str(run.record.get(key)), []).append(run.name)
        if len(values) > 1:
            told = "; ".join(
                f"{value}: {', '.join(sorted(names))}" for value, names in sorted(values.items())
            )
            found.append(f"runs differ in the {name}: {told}")
    for package in sorted({package for run in used for package in run.record.get("versions") or {}}):
        versions = sorted({str((run.record.get("versions") or {}).get(package)) for run in used})
        if len(versions) > 1:
            found.append(f"runs differ in the version of {package}: {', '.join(versions)}")
    return found + measured.warnings


def _missing(
    runs: Sequence[Run], sorted_: groups.Sorted, report: Mapping[str, Any], thresholds: Mapping[str, Any]
) -> list[dict[str, str]]:
    """What there is no number for, and the command that makes it."""
    missing = []
    for run in runs:
        if run.status in ("failed", "interrupted", "running"):
            missing.append(
                {"what": f"{run.name} is {run.status}", "command": f"python train.py resume={run.folder}"}
            )
        elif run.status != "done" or run.warnings:
            missing.append(
                {
                    "what": f"{run.name} is damaged",
                    "command": f"python train.py resume={run.folder} fresh=true",
                }
            )
    axis = thresholds["group_by"]
    sweep = next((run.folder.parent.name for group in sorted_.groups for run in group.runs.values()), "table")
    seeds = sorted({seed for group in sorted_.groups for seed in group.runs}, key=str)
    for group in sorted_.groups:
        asked = group.label.replace(", ", " ")
        for seed in seeds:
            if seed not in group.runs:
                missing.append(
                    {
                        "what": f"{group.label}, seed {seed}: no finished run",
                        "command": f"python train.py {axis}={asked} seed={seed} name={sweep}",
                    }
                )
    table = "python train.py -m experiment=table"
    for name, label in report["columns"].items():
        if label is None:
            missing.append({"what": f"{name}: no finished run", "command": f"{table} arch={name}"})
    if len(seeds) == 1:
        missing.append({"what": "more than one seed: without them no claim is decided", "command": table})
    if report["columns"]:
        known = {row["task"] for row in report["applications"]}
        absent = [task for tasks in thresholds["abilities"].values() for task in tasks if task not in known]
        if absent:
            missing.append({"what": f"tasks: {', '.join(absent)}", "command": table})
        for key, name in (
            ("direction", "attention direction"),
            ("currencies", "cloze and continuation"),
            ("direct", "direct writing"),
        ):
            if not report[key]:
                missing.append({"what": name, "command": table})
        for row in report["words"]:
            if not all(row["abilities"].values()):
                updates = max(1, round(row["updates"]))
                key = thresholds["budget_key"]
                missing.append(
                    {
                        "what": f"words at {row['factor']:g} x the tuning budget ({updates} updates)",
                        "command": f"{table} {key}={updates}",
                    }
                )
    return missing
