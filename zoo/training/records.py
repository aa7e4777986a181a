"""A run on disk: its configuration, status, metrics and results; every file is written whole or not at all."""

from __future__ import annotations

import csv
import io
import json
import os
import platform
import subprocess
import time
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import yaml
from lightning.pytorch.loggers import Logger
from lightning.pytorch.utilities.rank_zero import rank_zero_only

from zoo.errors import UserError
from zoo.training.whole import whole


def write_text(path: Path, text: str) -> None:
    with whole(path) as file:
        file.write(text.encode("utf-8"))


def write_json(path: Path, value: Any) -> None:
    write_text(path, json.dumps(value, indent=1) + "\n")


class Record:
    """``run.json``: running, done, failed or interrupted, and what a reader needs to trust the run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "run.json"

    def read(self) -> dict[str, Any]:
        """What is recorded; empty where nothing (readable) is."""
        try:
            return json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}

    def start(self, config: dict, **facts: Any) -> None:
        """Note that the run is under way, and keep its configuration."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_text(self.folder / "config.yaml", yaml.safe_dump(config, sort_keys=False))
        earlier = self.read()
        write_json(
            self.path,
            {
                "status": "running",
                "pid": os.getpid(),
                "started": earlier.get("started") or time.strftime("%Y-%m-%dT%H:%M:%S%z"),
                "sessions": earlier.get("sessions", 0) + 1,
                "seed": config["seed"],
                "data_seed": config["data"].get("seed"),
                "versions": versions(),
                "git_commit": git_commit(),
                "wandb_id": earlier.get("wandb_id"),
                **facts,
            },
        )

    def note(self, **facts: Any) -> None:
        """Add to the record."""
        write_json(self.path, {**self.read(), **facts})

    def end(self, status: str, error: str | None = None) -> None:
        """done, failed or interrupted; with the error's sentence."""
        self.note(status=status, error=error, ended=time.strftime("%Y-%m-%dT%H:%M:%S%z"))


def read_config(folder: Path) -> dict[str, Any]:
    """The resolved configuration of a run.

    Raises:
        UserError: the folder is no run.
    """
    try:
        return yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise UserError(f"{folder} is not a run folder (no readable config.yaml in it)") from error


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in ("transformer-zoo", "torch", "lightning", "tokenizers", "numpy"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def git_commit() -> str | None:
    """The commit of the checkout that this code runs from, with + where it was changed since."""
    here = Path(__file__).parent
    try:
        command = ["git", "-C", str(here), "describe", "--always", "--dirty=+", "--abbrev=40", "--exclude=*"]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=5).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None


class MetricsCsv(Logger):
    """``metrics.csv``: one row per logged step, appended at once, and cut back to the checkpoint on a resume.

    Lightning's own CSV logger deletes what an earlier session wrote.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self._columns: list[str] = []

    @property
    def name(self) -> str:
        return "csv"

    @property
    def version(self) -> str:
        return ""

    @rank_zero_only
    def log_hyperparams(self, params: Any, *args: Any, **kwargs: Any) -> None:
        """config.yaml has them."""

    @rank_zero_only
    def log_metrics(self, metrics: Mapping[str, float], step: int | None = None) -> None:
        row = {"step": step, **metrics}
        new = [column for column in row if column not in self._columns]
        if new:
            rows = self._rows()
            self._columns += new
            self._write([*rows, row])
            return
        with self.path.open("a", newline="", encoding="utf-8") as file:
            csv.DictWriter(file, self._columns, restval="").writerow(row)

    def cut_after(self, step: int) -> None:
        """Forget rows past ``step``: a resumed run computes them again."""
        rows = self._rows()
        self._columns = list(rows[0]) if rows else []
        kept = [row for row in rows if int(float(row["step"])) <= step]
        if len(kept) < len(rows):
            self._write(kept)

    def last(self) -> dict[str, str]:
        """The last row's values that are not empty, with earlier ones where it has none."""
        found: dict[str, str] = {}
        for row in self._rows():
            found |= {key: value for key, value in row.items() if value}
        return found

    def _rows(self) -> list[dict[str, Any]]:
        if not self.path.exists():
            return []
        with self.path.open(newline="", encoding="utf-8") as file:
            # A row that a killed process left half-written lacks its last fields.
            return [row for row in csv.DictReader(file) if row["step"] and None not in row.values()]

    def _write(self, rows: list[dict[str, Any]]) -> None:
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, self._columns, restval="")
        writer.writeheader()
        writer.writerows(rows)
        write_text(self.path, text.getvalue())
