"""A deleted, truncated or edited file gives a warning with the run's name, and its number is not used."""

import json
import shutil

import pyarrow
import pytest
import yaml
from pyarrow import parquet

from zoo.errors import UserError
from zoo.report import compare, read, show, write


@pytest.fixture
def folder(simulate):
    return simulate(["bert"], [3]) / "table" / "bert-seed_3-00000003"


def edit(path, change):
    value = json.loads(path.read_text())
    change(value)
    path.write_text(json.dumps(value))


def row_of(rows, **wanted):
    return next(row for row in rows if all(row.get(key) == value for key, value in wanted.items()))


def set_value(value, **wanted):
    return lambda folder: edit(
        folder / "results.json", lambda rows: row_of(rows, **wanted).update(value=value)
    )


TEST_TOPIC = {"task": "topic", "reading": "pool", "split": "test"}


def change_scores(folder):
    path = folder / "predictions" / "topic.pool.parquet"
    columns = parquet.read_table(path).to_pydict()
    columns["score"] = [1.0] * len(columns["score"])
    parquet.write_table(pyarrow.table(columns), path)


def drop_items(folder):
    path = folder / "predictions" / "topic.pool.parquet"
    parquet.write_table(parquet.read_table(path).slice(0, 50), path)


def repeat_items(folder):
    path = folder / "predictions" / "topic.pool.parquet"
    columns = parquet.read_table(path).to_pydict()
    columns["item"] = [columns["item"][0]] * len(columns["item"])
    parquet.write_table(pyarrow.table(columns), path)


def truncate(name):
    def cut(folder):
        path = folder / name
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])

    return cut


def test_a_good_run_has_no_warnings(folder):
    run = read.read(folder)
    assert run.warnings == []
    assert run.status == "done"
    assert run.chosen("topic") == "pool"
    assert len(run.items["topic", "pool"].item) == 60


@pytest.mark.parametrize(
    ("damage", "warning"),
    [
        (lambda folder: (folder / "predictions" / "topic.pool.parquet").unlink(), "topic.pool.parquet is missing"),
        (truncate("predictions/topic.pool.parquet"), "topic.pool.parquet cannot be read"),
        (set_value(0.99, **TEST_TOPIC), "topic.pool.parquet has another mean than results.json says"),
        (change_scores, "topic.pool.parquet has another mean than results.json says"),
        (drop_items, "topic.pool.parquet has 50 items where results.json counts 60"),
        (repeat_items, "topic.pool.parquet names an item twice"),
        (set_value(1.2, **TEST_TOPIC), "1.2 is out of range"),
        (set_value(None, **TEST_TOPIC), "None is out of range"),
        (set_value("0.9", **TEST_TOPIC), "'0.9' is out of range"),
        (set_value(True, **TEST_TOPIC), "True is out of range"),
    ],
)  # fmt: skip
def test_a_task_whose_files_disagree_is_not_used(folder, damage, warning):
    damage(folder)
    run = read.read(folder)
    assert any(warning in one for one in run.warnings), run.warnings
    assert ("topic", "pool") not in run.items
    assert ("mood", "pool") in run.items


@pytest.mark.parametrize(
    ("damage", "warning", "kind"),
    [
        (set_value(0.9, task="cloze"), "cloze.parquet has another mean", "cloze"),
        (set_value(9.0, task="continuation", metric="bits_per_word"), "other bits per word", "continuation"),
        (set_value(0.9, kind="direction", metric="diagonal"), "does not sum to 1", "direction"),
        (set_value(-1.0, kind="pre-training", metric="loss"), "-1.0 is out of range", None),
        (truncate("results.json"), "results.json cannot be read", "cloze"),
        (lambda folder: (folder / "results.json").unlink(), "results.json is missing", "cloze"),
        (lambda folder: (folder / "results.json").write_text("{}"), "results.json does not hold a list", "cloze"),
        (truncate("direction.json"), "direction.json cannot be read", None),
        (lambda folder: (folder / "metrics.csv").unlink(), "metrics.csv is missing", None),
    ],
)  # fmt: skip
def test_other_damage_is_named(folder, damage, warning, kind):
    damage(folder)
    run = read.read(folder)
    assert any(warning in one for one in run.warnings), run.warnings
    assert not run.select(kind=kind)


