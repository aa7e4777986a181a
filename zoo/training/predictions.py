"""Answers item by item, as Parquet: what paired comparisons of runs are made from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq


def keep(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write ``rows`` whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".tmp")
    pq.write_table(pa.Table.from_pylist(rows), beside)
    beside.replace(path)
