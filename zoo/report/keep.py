"""Copies of run folders that hold what the comparison reads and nothing else: small enough for a repository."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from zoo.errors import UserError
from zoo.report.pictures import SHOWN, shown_samples
from zoo.report.read import Run, find, read

_COLUMNS = ("item", "score", "marked", "bits", "words")
_TEXTS = ("input", "answer", "prediction")  # of the items that the page shows; empty for the others


def keep(places: Iterable[Path], out: Path) -> list[Path]:
    """The runs under ``places``, each under its own name in ``out``; what is there already is replaced.

    Failed and unfinished runs are kept too, as their configuration and record: a comparison misses them by name.

    Raises:
        UserError: a run is damaged, two have the same name, or ``out`` cannot be written to.
    """
    runs = [read(folder) for folder in find(places)]
    for run in runs:
        if run.warnings:
            raise UserError(
                f"{run.folder} is damaged ({run.warnings[0]}); mend or remove it, then keep the runs"
            )
    if len({run.folder.name for run in runs}) < len(runs):
        raise UserError("two of the runs have the same name; keep one folder of runs at a time")
    try:
        return [_copy(run, out / run.folder.name) for run in runs]
    except OSError as error:
        raise UserError(f"keep={out} cannot be written to: {error.strerror}") from error


def _copy(run: Run, out: Path) -> Path:
    """Written beside, then renamed, so that an interrupted copy is none."""
    beside = out.with_name(f".{out.name}")
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(parents=True)
    for name in ("config.yaml", "run.json"):
        shutil.copyfile(run.folder / name, beside / name)
    if run.status == "done":
        _results(run, beside)
    shutil.rmtree(out, ignore_errors=True)
    return beside.replace(out)


def _results(run: Run, out: Path) -> None:
    rows = json.loads((run.folder / "results.json").read_text(encoding="utf-8"))
    (out / "results.json").write_text(
        "[\n" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows) + "\n]\n", encoding="utf-8"
    )
    with (out / "metrics.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(run.metrics[0]) if run.metrics else [])
        writer.writeheader()
        writer.writerows(row for row in run.metrics if row.get("val/loss"))
    if run.direction:
        maps = {part: np.round(matrix, 8).tolist() for part, matrix in run.direction.items()}
        (out / "direction.json").write_text(json.dumps(maps), encoding="utf-8")
    if run.samples:
        (out / "direct_writing.json").write_text(json.dumps(shown_samples(run), indent=1), encoding="utf-8")
    for path in sorted((run.folder / "predictions").glob("*.parquet")):
        _predictions(path, out / "predictions" / path.name)


def _predictions(path: Path, out: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    table = parquet.read_table(path)
    kept = {name: table[name] for name in _COLUMNS if name in table.column_names}
    items = table["item"].to_pylist()
    shown = set(sorted(items)[:SHOWN])
    for name in _TEXTS:
        if name in table.column_names:
            texts = zip(items, table[name].to_pylist(), strict=True)
            kept[name] = [text if item in shown else "" for item, text in texts]
    out.parent.mkdir(exist_ok=True)
    parquet.write_table(pyarrow.table(kept), out, compression="zstd")