def test_a_loss_that_run_json_says_otherwise_is_not_used(folder):
    edit(folder / "run.json", lambda record: record.update(results={"accuracy": 0.1}))
    run = read.read(folder)
    assert "in run.json 0.1" in run.warnings[0]
    assert run.value(kind="pre-training", metric="accuracy") is None


def test_a_marked_part_that_disagrees_is_not_used(folder):
    set_value(0.01, task="entities", reading="per_token", split="test_marked")(folder)
    assert "other marked items" in read.read(folder).warnings[0]


@pytest.mark.parametrize("name", ["config.yaml", "run.json"])
def test_a_folder_without_a_record_is_broken_but_shown(simulate, name, thresholds):
    runs = simulate(seeds=range(2))
    folder = runs / "table" / "gpt-seed_1-00000001"
    (folder / name).unlink()
    report = compare([runs], thresholds)
    assert f"table/gpt-seed_1-00000001: {name} is missing" in report["warnings"]
    shown = next(run for run in report["runs"] if run["name"] == "table/gpt-seed_1-00000001")
    assert shown["status"] == "broken"
    assert all("gpt-seed_1" not in name for group in report["groups"] for name in group["runs"])


def test_an_emptied_folder_is_shown_and_a_deleted_one_missed(simulate, thresholds):
    runs = simulate(seeds=range(3))
    shutil.rmtree(runs / "table" / "t5-seed_2-00000002")
    emptied = runs / "table" / "gpt-seed_0-00000000"
    shutil.rmtree(emptied)
    emptied.mkdir()
    report = compare([runs], thresholds)
    assert any(warning.startswith("table/gpt-seed_0-00000000: broken") for warning in report["warnings"])
    assert any(row["what"] == "t5, seed 2: no finished run" for row in report["missing"])


@pytest.mark.parametrize("status", ["failed", "interrupted", "running"])
def test_an_unfinished_run_is_shown_and_no_number_of_it_used(simulate, thresholds, status):
    def change(run):
        if run["config"]["arch"]["name"] == "gpt" and run["config"]["seed"] == 1:
            run["record"].update(status=status, error="out of memory" if status == "failed" else None)

    report = compare([simulate(seeds=range(3), change=change)], thresholds)
    name = "table/gpt-seed_1-00000001"
    assert any(warning.startswith(f"{name}: {status}") for warning in report["warnings"])
    assert any(name in row["what"] and "resume=" in row["command"] for row in report["missing"])
    assert next(group["seeds"] for group in report["groups"] if group["label"] == "gpt") == [0, 2]
    topic = next(row for row in report["applications"] if row["task"] == "topic")
    assert topic["cells"]["gpt"]["seeds"] == 2
    assert name not in topic["cells"]["gpt"]["runs"]


def test_a_wrong_number_never_reaches_the_table(simulate, thresholds):
    """One run's topic score raised by hand: the table is as if the run had no topic result."""
    runs = simulate(seeds=range(3))
    folder = runs / "table" / "gpt-seed_1-00000001"
    edit(folder / "results.json", lambda rows: row_of(rows, **TEST_TOPIC).update(value=0.999))
    report = compare([runs], thresholds)
    topic = next(row for row in report["applications"] if row["task"] == "topic")
    assert topic["cells"]["gpt"]["value"] < 0.7
    assert topic["cells"]["gpt"]["runs"] == ["table/gpt-seed_0-00000000", "table/gpt-seed_2-00000002"]
    assert any("gpt-seed_1" in warning and "topic" in warning for warning in report["warnings"])


def test_an_oracle_raised_by_hand_takes_only_its_run_out(simulate, thresholds):
    runs = simulate(seeds=range(3))
    folder = runs / "table" / "gpt-seed_1-00000001"
    edit(
        folder / "results.json", lambda rows: row_of(rows, task="reply", reading="oracle").update(value=0.96)
    )
    report = compare([runs], thresholds)
    reply = next(row for row in report["applications"] if row["task"] == "reply")
    assert reply["oracle"] == 0.95
    assert reply["cells"]["gpt"]["seeds"] == 2
    assert reply["cells"]["t5"]["seeds"] == 3
    assert any("gpt-seed_1" in warning and "oracle" in warning for warning in report["warnings"])


