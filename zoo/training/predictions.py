"""Answers item by item, as Parquet: what paired comparisons of runs are made from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from zoo.training.whole import whole


def keep(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write ``rows`` whole or not at all."""
    with whole(path) as file:
        pq.write_table(pa.Table.from_pylist(rows), file)
