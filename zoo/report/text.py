"""The comparison as Markdown, as CSV, as JSON, and in the terminal."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from zoo.report.names import called

ROWS = {
    "direction": "attention direction",
    "objective": "pre-training task",
    "generation": "generation ability",
    "understanding": "understanding ability",
    "applications": "typical applications",
}
MARKS = {"reproduced": "✓", "not reproduced": "✗", "undecided": "?"}


def number(value: float | None) -> str:
    """Three decimals, or a count with thousands separated."""
    if value is None:
        return "—"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    # "-0.000" is 0.000
    return f"{value + 0.0:.3f}".replace("-0.000", "0.000") if abs(value) < 100 else f"{value:.1f}"


def interval(cell: Mapping[str, Any] | None) -> str:
    """``0.812 [0.790, 0.834]``."""
    if cell is None:
        return "—"
    if cell.get("low") is None or cell["low"] == cell["high"]:
        return number(cell["value"])
    return f"{number(cell['value'])} [{number(cell['low'])}, {number(cell['high'])}]"


def p_value(p: float | None) -> str:
    return "—" if p is None else ("< 0.001" if p < 0.001 else f"{p:.3f}")


def documents_said(report: Mapping[str, Any], row: str, name: str) -> str:
    """The cell of the documents' table."""
    says = report["documents"][name][row]
    if row == "direction":
        return ", ".join(f"{stack} {way.replace('_', ' ')}" for stack, way in says.items())
    return ", ".join(says) if row == "applications" else called(says)


def measured(report: Mapping[str, Any], row: str, name: str) -> list[tuple[str, Mapping[str, Any]]]:
    """The measured cell: what, and the number, line by line."""
    label, says = report["columns"][name], report["documents"][name][row]
    if label is None:
        return []
    if row == "direction":
        found = [
            (f"{one['task']} {called(one['metric'])}", one)
            for one in report["direction"]
            if one["task"] in says
        ]
        return [
            (what, one["cells"][label])
            for what, one in found
            if one["cells"][label] and one["metric"] != "diagonal"
        ]
    if row == "objective":
        return [
            (called(one["metric"]), one["cells"][label])
            for one in report["pretraining"]
            if one["cells"][label] and one["metric"] in report["documents_metrics"][says]
        ]
    if row == "applications":
        known = {one["task"]: one["cells"][label] for one in report["applications"]}
        return [(task, known[task]) for task in says if known.get(task)]
    cell = report["abilities"][row]["cells"].get(name)
    return [(cell["word"] or "—", cell)] if cell else []


def measured_lines(report: Mapping[str, Any], row: str, name: str) -> list[str]:
    """The same as text, each claim's mark with it."""
    claims = verdicts(report, row, name)
    lines = [f"{what} {interval(cell)}" for what, cell in measured(report, row, name)] or ["not measured"]
    if row == "applications":
        marks = {claim["task"]: MARKS[claim["verdict"]] for claim in claims}
        return [
            f"{marks[what]} {line}"
            for (what, _), line in zip(measured(report, row, name), lines, strict=False)
        ] or lines
    return lines + [f"{MARKS[claim['verdict']]} {claim['verdict']}" for claim in claims]


def verdicts(report: Mapping[str, Any], row: str, name: str) -> list[Mapping[str, Any]]:
    return [claim for claim in report["claims"] if claim["row"] == row and claim["architecture"] == name]


