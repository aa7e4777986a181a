"""Runs learn, in every mode there is a switch for."""

import pytest
import torch

from zoo.config import load
from zoo.training.run import run

TRIO = ["gpt", "bert", "t5"]
ARCHS = [*TRIO, "prefix_lm"]


@pytest.mark.parametrize("arch", ARCHS)
def test_one_batch_can_be_learned_by_heart(arch, small, tmp_path):
    """debug=overfit: the batch's loss falls to almost nothing; a broken gradient or label would stop it far above."""
    config = load(*[item for item in small if not item.startswith("steps")], "debug=overfit",
                  f"arch={arch}", "steps=150",
                  "trainer.log_every=150", "trainer.validate_every=150")  # fmt: skip
    run(config, tmp_path / "run")
    last = (tmp_path / "run" / "metrics.csv").read_text().splitlines()
    header, row = last[0].split(","), last[1].split(",")
    mean_of_all = float(dict(zip(header, row, strict=True))["train/loss"])
    weights = torch.load(tmp_path / "run" / "checkpoints" / "last.ckpt", weights_only=True)
    from zoo.models import build
    from zoo.objectives.loss import sums
    from zoo.plan import make_plan
    from zoo.training.corpora import Corpora

    corpora = Corpora(config)
    batch = next(iter(corpora.train_dataloader()))
    model = build(make_plan(config, vocab=corpora.corpus.tokenizer.vocab_size), seed=0)
    model.load_state_dict(
        {n.removeprefix("model."): t for n, t in weights["state_dict"].items() if n.startswith("model.")}
    )
    with torch.no_grad():
        found = sums(model.eval(), batch, torch.from_numpy(corpora.corpus.tokenizer.is_special))
    assert found.loss / found.count < 0.1 < mean_of_all


@pytest.mark.parametrize("arch", TRIO)
@pytest.mark.parametrize("precision", ["bf16-mixed", "bf16-true"])
def test_lower_precision_learns_too(arch, precision, small, tmp_path):
    found = run(load(*small, f"arch={arch}", f"trainer.precision={precision}"), tmp_path / "low").results[
        "loss"
    ]
    full = run(load(*small, f"arch={arch}"), tmp_path / "full").results["loss"]
    assert found == pytest.approx(full, rel=0.05)


def test_documents_and_no_next_sentence_are_switches(small, tmp_path):
    run(load(*small, "arch=gpt", "objective.documents=true"), tmp_path / "gpt")
    found = run(load(*small, "arch=bert", "objective.next_sentence=false"), tmp_path / "bert")
    assert "next_sentence_accuracy" not in found.results


def test_the_profiler_prints_where_time_goes(small, tmp_path, capsys):
    run(
        load(*small, "debug=profiler", "steps=4", "trainer.validate_every=4", "trainer.checkpoint_every=4"),
        tmp_path / "run",
    )
    assert "run_training_batch" in capsys.readouterr().out
