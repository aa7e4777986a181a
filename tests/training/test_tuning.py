"""What is measured along a fine-tuning curve, and how a grid of rates and readings becomes a choice."""

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.optim.swa_utils import AveragedModel

from zoo.config import load
from zoo.errors import UserError
from zoo.report import choose
from zoo.training.run import run
from zoo.training.tuning import _fading


def averaged(share, values):
    model = nn.Linear(1, 1, bias=False)
    kept = AveragedModel(model, multi_avg_fn=_fading(share))
    for value in values:
        nn.init.constant_(model.weight, value)
        kept.update_parameters(model)
    return kept.module.weight.item()


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=30))
def test_averaged_over_all_updates_is_the_mean_and_over_one_the_last(values):
    assert averaged(1.0, values) == pytest.approx(sum(values) / len(values), abs=1e-4)
    assert averaged(1 / 100, values) == pytest.approx(values[-1], abs=1e-5)


def test_a_tenth_of_the_updates_counts_most():
    """Of 1000 updates, most of the weight is on the last 200."""
    weight_of_late = averaged(0.1, [0.0] * 800 + [1.0] * 200)
    assert 0.8 < weight_of_late < 0.95


def test_a_grid_tries_every_rate_and_reading_tests_nothing_and_its_best_is_chosen(tmp_path):
    small = [
        "experiment=smoke", "samples=0", "task=[topic]", "tuning.updates=4", "tuning.measure=[1]", "tuning.texts=4",
        "tuning.writes=0", "tuning.longest=48", "tuning.answer=4", "tasks.topic.train=64", "tasks.topic.validation=40",
        "tasks.topic.test=8",
    ]  # fmt: skip
    run(load(*small, "arch=bert", "tuning.rates=[1e-3,1e-2]"), tmp_path / "runs" / "grid" / "bert-00000001")
    rows = json.loads((tmp_path / "runs" / "grid" / "bert-00000001" / "results.json").read_text())
    tried = [row for row in rows if row["task"] == "topic" and row["reading"] not in ("baseline", "oracle")]
    assert {row["split"] for row in tried} == {"validation"}
    assert {(row["reading"], row["options"]["lr"]) for row in tried} == {
        (reading, lr) for reading in ("pool", "fill") for lr in (1e-3, 1e-2)
    }
    assert not (tmp_path / "runs" / "grid" / "bert-00000001" / "predictions" / "topic.pool.parquet").exists()
    runs = choose.grid([tmp_path / "runs"])
    best = max(row["value"] for row in tried if row["headline"])
    chosen = yaml.safe_load(choose.files(runs)["bert"])["tuning"]["chosen"]["topic"]
    assert best in [
        row["value"]
        for row in tried
        if row["headline"]
        and row["reading"] == chosen["reading"]
        and row["options"] == {"lr": chosen["lr"], **chosen["options"]}
    ]
    assert f"**{best:.3f}**" in choose.table(runs)

    # What is chosen is what is then done, and it is tested.
    config = load(*small, "arch=bert")
    config["tuning"]["chosen"] = {"topic": chosen}
    run(config, tmp_path / "done")
    rows = json.loads((tmp_path / "done" / "results.json").read_text())
    (tested,) = [r for r in rows if r["split"] == "test" and r.get("headline") and r.get("chosen")]
    assert (tested["reading"], tested["options"]["lr"]) == (chosen["reading"], chosen["lr"])


def test_the_rate_of_pre_training_is_the_one_of_least_held_out_loss(tmp_path):
    losses = {}
    for number, lr in enumerate((1e-3, 1e-2)):
        folder = tmp_path / "runs" / "lr_grid" / f"gpt-0000000{number}"
        losses[lr] = run(load("experiment=smoke", "samples=0", "arch=gpt", f"optim.lr={lr}"), folder).results[
            "loss"
        ]
    runs = choose.grid([tmp_path / "runs"])
    assert choose.rates(runs)["gpt"] == pytest.approx(losses)
    assert yaml.safe_load(choose.files(runs)["gpt"])["optim"]["lr"] == min(losses, key=losses.get)


def test_what_two_objectives_found_is_never_averaged(tmp_path):
    for objective in ("masked_lm", "masked_diffusion"):
        config = load("experiment=smoke", "samples=0", "steps=2", "arch=bert", f"objective={objective}")
        run(config, tmp_path / "runs" / "lr_grid" / f"bert-{objective}")
    with pytest.raises(UserError, match="arch=bert there are trained by masked_diffusion and masked_lm"):
        choose.grid([tmp_path / "runs"])
    assert len(choose.grid([tmp_path / "runs" / "lr_grid" / "bert-masked_diffusion"])) == 1