def markdown(report: Mapping[str, Any], date: str) -> str:
    """All tables, in the order of the page."""
    labels = [group["label"] for group in report["groups"]]
    parts = [f"# Comparison by {report['group_by']}", f"{date}. {_seeds(report)}"]
    if report["warnings"]:
        parts += ["## Warnings", "\n".join(f"- {warning}" for warning in report["warnings"])]
    if report["columns"]:
        columns = list(report["columns"])
        parts += ["## The documents' table and the measured one"]
        rows = []
        for row, name in ROWS.items():
            rows.append([f"{name} (documents)", *(documents_said(report, row, column) for column in columns)])
            found = ["<br>".join(measured_lines(report, row, column)) for column in columns]
            rows.append([f"{name} (measured)", *found])
        parts += [
            markdown_table(["", *columns], rows),
            "✓ reproduced, ✗ not reproduced, ? undecided; a mark per claim.",
        ]
        parts += [
            "## Claims",
            markdown_table(["claim", "verdict", "margin", "adjusted p"], claims_table(report)),
        ]
    controls = {name: one["controls"] for name, one in report["abilities"].items() if one["controls"]}
    if report["columns"] and controls:
        labelled = list(dict.fromkeys(label for cells in controls.values() for label in cells))
        rows = [[label, *(word_cell(cells.get(label)) for cells in controls.values())] for label in labelled]
        parts += ["## Controls: against the best of the three", markdown_table(["group", *controls], rows)]
    if report["applications"]:
        parts += ["## Applications: score from the computed baseline (0) to the oracle (1)"]
        parts += [markdown_table(["task", "metric", *labels], _applications(report, labels))]
    if "differences" in report:
        parts += [f"## Difference from {report['baseline']}, paired"]
        others = [label for label in labels if any(label in row["cells"] for row in report["differences"])]
        parts += [markdown_table(["", *others], _cells(report["differences"], others))]
    marked = [
        {"task": row["task"], "cells": row["marked"]}
        for row in report["applications"]
        if any(row["marked"].values())
    ]
    if marked:
        parts += [
            "## The part that only later context settles (in no score above)",
            markdown_table(["task", *labels], _cells(marked, labels)),
        ]
    if report["readings"]:
        parts += [
            "## Readings: the headline metric by each; chosen on validation in so many runs",
            markdown_table(["task", "reading", *labels], _readings(report, labels)),
        ]
    if report["words"]:
        parts += [
            "## Words by fine-tuning budget (validation)",
            markdown_table(["budget", "ability", *report["columns"]], _words(report)),
        ]
    for title, key in (
        ("Pre-training", "pretraining"),
        ("Attention direction", "direction"),
        ("Without fine-tuning", "currencies"),
        ("Direct writing", "direct"),
    ):
        if report[key]:
            rows = [
                [row["task"], row["metric"], *(interval(row["cells"].get(label)) for label in labels)]
                for row in report[key]
            ]
            parts += [f"## {title}", markdown_table(["", "metric", *labels], rows)]
    rows = [
        [
            row["quantity"],
            *(number(row["cells"][label] and row["cells"][label]["value"]) for label in labels),
            number(row["ratio"]),
        ]
        for row in report["budgets"]
    ]
    parts += ["## Budgets", markdown_table(["", *labels, "largest / smallest"], rows)]
    if report["by_design"]:
        rows = [
            [f"`{key}`", *(str(row[label]) for label in labels)] for key, row in report["by_design"].items()
        ]
        parts += ["## What differs by design", markdown_table(["key", *labels], rows)]
    rows = [
        [run["name"], run["status"], run["group"] or "—", str(run["seed"]), run["left_out"] or ""]
        for run in report["runs"]
    ]
    parts += ["## Runs", markdown_table(["run", "status", "group", "seed", "left out because it"], rows)]
    if report["missing"]:
        parts += [
            "## What is missing",
            "\n".join(f"- {row['what']}: `{row['command']}`" for row in report["missing"]),
        ]
    return "\n\n".join(parts) + "\n"


def _seeds(report: Mapping[str, Any]) -> str:
    told = [f"{group['label']} ({len(group['seeds'])})" for group in report["groups"]]
    return f"Groups, with the number of seeds: {', '.join(told) or 'none'}. Brackets hold 95 % intervals."


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """One row per line, bars in cells escaped."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in line) + " |"
        for line in lines
    )


def claims_table(report: Mapping[str, Any]) -> list[list[str]]:
    """What is claimed, the verdict, the margin with its interval, Holm's p."""
    rows = []
    for claim in report["claims"]:
        margin = claim["margin"]
        told = f"{margin['what']}: {interval(margin)}" if margin else "—"
        verdict = claim["verdict"] + (f" ({claim['why']})" if claim["why"] else "")
        name = f"{claim['architecture']}, {ROWS[claim['row']]}: {claim['says']}"
        rows.append([name, f"{MARKS[claim['verdict']]} {verdict}", told, p_value(claim["p"])])
    return rows


def task_name(application: Mapping[str, Any]) -> str:
    """The task, and whether nothing that is compared is above its baseline."""
    return application["task"] if application["signal"] else f"{application['task']} (no signal)"


def _applications(report: Mapping[str, Any], labels: Sequence[str]) -> list[list[str]]:
    return [
        [task_name(row), row["metric"], *(interval(row["cells"][label]) for label in labels)]
        for row in report["applications"]
    ]


