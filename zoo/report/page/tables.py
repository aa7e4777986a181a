"""Scores by task, reading and budget, and what the runs have cost."""

from __future__ import annotations

from zoo.report.names import called
from zoo.report.page.html import Report, bar, esc, figure, group_index, group_names, table, tr
from zoo.report.text import number, task_name

_NO_SIGNAL = "No signal: nothing that is compared is above the baseline by its interval."


def applications(report: Report) -> str:
    if not report["applications"]:
        return ""
    labels = [group["label"] for group in report["groups"]]
    rows = []
    for row in report["applications"]:
        known = [cell["value"] for cell in row["cells"].values() if cell]
        cells = []
        for label in labels:
            cell = row["cells"][label]
            best = bool(cell) and cell["value"] == max(known)
            raw = row["raw"][label]
            note = f"<small>{esc(called(row['metric']))} {number(raw['value'])}</small>" if raw else ""
            cells.append(
                f'<div class="{"best" if best else ""}">{figure(cell, label)}'
                f"{bar(cell, group_index(report, label))}{note}</div>"
            )
        scale = (
            f"{number(row['baseline'])} … {number(row['oracle'])}"
            if row["baseline"] is not None
            else "no scale"
        )
        rows.append(
            tr(
                f"{esc(task_name(row))}<br><small>{esc(row['kind'])}, {row['items']} items</small>",
                [*cells, f"<small>{esc(called(row['metric']))}</small><br>{scale}"],
            )
        )
    return (
        "<p>Each by its reading chosen on validation. The score runs from the computed baseline (0) to the oracle (1), "
        "and so does the line under it. Items that only later context settles are not among these."
        + ("" if all(row["signal"] for row in report["applications"]) else f" {_NO_SIGNAL}")
        + "</p>"
        + table("Applications by architecture", ["task", *group_names(report), "baseline … oracle"], rows)
    )


def differences(report: Report) -> str:
    if "differences" not in report:
        return ""
    labels = [
        label
        for label in (group["label"] for group in report["groups"])
        if any(label in row["cells"] for row in report["differences"])
    ]
    rows = [
        tr(esc(row["task"]), [figure(row["cells"].get(label), label) for label in labels])
        for row in report["differences"]
    ]
    return "<p>Items paired within seeds.</p>" + table(
        "Differences", ["", *group_names(report, labels)], rows
    )


def marked(report: Report) -> str:
    labels = [group["label"] for group in report["groups"]]
    rows = [
        tr(
            esc(row["task"]),
            [
                figure(row["marked"][label], label) + bar(row["marked"][label], group_index(report, label))
                for label in labels
            ],
        )
        for row in report["applications"]
        if any(row["marked"].values())
    ]
    note = "<p>The planted part of these tasks, in the task's own metric. It is in no score above.</p>"
    return note + table("Marked items", ["task", *group_names(report)], rows) if rows else ""


def readings(report: Report) -> str:
    labels = [group["label"] for group in report["groups"]]
    rows = []
    for row in report["readings"]:
        cells = []
        for label in labels:
            cell = row["cells"][label]
            chosen = (
                f'<br><span class="tag reproduced">chosen {cell["chosen"]}/{cell["of"]}</span>'
                if cell and cell["chosen"]
                else ""
            )
            options = f"<br><small>{esc(cell['options'])}</small>" if cell and cell["options"] else ""
            cells.append(figure(cell, label) + options + chosen)
        rows.append(tr(esc(row["task"]), [esc(called(row["reading"])), *cells]))
    note = "<p>What each way of asking gives, in the task's own metric. The best on validation is used above.</p>"
    return note + table("Readings", ["task", "reading", *group_names(report)], rows) if rows else ""


def budget_words(report: Report) -> str:
    rows = []
    for row in report["words"]:
        for ability, cells in row["abilities"].items():
            told = []
            for name in report["columns"]:
                cell = cells.get(name)
                told.append(
                    f"<b>{esc(cell['word'] or '—')}</b> {figure(cell, report['columns'][name] or '')}"
                    if cell
                    else '<span class="note">not measured</span>'
                )
            rows.append(
                tr(
                    f"{row['factor']:g} × budget<br><small>{row['updates']:g} updates</small>",
                    [esc(ability), *told],
                )
            )
    if not rows:
        return ""
    note = "<p>On validation, each task by its best reading so far; over seeds only.</p>"
    return note + table(
        "Words by budget", ["budget", "ability", *group_names(report, list(report["columns"]))], rows
    )


def measures(report: Report, key: str, note: str) -> str:
    labels = [group["label"] for group in report["groups"]]
    rows = [
        tr(
            esc(called(row["task"])),
            [
                esc(called(row["metric"])),
                *(figure(row["cells"].get(label), label) for label in labels),
            ],
        )
        for row in report[key]
    ]
    return (
        f"<p>{esc(note)}</p>" + table(called(key), ["", "metric", *group_names(report)], rows) if rows else ""
    )


def budgets(report: Report) -> str:
    labels = [group["label"] for group in report["groups"]]
    rows = []
    for row in report["budgets"]:
        cells = []
        for label in labels:
            cell = row["cells"][label]
            varies = cell and cell["low"] != cell["high"]
            cells.append(figure(cell and {**cell, **({} if varies else {"low": None})}, label))
        ratio = f"{row['ratio']:.2f}" if row["ratio"] else "—"
        unequal = f"<b>{ratio}</b>" if row["ratio"] and row["ratio"] > 1.01 else ratio
        rows.append(tr(esc(row["quantity"]), [*cells, unequal]))
    if not any(any(row["cells"].values()) for row in report["budgets"]):
        return ""
    out = (
        "<p>Means over runs, in brackets the range. The ratio of largest to smallest is bold above 1.01.</p>"
    )
    out += table("Budgets", ["", *group_names(report), "largest / smallest"], rows)
    keys = [
        tr(f"<code>{esc(key)}</code>", [esc(row[label]) for label in labels])
        for key, row in report["by_design"].items()
    ]
    if keys:
        out += "<h3>Configuration keys that differ by design</h3>" + table(
            "Differing keys", ["key", *group_names(report)], keys
        )
    return out