def test_runs_tested_on_other_items_are_not_compared(simulate, thresholds):
    def change(run):
        if run["config"]["arch"]["name"] == "t5" and run["config"]["seed"] == 0:
            columns = run["predictions"]["mood.pool"]
            columns["item"] = [name.replace("test-", "other-") for name in columns["item"]]

    report = compare([simulate(seeds=range(3), change=change)], thresholds)
    mood = next(row for row in report["applications"] if row["task"] == "mood")
    assert mood["cells"]["t5"]["seeds"] == 2
    assert any(
        "t5-seed_0" in warning and "other items (120 differ)" in warning for warning in report["warnings"]
    )


def test_nothing_that_can_be_compared_is_still_a_page(simulate, thresholds, tmp_path):
    def change(run):
        run["record"].update(status="failed", error="NaN")

    report = compare([simulate(["gpt"], [0], change=change)], thresholds)
    show(report)
    page = write(report, tmp_path / "out", "2026-01-01")[0].read_text()
    assert "No finished run to compare" in page
    assert "NaN" in page


def test_runs_without_any_task_are_a_page_that_says_what_is_missing(simulate, thresholds, tmp_path):
    """As training alone leaves them."""

    def change(run):
        run["results"] = [
            {key: row[key] for key in ("task", "reading", "metric", "split", "value")}
            for row in run["results"]
            if row["kind"] == "pre-training"
        ]
        run["predictions"] = {}

    report = compare([simulate(seeds=[0], change=change)], thresholds)
    assert report["warnings"] == []
    show(report)
    page = write(report, tmp_path / "out", "2026-01-01")[0].read_text()
    assert "python train.py -m experiment=table" in page
    assert {claim["verdict"] for claim in report["claims"]} == {"undecided"}


def test_no_folder_and_no_run_are_said_in_a_sentence(tmp_path):
    with pytest.raises(UserError, match="there is no folder"):
        read.find([tmp_path / "nothing"])
    with pytest.raises(UserError, match="no run folders"):
        read.find([tmp_path])


def test_different_seeds_in_record_and_configuration_are_no_run(folder):
    config = yaml.safe_load((folder / "config.yaml").read_text())
    (folder / "config.yaml").write_text(yaml.safe_dump({**config, "seed": 4}))
    run = read.read(folder)
    assert run.status == "broken"
    assert "different seeds" in run.warnings[0]


def test_items_with_nothing_to_score_count_as_they_are_written(simulate):
    """results.json counts what was scored; the marked part may be in the headline, and is taken out here."""

    def change(run):
        columns = run["predictions"]["entities.per_token"]
        columns["score"] = [None if k % 7 == 0 else score for k, score in enumerate(columns["score"])]
        known = [
            (score, mark)
            for score, mark in zip(columns["score"], columns["marked"], strict=True)
            if score is not None
        ]
        for row in run["results"]:
            if (
                row["task"] == "entities"
                and row["reading"] == "per_token"
                and row["split"].startswith("test")
            ):
                some = [score for score, mark in known if mark or row["split"] == "test"]
                row |= {"value": sum(some) / len(some), "count": len(some)}

    run = read.read(simulate(["gpt"], [0], change=change) / "table" / "gpt-seed_0-00000000")
    assert run.warnings == []
    assert ("entities", "per_token") in run.items


def test_what_was_written_directly_is_shown_by_decoding(simulate, thresholds):
    runs = simulate(["bert"], [0])
    texts = [
        {"decoding": way, "prompt": f"p{k}", "text": f"{way} {k}"}
        for way in ("mask_predict", "one_by_one")
        for k in range(9)
    ]
    folder = runs / "table" / "bert-seed_0-00000000"
    (folder / "direct_writing.json").write_text(json.dumps(texts))
    shown = compare([runs], thresholds)["samples"][0]["texts"]
    assert [one["text"] for one in shown] == [
        "mask_predict 0",
        "mask_predict 1",
        "one_by_one 0",
        "one_by_one 1",
    ]
