"""`zoo.build` and `zoo.load`: a trained run comes back as it was, without its source or its configuration files."""

import pytest
import torch

import zoo
from zoo.config import load
from zoo.errors import UserError
from zoo.objectives.loss import sums
from zoo.training.corpora import Corpora
from zoo.training.run import run


@pytest.mark.parametrize(
    "asked", ["arch=gpt", "arch=bert", "arch=bert objective=masked_diffusion", "arch=t5", "arch=prefix_lm"]
)
def test_a_loaded_run_gives_the_recorded_held_out_loss(asked, small, tmp_path):
    config = load(*small, *asked.split())
    outcome = run(config, tmp_path / "run")
    trained = zoo.load(tmp_path / "run")
    assert not trained.model.training
    special = torch.from_numpy(trained.tokenizer.is_special)
    with torch.no_grad():
        found = [sums(trained.model, batch, special) for batch in Corpora(config).validation_batches()]
    loss = sum(part.loss.item() for part in found) / sum(float(part.weight) for part in found)
    assert loss == pytest.approx(outcome.results["loss"], rel=1e-6)
    assert trained.tokenizer.decode(trained.tokenizer.encode("Ada sees é")) == "Ada sees é"


def test_the_last_checkpoint_can_be_asked_for(small, tmp_path):
    run(load(*small, "arch=gpt"), tmp_path / "run")
    best, last = (zoo.load(tmp_path / "run", checkpoint=name) for name in ("best", "last"))
    assert best.config == last.config


def test_what_is_no_run_says_so(tmp_path):
    with pytest.raises(UserError, match="is not a run folder"):
        zoo.load(tmp_path)


def test_the_same_seed_builds_the_same_model_and_leaves_torch_s_state_alone():
    before = torch.get_rng_state()
    one, two = (zoo.build(arch="t5", size="nano", seed=5) for _ in range(2))
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True))
    other = zoo.build(arch="t5", size="nano", seed=6)
    assert not torch.equal(one.embedding.tokens.weight, other.embedding.tokens.weight)


def test_an_illegal_combination_is_refused():
    with pytest.raises(UserError, match="use objective=masked_lm"):
        zoo.build(arch="bert", objective="causal_lm")
    with pytest.raises(UserError, match="arch=gtp does not exist"):
        zoo.build(arch="gtp")
    with pytest.raises(UserError, match=r"ffn\.d_ff=100 was asked for, but match=params makes it"):
        zoo.build("ffn.d_ff=100", arch="bert")
