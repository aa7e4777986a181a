"""A run's own column of the comparison: what it scored on each task, printed when it is done."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.table import Table

Row = dict[str, Any]


def column(rows: Sequence[Row], arch: str) -> Table | None:
    """Each task by its chosen reading, and the mean over the tasks where something is written and over the others, as
    a score from the computed baseline (0) to the oracle (1); None where nothing was tested.

    ``rows`` are those of results.json.  Intervals, claims and other runs beside it are `scripts/compare.py`'s.
    """
    tested = [row for row in rows if row["split"] == "test" and row.get("headline") and row.get("chosen")]
    if not tested:
        return None
    table = Table(
        "task",
        "read by",
        "metric",
        *("value", "baseline", "oracle", "score"),
        title=f"{arch}: from baseline (0) to oracle (1)",
    )
    scores: dict[str, list[float]] = {"generation": [], "understanding": []}
    for row in tested:
        low, high = (_bound(rows, row["task"], bound) for bound in ("baseline", "oracle"))
        score = (row["value"] - low) / (high - low) if high > low else None
        if score is not None:
            scores["generation" if row["kind"] == "generate" else "understanding"].append(score)
        table.add_row(row["task"], row["reading"], row["metric"], *_shown((row["value"], low, high, score)))
    table.add_section()
    for ability, found in scores.items():
        if found:
            table.add_row(ability, f"mean of {len(found)}", *[""] * 4, *_shown([sum(found) / len(found)]))
    return table


def _bound(rows: Sequence[Row], task: str, reading: str) -> float:
    return next(
        row["value"]
        for row in rows
        if row["task"] == task and row["reading"] == reading and row["headline"] and row["split"] == "test"
    )


def _shown(values: Iterable[float | None]) -> list[str]:
    return ["—" if value is None else f"{value:.3f}" for value in values]
