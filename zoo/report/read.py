"""Run folders as they are on disk, checked: what cannot be trusted is named and not used.

Shape letters: I test items.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from zoo.errors import UserError

TASK_KINDS = ("classify", "tag", "extract", "generate")
CURRENCIES = ("cloze", "continuation")
BOUNDS = ("baseline", "oracle")  # readings that are computed, not learned
_TOLERANCE = (
    1e-5  # between a value and the mean of the scores it is said to be: they may be stored in 32 bits
)


@dataclass(frozen=True)
class Items:
    """Scores of test items. item, story (I,) str; score (I,), NaN where there is nothing to score; marked (I,) bool."""

    item: np.ndarray
    story: np.ndarray
    score: np.ndarray
    marked: np.ndarray
    texts: dict[str, list[str]] = field(default_factory=dict)  # input, answer, prediction
    numbers: dict[str, np.ndarray] = field(default_factory=dict)  # bits, words

    def part(self, marked: bool) -> Items:
        """The items that only later context settles, or the others."""
        keep = self.marked == marked
        return Items(self.item[keep], self.story[keep], self.score[keep], self.marked[keep])


@dataclass
class Run:
    """One folder. ``rows`` and ``items`` hold what was found good; ``warnings`` says what was not."""

    folder: Path
    name: str
    status: str = "broken"
    config: dict[str, Any] = field(default_factory=dict)
    record: dict[str, Any] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)
    items: dict[tuple[str, str], Items] = field(default_factory=dict)  # by task and reading
    metrics: list[dict[str, str]] = field(default_factory=list)
    direction: dict[str, np.ndarray] = field(default_factory=dict)
    samples: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def seed(self) -> Any:
        return self.config.get("seed")

    def select(self, **wanted: Any) -> list[dict[str, Any]]:
        """The rows with these values, for example task="topic", split="test"."""
        return [row for row in self.rows if all(row.get(key) == value for key, value in wanted.items())]

    def value(self, **wanted: Any) -> float | None:
        """The value of the first such row."""
        return next((row["value"] for row in self.select(**wanted)), None)

    def chosen(self, task: str) -> str | None:
        """The reading that was best on validation."""
        readings = {row["reading"] for row in self.select(task=task) if row.get("chosen") is True}
        return readings.pop() if len(readings) == 1 else None


def find(places: Iterable[Path]) -> list[Path]:
    """Run folders: the places themselves, or what stands up to two levels below them, in order of their paths.

    Raises:
        UserError: a place does not exist, or there is no run folder at all.
    """
    found: set[Path] = set()
    places = list(places)
    for place in places:
        if not place.is_dir():
            raise UserError(f"there is no folder {place}; give runs=<folders of runs>")
        below = [*place.glob("*"), *place.glob("*/*")]
        found |= {path for path in [place, *below] if _is_run(path)}
    if not found:
        raise UserError(f"no run folders in {', '.join(map(str, places))}; python train.py makes one")
    return sorted(found)


def _is_run(path: Path) -> bool:
    # Also where most of it was deleted: a damaged folder is shown, not passed over.
    parts = ("config.yaml", "run.json", "results.json", "metrics.csv", "predictions", "checkpoints")
    return path.is_dir() and (
        any((path / part).exists() for part in parts) or bool(re.search(r"-[0-9a-f]{8}$", path.name))
    )


def read(folder: Path) -> Run:
    """The run in ``folder``; never raises for what is wrong with it."""
    run = Run(folder, f"{folder.parent.name}/{folder.name}")
    config = _load(run, "config.yaml", yaml.safe_load, dict)
    record = _load(run, "run.json", json.loads, dict)
    run.config, run.record = config or {}, record or {}
    if config is None or record is None:
        return run
    run.status = str(record.get("status"))
    if record.get("seed") != config.get("seed"):
        run.warnings.append("run.json and config.yaml name different seeds: the run is not used")
        run.status = "broken"
    if run.status != "done":
        return run
    run.rows = _rows(run)
    _contradictions(run)
    _predictions(run)
    run.metrics = _metrics(run)
    if (folder / "direction.json").exists():
        run.direction = _direction(run)
    for file, parse in (("direct_writing.json", json.loads), ("samples.jsonl", _json_lines)):
        if not run.samples and (folder / file).exists():
            run.samples = _load(run, file, parse, list) or []
    return run


def _load(run: Run, file: str, parse: Any, kind: type) -> Any:
    try:
        value = parse((run.folder / file).read_text(encoding="utf-8"))
    except FileNotFoundError:
        run.warnings.append(f"{file} is missing")
    except (OSError, ValueError, yaml.YAMLError):
        run.warnings.append(f"{file} cannot be read (truncated or edited)")
    else:
        if isinstance(value, kind):
            return value
        run.warnings.append(f"{file} does not hold a {kind.__name__}")
    return None


def _json_lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def _rows(run: Run) -> list[dict[str, Any]]:
    good, seen = [], set()
    for row in _load(run, "results.json", json.loads, list) or []:
        complete = isinstance(row, dict) and {"task", "reading", "metric", "split", "value"} <= row.keys()
        if not complete:
            run.warnings.append(
                "results.json: a row without task, reading, metric, split or value is not used"
            )
            continue
        row = {"kind": row["reading"], "updates": None, **row}  # the first runs wrote no kind
        name = "{task}, {reading}, {metric}, {split}".format(**row)
        key = (row["kind"], name, row["updates"], json.dumps(row.get("options"), sort_keys=True))
        if not _in_range(row):
            run.warnings.append(f"results.json: {name}: {row['value']!r} is out of range and not used")
        elif key in seen:
            run.warnings.append(f"results.json: {name} stands there twice; the first is used")
        else:
            seen.add(key)
            good.append(row)
    return good


def _in_range(row: dict[str, Any]) -> bool:
    value, metric = row["value"], str(row["metric"])
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return False
    if row.get("headline") or row["kind"] == "direction" or "accuracy" in metric:
        return 0 <= value <= 1 + 1e-9
    return value >= 0 if metric.endswith(("loss", "perplexity", "bits_per_word")) else True


def _contradictions(run: Run) -> None:
    """Rows that another file, or another row, says otherwise are not used."""
    noted = run.record.get("results")
    for row in run.select(kind="pre-training"):
        other = noted.get(row["metric"]) if isinstance(noted, dict) else None
        if isinstance(other, int | float) and abs(other - row["value"]) > 1e-6 * max(1, abs(other)):
            run.warnings.append(
                f"results.json: {row['metric']} after pre-training is {row['value']:g}, in run.json {other:g}: not used"
            )
            run.rows.remove(row)
    for stack in {row["task"]: None for row in run.select(kind="direction")}:
        rows = run.select(kind="direction", task=stack)
        if len(rows) == 3 and abs(sum(row["value"] for row in rows) - 1) > 1e-3:
            run.warnings.append(f"results.json: the direction of the {stack} does not sum to 1: not used")
            run.rows = [row for row in run.rows if row not in rows]


def _predictions(run: Run) -> None:
    """Keep a test row only if its file of predictions is there and says the same."""
    for row in [
        row
        for row in run.rows
        if row["kind"] in TASK_KINDS
        and row["split"] == "test"
        and row.get("headline")
        and row["reading"] not in BOUNDS
    ]:
        file = f"predictions/{row['task']}.{row['reading']}.parquet"
        items, problem = _items(run.folder / file)
        if items is not None:
            problem = _disagreement(run, row, items)
        if items is None or problem:
            run.warnings.append(
                f"{file} {problem}: {row['task']} by {row['reading']} is not used from this run"
            )
            run.rows = [
                other
                for other in run.rows
                if (other["task"], other["reading"]) != (row["task"], row["reading"])
            ]
        else:
            run.items[row["task"], row["reading"]] = items
    for kind in CURRENCIES:
        if run.select(kind=kind):
            file = f"predictions/{kind}.parquet"
            problem = _currency(run, kind, run.folder / file)
            if problem:
                run.warnings.append(f"{file} {problem}: {kind} is not used from this run")
                run.rows = [row for row in run.rows if row["kind"] != kind]


def _currency(run: Run, kind: str, path: Path) -> str:
    """Cloze is the mean of its items; a continuation's bits are summed over all words."""
    items, problem = _items(path)
    if items is None:
        return problem
    accuracy = run.value(kind=kind, task=kind, metric="accuracy")
    if "words" not in items.numbers:
        if accuracy is not None and not _equal(accuracy, items.score):
            return "has another mean than results.json says"
        run.items[kind, "direct"] = items
        return ""
    bits, words = items.numbers["bits"].sum(), items.numbers["words"].sum()
    told = run.value(kind=kind, task=kind, metric="bits_per_word")
    if told is not None and abs(told - bits / max(words, 1)) > _TOLERANCE * max(1, told):
        return "has other bits per word than results.json says"
    return ""


