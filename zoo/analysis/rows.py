"""Measurements in the shape of a run's ``results.json``."""

from __future__ import annotations

from typing import Any


def row(
    kind: str, task: str, metric: str, value: float, count: int, options: dict[str, Any] | None = None
) -> dict[str, Any]:
    """One row: ``value`` of ``metric`` over ``count`` test items, without an update of fine-tuning."""
    return {
        "task": task,
        "kind": kind,
        "reading": "direct",
        "metric": metric,
        "split": "test",
        "value": float(value),
        "count": count,
        "updates": 0,
        "options": options or {},
    }
