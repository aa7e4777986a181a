"""The matched tasks of a run: fine-tune, test once, keep scores and answers; what is done is not done again."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from hydra.utils import instantiate

from zoo.data.tokenizer import Tokenizer
from zoo.models import Transformer
from zoo.tasks import Example, Prediction, Span, Task
from zoo.tasks.layout import Layout
from zoo.tasks.readings import Reading
from zoo.tasks.tuning import answer, tune
from zoo.tasks.wording import worded
from zoo.training.measures import measure
from zoo.training.predictions import keep
from zoo.training.records import write_json

Row = dict[str, Any]


def do_tasks(
    config: dict, folder: Path, model: Transformer, tokenizer: Tokenizer, say: Callable[[str], Any]
) -> list[Row]:
    """The rows of results.json: what ``model`` can do as it is, and every task of ``config``, tuned from it."""
    source, tuning = instantiate(config["data"]), config["tuning"]
    rows = _Done(folder, "direct").rows(
        lambda: measure(source, folder, model, tokenizer, context=config["context"],
                        count=tuning["texts"], writes=tuning["writes"], say=say)
    )  # fmt: skip
    for name, spec in (config["tasks"] or {}).items():
        task = instantiate(spec, source=source)
        rows += _Done(folder, f"{name}.scale").rows(lambda: _scale(name, task))  # noqa: B023
        own: list[Row] = []
        for reading_name, reading in _readings(config, task, tokenizer, model.capabilities):
            done = _Done(folder, f"{name}.{reading_name}")
            own += done.rows(
                lambda: _tuned(config, folder, name, task, reading_name, reading, model, say)  # noqa: B023
            )
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


def _readings(
    config: dict, task: Task, tokenizer: Tokenizer, capabilities: frozenset[str]
) -> list[tuple[str, Reading]]:
    """Those that suit the task and the model, in the order of the configuration."""
    tuning = config["tuning"]
    answers = tokenizer.encode_batch([worded(task.kind, example) for example in task.examples("train")])
    longest = min(max(len(tokens) for tokens in answers) + 1, tuning["answer"])
    layout = Layout(tokenizer, longest=tuning["longest"], answer=longest)
    found = [(name, instantiate(spec)(task, layout)) for name, spec in tuning["readings"].items()]
    able = [(n, r) for n, r in found if r.needs in capabilities and task.kind in r.kinds]
    return able[:1] if tuning["which"] == "first" else able


def _tuned(
    config: dict,
    folder: Path,
    name: str,
    task: Task,
    reading_name: str,
    reading: Reading,
    model: Transformer,
    say: Callable[[str], Any],
) -> list[Row]:
    tuning, begun = config["tuning"], time.perf_counter()
    train, validation, test = (task.examples(split) for split in ("train", "validation", "test"))
    keys = ("updates", "batch_size", "lr", "weight_decay", "warmup", "clip", "measure")
    tuned = tune(
        model, task, reading, train, validation, seed=config["seed"], **{key: tuning[key] for key in keys}
    )
    common = {"task": name, "kind": task.kind, "reading": reading_name}
    rows: list[Row] = []
    for point in tuned.curve:
        options = {"lr": tuning["lr"], **point.options}
        for metric, value in point.scores.items():
            rows.append(
                {**common, "metric": metric, "headline": metric == task.metric, "split": "validation",
                 "value": value, "count": len(validation), "updates": point.updates, "options": options}
            )  # fmt: skip
    predictions = answer(tuned, reading, test, tuning["batch_size"])
    options = {"lr": tuning["lr"], **tuned.best.options}
    rows += [
        {**common, **row, "updates": tuned.best.updates, "options": options}
        for row in _tested(task, test, predictions)
    ]
    scores = task.scores(test, predictions)[task.metric]
    keep(folder / "predictions" / f"{name}.{reading_name}.parquet", [
        {"item": e.item, "score": float(score), "marked": _is_marked(e), "prediction": _shown(e, p),
         "answer": worded(task.kind, e), "input": " | ".join(filter(None, (e.text, e.query)))[:2000]}
        for e, p, score in zip(test, predictions, scores, strict=True)
    ])  # fmt: skip
    tested = next(row for row in rows if row["split"] == "test" and row["headline"])
    say(
        f"{name:<12} {reading_name:<10} {task.metric} {tested['value']:.3f} "
        f"({time.perf_counter() - begun:.0f} s, best after {tuned.best.updates} updates)"
    )
    return rows


def _scale(name: str, task: Task) -> list[Row]:
    """The computed 0 and 1 of the table's scale."""
    test = task.examples("test")
    return [
        {"task": name, "kind": task.kind, "reading": reading, **row, "updates": 0, "options": {}}
        for reading, answers in (("baseline", task.baseline(test)), ("oracle", task.oracle(test)))
        for row in _tested(task, test, answers)
    ]


def _tested(task: Task, test: Sequence[Example], predictions: Sequence[Prediction]) -> list[Row]:
    """Each metric's mean over the test items, and over the marked ones among them."""
    rows: list[Row] = []
    marked = np.array([_is_marked(example) for example in test])
    for metric, scores in task.scores(test, predictions).items():
        values = np.array(scores, dtype=float)
        for split, chosen in (("test", np.ones_like(marked)), ("test_marked", marked)):
            some = values[chosen & ~np.isnan(values)]
            if len(some):
                rows.append(
                    {"metric": metric, "headline": metric == task.metric, "split": split,
                     "value": float(some.mean()), "count": len(some)}
                )  # fmt: skip
    return rows


def _is_marked(example: Example) -> bool:
    return example.marked or any(span.marked for span in example.spans)


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