def _items(path: Path) -> tuple[Items | None, str]:
    import pyarrow
    from pyarrow import parquet

    try:
        columns = parquet.read_table(path).to_pydict()
        item = np.array(columns["item"], dtype=str)
        # None where a writer stored "nothing to score" as a null
        score = np.array([math.nan if one is None else one for one in columns["score"]], dtype=float)
        numbers = {key: np.array(columns[key], dtype=float) for key in ("bits", "words") if key in columns}
        marked = np.array(columns.get("marked", [False] * len(item)), dtype=bool)
    except FileNotFoundError:
        return None, "is missing"
    except (OSError, ValueError, TypeError, KeyError, pyarrow.ArrowException):
        return None, "cannot be read (truncated or edited)"
    if not len(item) or np.isnan(score).all():
        return None, "holds no scores"
    if len(np.unique(item)) < len(item):
        return None, "names an item twice"
    if np.nanmin(score) < 0 or np.nanmax(score) > 1 + 1e-9:
        return None, "holds scores outside 0..1"
    story = np.array([name.rpartition("/")[0] or name for name in item], dtype=str)
    texts = {
        key: [str(one) for one in columns[key]] for key in ("input", "answer", "prediction") if key in columns
    }
    order = np.argsort(item, kind="stable")
    texts = {key: [column[i] for i in order] for key, column in texts.items()}
    return Items(item[order], story[order], score[order], marked[order], texts, numbers), ""