def _cells(rows: Iterable[Mapping[str, Any]], labels: Sequence[str]) -> list[list[str]]:
    return [[row["task"], *(interval(row["cells"].get(label)) for label in labels)] for row in rows]


def _readings(report: Mapping[str, Any], labels: Sequence[str]) -> list[list[str]]:
    return [
        [row["task"], row["reading"], *(reading(row["cells"][label]) for label in labels)]
        for row in report["readings"]
    ]


def reading(cell: Mapping[str, Any] | None) -> str:
    return (
        "—"
        if cell is None
        else interval(cell) + (f" chosen {cell['chosen']}/{cell['of']}" if cell["chosen"] else "")
    )


def _words(report: Mapping[str, Any]) -> list[list[str]]:
    rows = []
    for row in report["words"]:
        for ability, cells in row["abilities"].items():
            told = [word_cell(cells.get(name)) for name in report["columns"]]
            rows.append([f"{row['factor']:g} x ({row['updates']:g} updates)", ability, *told])
    return rows


def word_cell(cell: Mapping[str, Any] | None) -> str:
    return "not measured" if not cell else f"{cell['word'] or '—'} {interval(cell)}"


def as_json(report: Mapping[str, Any], date: str) -> str:
    return json.dumps({"date": date, **report}, indent=1, ensure_ascii=False, default=str) + "\n"


def as_csv(report: Mapping[str, Any]) -> str:
    """A line per number: section, row, metric, group, value, low, high, seeds, runs."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["section", "row", "metric", "group", "value", "low", "high", "seeds", "runs"])
    sections = {
        "score": [(row["task"], "score", row["cells"]) for row in report["applications"]],
        "raw": [(row["task"], row["metric"], row["raw"]) for row in report["applications"]],
        "marked": [(row["task"], row["metric"], row["marked"]) for row in report["applications"]],
        "reading": [(row["task"], row["reading"], row["cells"]) for row in report["readings"]],
        "ability": [(name, "score", ability["cells"]) for name, ability in report["abilities"].items()],
        "difference": [(row["task"], "difference", row["cells"]) for row in report.get("differences", [])],
        **{
            key: [(row["task"], row["metric"], row["cells"]) for row in report[key]]
            for key in ("pretraining", "direction", "currencies", "direct")
        },
        "budget": [(row["quantity"], "", row["cells"]) for row in report["budgets"]],
    }
    for section, rows in sections.items():
        for row, metric, cells in rows:
            for label, cell in cells.items():
                if cell:
                    values = [cell["value"], cell.get("low"), cell.get("high"), cell.get("seeds")]
                    writer.writerow([section, row, metric, label, *values, " ".join(cell["runs"])])
    return file.getvalue()


def show(report: Mapping[str, Any]) -> None:
    """The table and the claims, in the terminal."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console()
    labels = [group["label"] for group in report["groups"]]
    if report["columns"]:
        table = Table(title="The documents' table, measured (95 % intervals)", show_lines=True)
        for column in ("", *report["columns"]):
            table.add_column(called(column))
        for row, name in ROWS.items():
            cells = []
            for column in report["columns"]:
                lines = [f"[dim]{escape(documents_said(report, row, column))}[/dim]"]
                lines += [_coloured(escape(line)) for line in measured_lines(report, row, column)]
                cells.append("\n".join(lines))
            table.add_row(name, *cells)
        console.print(table)
    table = Table(title="Applications: from the baseline (0) to the oracle (1)")
    for column in ("task", "metric", *labels):
        table.add_column(column)
    for line in _applications(report, labels):
        table.add_row(*map(escape, line))
    if report["applications"]:
        console.print(table)
    if "differences" in report:
        table = Table(title=f"Difference from {report['baseline']}, paired")
        others = [label for label in labels if any(label in row["cells"] for row in report["differences"])]
        for column in ("", *others):
            table.add_column(column)
        for line in _cells(report["differences"], others):
            table.add_row(*map(escape, line))
        console.print(table)
    for warning in report["warnings"]:
        console.print(f"[yellow]warning:[/yellow] {escape(warning)}", soft_wrap=True, highlight=False)
    for row in report["missing"]:
        console.print(
            f"[dim]missing:[/dim] {escape(row['what'])}: {escape(row['command'])}",
            soft_wrap=True,
            highlight=False,
        )


def _coloured(line: str) -> str:
    colour = {"✓": "green", "✗": "red", "?": "yellow"}.get(line[:1])
    return f"[{colour}]{line[0]}[/{colour}]{line[1:]}" if colour else line
