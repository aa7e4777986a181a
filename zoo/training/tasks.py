"""The matched tasks of a run: fine-tune, test once, keep scores and answers; what is done is not done again."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from hydra.utils import instantiate

from zoo.data.tokenizer import Tokenizer
from zoo.models import Transformer
from zoo.tasks import Example, Prediction, Span, Task
from zoo.tasks.layout import Layout
from zoo.tasks.readings import Reading
from zoo.tasks.wording import worded
from zoo.training.measures import measure
from zoo.training.predictions import keep
from zoo.training.records import write_json
from zoo.training.tuning import answer, tune

Row = dict[str, Any]


def do_tasks(
    config: dict, folder: Path, model: Transformer, tokenizer: Tokenizer, say: Callable[[str], Any]
) -> list[Row]:
    """The rows of results.json: what ``model`` can do as it is, and every task of ``config``, tuned from it."""
    source, tuning = instantiate(config["data"]), config["tuning"]
    rows = _Done(folder, "direct").rows(
        lambda: measure(source, folder, model, tokenizer, way=instantiate(config["objective"]).way,
                        context=config["context"], count=tuning["texts"], writes=tuning["writes"], say=say)
    )  # fmt: skip
    for name, spec in (config["tasks"] or {}).items():
        task = instantiate(spec, source=source)
        rows += _Done(folder, f"{name}.scale").rows(partial(_scale, name, task))
        own: list[Row] = []
        for way in _ways(config, name, task, tokenizer, model.capabilities):
            done = _Done(folder, f"{name}.{way.name}")
            own += done.rows(partial(_tuned, config, folder, name, task, way, model, say))
        rows += _with_choice(own)
    return rows


class _Done:
    """A part of the results on disk: made once."""

    def __init__(self, folder: Path, name: str) -> None:
        self.path = folder / "tasks" / f"{name}.json"

    def rows(self, make: Callable[[], list[Row]]) -> list[Row]:
        if self.path.exists():
            return json.loads(self.path.read_text(encoding="utf-8"))
        rows = make()
        self.path.parent.mkdir(exist_ok=True)
        write_json(self.path, rows)
        return rows


class _Way(NamedTuple):
    """How a task is done: by a reading, tuned at a rate; ``options`` of decoding, None where validation chooses."""

    reading_name: str
    reading: Reading
    lr: float
    options: Row | None
    tested: bool

    @property
    def name(self) -> str:
        return self.reading_name if self.tested else f"{self.reading_name}.{self.lr:g}"


def _ways(
    config: dict, name: str, task: Task, tokenizer: Tokenizer, capabilities: frozenset[str]
) -> list[_Way]:
    """The readings that suit the task and the model: the chosen one or the first, or all; or each at every rate of a
    grid, to choose by, and then nothing is tested."""
    tuning = config["tuning"]
    answers = tokenizer.encode_batch([worded(task.kind, example) for example in task.examples("train")])
    longest = min(max(len(tokens) for tokens in answers) + 1, tuning["answer"])
    layout = Layout(tokenizer, longest=tuning["longest"], answer=longest)
    made = [(n, instantiate(spec)(task, layout)) for n, spec in tuning["readings"].items()]
    able = {n: r for n, r in made if r.needs in capabilities and task.kind in r.kinds}
    if tuning["rates"]:
        return [_Way(n, r, lr, None, False) for n, r in able.items() for lr in tuning["rates"]]
    choice = tuning["chosen"].get(name, {})
    lr, own = choice.get("lr", tuning["optim"]["lr"]), choice.get("reading")
    names = list(able) if tuning["which"] == "all" else list(able)[:1]
    if tuning["which"] == "chosen" and own in able:
        names = [own]
    return [_Way(n, able[n], lr, choice.get("options") if n == own else None, True) for n in names]


def _tuned(
    config: dict,
    folder: Path,
    name: str,
    task: Task,
    way: _Way,
    model: Transformer,
    say: Callable[[str], Any],
) -> list[Row]:
    tuning, begun = config["tuning"], time.perf_counter()
    train, validation = task.examples("train"), task.examples("validation")
    updates = round(tuning["updates"] * tuning["longer"].get(task.kind, 1))
    tuned = tune(
        model, task, way.reading, train, validation, optim={**tuning["optim"], "lr": way.lr},
        seed=config["seed"], options=way.options, updates=updates,
        **{key: tuning[key] for key in ("batch_size", "measure", "average")},
    )  # fmt: skip
    common = {"task": name, "kind": task.kind, "reading": way.reading_name}
    rows: list[Row] = []
    for point in tuned.curve:
        options = {"lr": way.lr, **point.options}
        for metric, value in point.scores.items():
            rows.append(
                {**common, "metric": metric, "headline": metric == task.metric, "split": "validation",
                 "value": value, "count": len(validation), "updates": point.updates, "options": options}
            )  # fmt: skip
    best = tuned.best
    shown = f"{name:<12} {way.reading_name:<10} {task.metric}"
    if not way.tested:
        say(
            f"{shown} {best.scores[task.metric]:.3f} at rate {way.lr:g} ({time.perf_counter() - begun:.0f} s)"
        )
        return rows
    test = task.examples("test")
    predictions = answer(tuned, way.reading, test, tuning["batch_size"])
    options = {"lr": way.lr, **best.options}
    items = scored(task, test, predictions)
    rows += [{**common, **row, "updates": best.updates, "options": options} for row in means(task, items)]
    keep(folder / "predictions" / f"{name}.{way.reading_name}.parquet", [
        {"item": item.name, "score": item.scores[task.metric], "marked": item.marked,
         "prediction": _shown(item.example, item.prediction), "answer": worded(task.kind, item.example),
         "input": " | ".join(filter(None, (item.example.text, item.example.query)))[:2000]}
        for item in items
    ])  # fmt: skip
    tested = next(row for row in rows if row["split"] == "test" and row["headline"])
    say(
        f"{shown} {tested['value']:.3f} "
        f"({time.perf_counter() - begun:.0f} s, best after {best.updates} updates)"
    )
    return rows


def _scale(name: str, task: Task) -> list[Row]:
    """The computed 0 and 1 of the table's scale."""
    test = task.examples("test")
    return [
        {"task": name, "kind": task.kind, "reading": reading, **row, "updates": 0, "options": {}}
        for reading, answers in (("baseline", task.baseline(test)), ("oracle", task.oracle(test)))
        for row in means(task, scored(task, test, answers))
    ]


