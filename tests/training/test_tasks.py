"""A run's tasks: every row is what its predictions say, and what is done is not done again."""

import json

import pyarrow.parquet as pq
import pytest

from zoo.config import load
from zoo.errors import Interrupted
from zoo.report.read import read
from zoo.tasks import Example, Span
from zoo.training import tasks
from zoo.training.column import column
from zoo.training.run import run

SMALL = [
    "experiment=smoke", "samples=0", "tuning.updates=4", "tuning.measure=[0.5,1]", "tuning.texts=12", "tuning.writes=2",
    "task=[topic,entities,questions,reply]", "tuning.longest=48", "tuning.answer=8", "tuning.which=all",
    "tuning.items={train:40,validation:10,test:20}",
]  # fmt: skip
READINGS = {
    "gpt": {"topic": {"pool", "write"}, "entities": {"per_token", "write"}, "questions": {"span", "write"}},
    "bert": {"topic": {"pool", "fill"}, "entities": {"per_token", "fill"}, "questions": {"span", "fill"}},
    "t5": {"topic": {"pool", "write"}, "entities": {"per_token", "write"}, "questions": {"span", "write"}},
}
READINGS["prefix_lm"] = READINGS["gpt"]


@pytest.mark.parametrize("arch", READINGS)
def test_results_are_what_the_predictions_say_and_the_report_believes_them(arch, tmp_path):
    folder = tmp_path / "run"
    run(load(*SMALL, f"arch={arch}", "logger=default"), folder)
    assert [*folder.glob("wandb/offline-run-*/files/media/table")]
    rows = json.loads((folder / "results.json").read_text())
    for task, expected in READINGS[arch].items():
        found = {row["reading"] for row in rows if row["task"] == task}
        assert found == expected | {"baseline", "oracle"}
    kinds = {row["kind"] for row in rows}
    assert {"pre-training", "cloze", "continuation", "direction", "direct_writing", "classify"} <= kinds
    tested = [
        row
        for row in rows
        if row["split"].startswith("test")
        and row.get("headline")
        and row["reading"] not in ("baseline", "oracle")
    ]
    assert {row["split"] for row in tested} == {"test", "test_marked"}
    for row in tested:
        table = pq.read_table(folder / "predictions" / f"{row['task']}.{row['reading']}.parquet").to_pylist()
        scores = [item["score"] for item in table if item["marked"] == (row["split"] == "test_marked")]
        assert row["count"] == len(scores)
        assert row["value"] == pytest.approx(sum(scores) / len(scores))
    chosen = {(row["task"], row["reading"]) for row in rows if row.get("chosen")}
    assert len(chosen) == 4  # one reading of each task
    believed = read(folder)
    assert not believed.warnings
    assert {task for task, _ in believed.items} >= {"topic", "entities", "questions", "reply"}


def test_an_interrupted_run_goes_on_with_the_tasks_that_are_left(tmp_path, monkeypatch):
    config = load(*SMALL, "arch=gpt", "tuning.which=first")
    run(config, tmp_path / "whole")
    real, made = tasks.tune, []

    def counted(model, task, *args, **more):
        if len(made) == 2:
            raise Interrupted(15)
        made.append(task.name)
        return real(model, task, *args, **more)

    monkeypatch.setattr(tasks, "tune", counted)
    with pytest.raises(Interrupted):
        run(config, tmp_path / "cut")
    assert made == ["topic", "entities"]
    monkeypatch.setattr(
        tasks, "tune", lambda model, task, *a, **m: made.append(task.name) or real(model, task, *a, **m)
    )
    run(config, tmp_path / "cut")
    assert made == ["topic", "entities", "questions", "reply"]

    def results(name):
        rows = json.loads((tmp_path / name / "results.json").read_text())
        return [row for row in rows if not row["metric"].startswith(("tokens_per", "seconds"))]

    assert results("cut") == results("whole")


def test_marked_spans_and_marked_items_are_shown_apart():
    class Task:
        metric = "f1"

        def scores(self, examples, predictions):
            return {"f1": [0.5, 1.0], "marked": [0.0, float("nan")]}

    examples = [
        Example("test/0/0", "Amber", spans=(Span(0, 5, "ship", True),), marked=True),
        Example("test/1/0", "Bob"),
    ]
    items = tasks.scored(Task(), examples, [(), ()])
    assert [(item.name, item.marked, item.scores) for item in items] == [
        ("test/0/0", False, {"f1": 0.5}),
        ("test/0/0m", True, {"f1": 0.0}),
        ("test/1/0", False, {"f1": 1.0}),
    ]
    assert [(row["split"], row["value"], row["count"]) for row in tasks.means(Task(), items)] == [
        ("test", 0.75, 2),
        ("test_marked", 0.0, 1),
    ]


def test_a_column_is_on_the_scale_from_baseline_to_oracle():
    def row(task, reading, value, **more):
        kind = "generate" if task == "reply" else "classify"
        same = {"task": task, "kind": kind, "reading": reading, "split": "test", "headline": True}
        return {**same, "metric": "m", "value": value, **more}

    rows = [
        *(row(task, "baseline", 0.2) for task in ("topic", "mood", "reply")),
        *(row(task, "oracle", 1.0) for task in ("topic", "mood", "reply")),
        row("topic", "pool", 0.6, chosen=True), row("topic", "write", 0.9, chosen=False),
        row("topic", "pool", 0.1, chosen=True, split="test_marked"),
        row("mood", "pool", 0.4, chosen=True), row("reply", "write", 0.2, chosen=True),
    ]  # fmt: skip
    assert column([row for row in rows if "chosen" not in row], "gpt") is None
    table = column(rows, "gpt")
    cells = list(zip(*(list(part.cells) for part in table.columns), strict=True))
    assert [(first, last) for first, *_, last in cells] == [
        ("topic", "0.500"), ("mood", "0.250"), ("reply", "0.000"), ("generation", "0.000"), ("understanding", "0.375"),
    ]  # fmt: skip