def _disagreement(run: Run, row: dict[str, Any], items: Items) -> str:
    """What results.json says otherwise; its headline may be the mean of all items or, better, of the unmarked."""
    means = [items, items.part(marked=False)]  # a headline over all items, or better over the unmarked
    counted = [one for one in means if row.get("count") in (None, len(one.item), _scored(one))]
    if not counted:
        return f"has {len(items.item)} items where results.json counts {row['count']}"
    if not any(_equal(row["value"], one.score) for one in counted):
        return "has another mean than results.json says"
    kept = items.part(marked=True)
    for other in run.select(
        task=row["task"], reading=row["reading"], metric=row["metric"], split="test_marked"
    ):
        if other.get("count") not in (None, len(kept.item), _scored(kept)) or not _equal(
            other["value"], kept.score
        ):
            return "has other marked items than results.json says"
    return ""


def _scored(items: Items) -> int:
    return int((~np.isnan(items.score)).sum())


def _equal(value: float, scores: np.ndarray) -> bool:
    known = scores[~np.isnan(scores)]
    return bool(len(known)) and abs(value - known.mean()) <= _TOLERANCE


def _metrics(run: Run) -> list[dict[str, str]]:
    try:
        with (run.folder / "metrics.csv").open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    except (OSError, ValueError, csv.Error):
        run.warnings.append("metrics.csv is missing or cannot be read: no learning curve of this run")
        return []


def _direction(run: Run) -> dict[str, np.ndarray]:
    found = {}
    for part, matrix in (_load(run, "direction.json", json.loads, dict) or {}).items():
        try:
            values = np.array(matrix, dtype=float)
        except (ValueError, TypeError):
            values = np.empty(0)
        if values.ndim == 2 and values.size and np.isfinite(values).all() and values.min() >= 0:
            found[part] = values
        else:
            run.warnings.append(f"direction.json: {part} is no matrix of influences")
    return found