class Scored(NamedTuple):
    """An answer to a test item.  ``marked``: it is about what only later context settles, and is shown apart."""

    name: str
    marked: bool
    scores: dict[str, float]
    example: Example
    prediction: Prediction


def scored(task: Task, test: Sequence[Example], predictions: Sequence[Prediction]) -> list[Scored]:
    """Every item; and the marked spans of a tagged text as an item of their own, where the task scores them apart."""
    scores = task.scores(test, predictions)
    apart_already = "marked" in scores  # then the other metrics leave the marked spans out
    found = []
    for i, (example, prediction) in enumerate(zip(test, predictions, strict=True)):
        own = {metric: float(values[i]) for metric, values in scores.items() if metric != "marked"}
        found.append(Scored(example.item, example.marked and not apart_already, own, example, prediction))
        apart = float(scores["marked"][i]) if apart_already else math.nan
        if not math.isnan(apart):
            found.append(Scored(f"{example.item}m", True, {task.metric: apart}, example, prediction))
    return found


def means(task: Task, items: Sequence[Scored]) -> list[Row]:
    """Rows of each metric's mean over the items that have one: split test without the marked, test_marked with them."""
    rows: list[Row] = []
    for split, marked in (("test", False), ("test_marked", True)):
        some = [item.scores for item in items if item.marked == marked]
        for metric in dict.fromkeys(metric for scores in some for metric in scores):
            values = [scores[metric] for scores in some if not math.isnan(scores.get(metric, math.nan))]
            if values:
                rows.append(
                    {"metric": metric, "headline": metric == task.metric, "split": split,
                     "value": sum(values) / len(values), "count": len(values)}
                )  # fmt: skip
    return rows


def _shown(example: Example, prediction: Prediction) -> str:
    if isinstance(prediction, str):
        return prediction
    return "; ".join(f"{example.text[s.start : s.end]} {s.label}" for s in prediction if isinstance(s, Span))


def _with_choice(rows: list[Row]) -> list[Row]:
    """Mark the reading that is best on validation: the one that stands for the run."""
    best = max(
        (row for row in rows if row["split"] == "validation" and row["headline"]),
        key=lambda row: row["value"],
        default=None,
    )
    return [{**row, "chosen": best is not None and row["reading"] == best["reading"]} for row in rows]
