"""Where every number comes from, and what is missing."""

from __future__ import annotations

import os
from pathlib import Path

from zoo.report.page.html import Report, esc, slug, table, tr


def runs(report: Report, out: Path) -> str:
    rows = []
    seen: set[str] = set()
    for run in sorted(report["runs"], key=lambda run: (str(run["group"]), str(run["seed"]), run["name"])):
        # The first run of a group is where the group's numbers lead.
        name = slug(run["group"]) if run["group"] and slug(run["group"]) not in seen else ""
        seen.add(name)
        link = f'<a href="{esc(os.path.relpath(run["path"], out))}">{esc(run["name"])}</a>'
        notes = [
            *([f"left out: {run['left_out']}"] if run["left_out"] else []),
            *([run["error"]] if run["error"] else []),
            *run["warnings"],
        ]
        word = {"done": "reproduced", "running": "undecided", "interrupted": "undecided"}.get(
            run["status"], "not-reproduced"
        )
        status = f'<span class="tag {word}">{esc(run["status"])}</span>'
        rows.append(
            tr(
                link,
                [
                    esc(run["group"] or "—"),
                    esc(run["seed"]),
                    status,
                    esc("; ".join(map(str, notes))),
                    f"<small>{esc(run['commit'] or '—')[:12]}</small>",
                ],
                name,
            )
        )
    return "<p>Every folder that was found, used or not.</p>" + table(
        "Runs", ["run", "group", "seed", "status", "notes", "commit"], rows
    )


def missing(report: Report) -> str:
    items = "".join(
        f"<li>{esc(row['what'])}: <code>{esc(row['command'])}</code></li>" for row in report["missing"]
    )
    return items and f'<ul class="plain">{items}</ul>'
