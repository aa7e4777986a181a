"""What a run leaves on disk, and what it counts."""

import csv
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from PIL import Image

from zoo.config import load
from zoo.data.ngram import KneserNey
from zoo.objectives import Batch
from zoo.training.baselines import _masked_views, _next_views, _span_views, _whole
from zoo.training.loggers import WeightsAndBiases, wandb_mode
from zoo.training.predictions import keep
from zoo.training.records import MetricsCsv, Record, read_config, write_json
from zoo.training.run import run


@pytest.mark.parametrize("arch", ["gpt", "bert", "bert objective=masked_diffusion", "t5", "prefix_lm"])
def test_a_run_folder_is_complete_and_its_counts_are_true(arch, small, tmp_path):
    config = load(*small, *f"arch={arch}".split(), "samples=2", "logger=tensorboard", "logger.wandb=null")
    folder = tmp_path / "run"
    run(config, folder)
    record = Record(folder).read()
    assert record["status"] == "done"
    assert record["error"] is None
    assert record["versions"]["torch"] == torch.__version__
    budget = record["budget"]
    assert budget["tokens_seen"] == 12 * 8 * 32
    # The share in the loss: all, the spans with their sentinels and end; as drawn: 15 %, half.
    shares = {"gpt": (1, 1), "t5": (8 / 32, 8 / 32), "bert": (0.1, 0.2)}
    least, most = shares.get(arch, (0.4, 0.6))
    assert least <= budget["tokens_in_loss"] / budget["tokens_seen"] <= most
    weights = torch.load(folder / "checkpoints" / "best.ckpt", weights_only=True)["state_dict"]
    assert budget["parameters"] == sum(
        tensor.numel() for name, tensor in weights.items() if name.startswith("model.")
    )
    with (folder / "metrics.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["step"]) for row in rows if row["train/loss"]] == list(range(1, 13))
    assert [int(row["step"]) for row in rows if row["val/loss"]] == [6, 12]
    assert all(
        float(row["val/perplexity"]) == pytest.approx(np.exp(float(row["val/loss"])))
        for row in rows
        if row["val/loss"]
    )
    assert {
        "train/lr",
        "speed/tokens_per_s",
        "speed/flops_utilisation",
        "val/accuracy",
        "tokens_seen",
    } <= set(rows[0])
    results = json.loads((folder / "results.json").read_text())
    beside = {"kneser_ney_5gram_loss"} if arch in ("gpt", "prefix_lm") else {"two_sided_trigram_accuracy"}
    if "diffusion" in arch:
        beside |= {"kneser_ney_5gram_loss"}
    metrics = {row["metric"] for row in results}
    assert {"loss", "accuracy"} <= metrics
    assert {name for name in metrics if "gram" in name} == beside
    samples = [json.loads(line) for line in (folder / "samples.jsonl").read_text().splitlines()]
    assert len(samples) == 4
    assert [*(folder / "tensorboard").glob("events*")]
    assert read_config(folder)["arch"]["name"] == arch.split()[0]


def test_metrics_csv_keeps_what_it_has_and_takes_new_columns(tmp_path):
    table = MetricsCsv(tmp_path / "metrics.csv")
    table.log_metrics({"a": 1.0}, step=1)
    table.log_metrics({"a": 2.0, "b": 5.0}, step=2)
    table.log_metrics({"b": 6.0}, step=3)
    again = MetricsCsv(tmp_path / "metrics.csv")
    again.cut_after(2)
    again.log_metrics({"a": 9.0}, step=4)
    assert (tmp_path / "metrics.csv").read_text().split() == ["step,a,b", "1,1.0,", "2,2.0,5.0", "4,9.0,"]
    assert again.last() == {"step": "4", "a": "9.0", "b": "5.0"}


def test_a_half_written_last_line_is_forgotten(tmp_path):
    path = tmp_path / "metrics.csv"
    path.write_text("step,a,b\n1,1.0,2.0\n2,3.")
    table = MetricsCsv(path)
    table.cut_after(5)
    table.log_metrics({"a": 4.0, "b": 4.0}, step=2)
    with path.open() as file:
        assert [row["step"] for row in csv.DictReader(file)] == ["1", "2"]


@pytest.mark.parametrize(
    ("asked", "environment", "mode"),
    [
        (None, {}, "offline"),
        (None, {"WANDB_API_KEY": "x"}, "online"),
        (None, {"WANDB_API_KEY": "x", "WANDB_MODE": "offline"}, "offline"),
        (None, {"WANDB_MODE": "disabled"}, "disabled"),
        ("online", {"WANDB_MODE": "offline"}, "online"),
        ("offline", {"WANDB_API_KEY": "x"}, "offline"),
    ],
)
def test_wandb_is_online_only_for_who_is_logged_in(asked, environment, mode, monkeypatch, tmp_path):
    for name in ("WANDB_API_KEY", "WANDB_MODE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("NETRC", str(tmp_path / "none"))
    assert wandb_mode(asked) == mode


def test_wandb_that_cannot_start_or_breaks_never_stops_a_run(small, tmp_path, monkeypatch):
    import wandb

    config = load(*small[:-1], "samples=0", "logger=default")
    warned = []

    def down(**settings):
        raise wandb.errors.CommError("the server is down")

    with monkeypatch.context() as patch:
        patch.setattr(wandb, "init", down)
        logger = WeightsAndBiases(config, tmp_path, warned.append)
        logger.log_metrics({"a": 1.0}, step=1)
        logger.finish(0)
        outcome = run(config, tmp_path / "run")
    assert outcome.status == "done"
    assert any("does not start" in sentence and "the run goes on" in sentence for sentence in warned)


def test_wandb_writes_beside_the_run_though_its_service_was_started_elsewhere(small, tmp_path, monkeypatch):
    """As under a sweep agent: the service, from another working directory, is there before the run."""
    import wandb

    wandb.setup()
    monkeypatch.chdir(tmp_path)
    config = load(*small[:-1], "samples=0", "logger=default", "logger.wandb.mode=offline")
    logger = WeightsAndBiases(config, Path("run"))
    logger.log_metrics({"a": 1.0}, step=1)
    logger.finish(0)
    assert [*tmp_path.glob("run/wandb/offline-run-*/*.wandb")]


def test_tasks_are_tables_pictures_and_scores_in_wandb(small, tmp_path):
    config = load(*small[:-1], "samples=0", "logger=default", "logger.wandb.mode=offline")
    row = {
        "task": "topic",
        "metric": "accuracy",
        "value": 0.25,
        "split": "test",
        "headline": True,
        "options": {"lr": 1},
    }
    measured = {
        "task": "cloze",
        "metric": "accuracy",
        "value": 0.5,
        "split": "test",
        "reading": "cloze",
        "options": {},
    }
    rows = [{**row, "reading": "pool", "chosen": True}, {**row, "reading": "write", "value": 0.5}]
    (tmp_path / "predictions").mkdir()
    keep(
        tmp_path / "predictions" / "topic.pool.parquet",
        [{"item": "test/0/0", "score": 1.0, "prediction": "sea"}],
    )
    write_json(tmp_path / "direction.json", {"decoder": [[1.0, 0.0], [0.5, 0.5]]})
    logger = WeightsAndBiases(config, tmp_path)
    logger.log_tasks([*rows, measured], tmp_path)
    run = logger.experiment
    assert run.summary["final/topic/accuracy"] == 0.25
    logger.finish(0)
    (media,) = tmp_path.glob("wandb/offline-run-*/files/media")
    tables = {path.name.split("_")[0]: json.loads(path.read_text()) for path in media.rglob("*.table.json")}
    results = [
        dict(zip(tables["results"]["columns"], line, strict=True)) for line in tables["results"]["data"]
    ]
    assert [(one["reading"], one["value"], one["options"]) for one in results] == [
        ("pool", 0.25, '{"lr": 1}'), ("write", 0.5, '{"lr": 1}'), ("cloze", 0.5, "{}"),
    ]  # fmt: skip
    assert tables["topic.pool"] == {
        "columns": ["item", "score", "prediction"],
        "data": [["test/0/0", 1.0, "sea"]],
    }
    (picture,) = media.rglob("*.png")
    with Image.open(picture) as image:
        pixels = np.asarray(image.convert("L"))
    assert pixels.shape == (16, 16)
    assert [int(pixels[i, j]) for i in (0, 15) for j in (0, 15)] == [0, 255, 127, 127]


@pytest.mark.parametrize("split", [False, True])
def test_the_5_gram_is_asked_for_the_very_tokens_that_are_in_the_loss(split):
    """Rows 10 ... 14 and 20 ... 24, the last of each after the row; split after 1 and after 4 tokens."""
    tokens = np.array([np.arange(10, 15), np.arange(20, 25)])
    asked = np.arange(4) >= np.array([[0], [3]]) if split else np.ones((2, 4), dtype=bool)
    batch = Batch(
        inputs=tokens[:, :-1], labels=tokens[:, 1:][asked], where=np.flatnonzero(asked) if split else None
    ).tensors()
    rows, places = _next_views(batch)
    assert rows.tolist() == tokens.tolist()
    assert [place.tolist() for place in places] == [[1, 2, 3, 4], [4] if split else [1, 2, 3, 4]]


def test_the_trigram_is_shown_what_bert_is_shown():
    special = np.arange(100) < 10
    batch = Batch(
        inputs=np.array([[1, 50, 3, 52, 3, 3, 53, 2]]),
        labels=np.array([61, 62, 63]),
        where=np.array([2, 4, 5]),
    ).tensors()
    left, right, answers = _masked_views(batch, special)
    assert left.tolist() == [50, 52, -1]
    assert right.tolist() == [52, -1, 53]
    assert answers.tolist() == [61, 62, 63]


def test_the_trigram_is_shown_what_t5_s_decoder_has_read_and_what_follows_the_span():
    tokenizer = SimpleNamespace(is_special=np.arange(100) < 10, sentinels=(5, 6))
    corpus = SimpleNamespace(tokenizer=tokenizer)
    # text: 50 [60 61] 51 [62] | inputs: 50 <5> 51 <6> eos | targets: <5> 60 61 <6> 62 eos
    batch = Batch(
        inputs=np.array([[50, 5, 51, 6, 2]]),
        targets=np.array([[1, 5, 60, 61, 6, 62]]),
        labels=np.array([5, 60, 61, 6, 62, 2]),
    ).tensors()
    left, right, answers = _span_views(batch, corpus)
    assert answers.tolist() == [60, 61, 62]
    assert left.tolist() == [50, 60, 51]
    assert right.tolist() == [-1, 51, -1]


def test_the_5_gram_beside_masked_diffusion_tells_each_text_token_from_those_before_it_and_no_other():
    """By hand from the 5-gram's own probabilities: where documents end it is told, so the rest sums to 1."""
    rng = np.random.default_rng(0)
    train = rng.integers(0, 6, 400)  # 5 ends documents
    tokenizer = SimpleNamespace(is_special=np.arange(10) >= 5, vocab_size=10)
    corpus = SimpleNamespace(tokenizer=tokenizer, train=SimpleNamespace(tokens=train))
    # <cls> 1 2 <eos> 3 4 <sep>, of which 2 and 3 are masked
    batch = Batch(
        inputs=np.array([[6, 1, 9, 5, 9, 4, 7]]), labels=np.array([2, 3]), where=np.array([2, 4])
    ).tensors()
    model = KneserNey(5).fit(train, 10)
    costs = []
    for before, token in (([], 1), ([1], 2), ([1, 2, 5], 3), ([1, 2, 5, 3], 4)):
        p = model.probabilities(before)
        costs.append(-np.log(p[token] / p[:5].sum()))
    assert _whole(corpus, [batch])["kneser_ney_5gram_loss"] == pytest.approx(np.mean(costs))
