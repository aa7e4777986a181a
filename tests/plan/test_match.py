"""``match``: every architecture, feed-forward, position scheme and size meets arch=gpt within 1 %."""

from functools import lru_cache
from itertools import product

import pytest

from zoo.config import load
from zoo.errors import UserError
from zoo.plan import make_plan

ARCHS = ["gpt", "bert", "t5", "prefix_lm"]
SIZES = ["nano", "tiny", "small", "base"]
FFNS = ["relu", "gelu", "gelu_tanh", "geglu", "swiglu"]
POSITIONS = ["none", "sinusoidal", "learned", "rotary", "relative_bias", "alibi"]
MEASURES = {"params": lambda plan: plan.parameters(), "flops": lambda plan: plan.flops_per_token()}

composed = lru_cache(maxsize=None)(load)


def config_of(arch, size, ffn="gelu", position="rotary", by="none", d_ff=None):
    """The same as composing all of these together, from parts composed once (a test below holds them equal)."""
    config = composed(f"arch={arch}", f"size={size}")
    width = d_ff or config["size"]["d_ff"]
    return {
        **config,
        "ffn": {**composed(f"ffn={ffn}")["ffn"], "d_ff": width},
        "position": composed(f"position={position}")["position"],
        "match": {"by": by},
    }


def test_the_parts_put_together_here_are_what_a_user_gets():
    asked = load("arch=t5", "size=small", "ffn=swiglu", "position=alibi", "match=flops")
    assert config_of("t5", "small", "swiglu", "alibi", "flops") == asked


@pytest.mark.parametrize("by", MEASURES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("arch", ARCHS)
def test_every_combination_is_within_one_percent_of_plain_gpt(arch, size, by):
    goal = MEASURES[by](make_plan(config_of("gpt", size)))
    for ffn, position in product(FFNS, POSITIONS):
        plan = make_plan(config_of(arch, size, ffn, position, by))
        assert abs(MEASURES[by](plan) / goal - 1) <= 0.01, (ffn, position)


@pytest.mark.parametrize("by", MEASURES)
@pytest.mark.parametrize("arch", ARCHS)
def test_no_other_width_of_the_same_step_is_nearer(arch, by):
    for size, ffn in product(SIZES, ["gelu", "swiglu"]):
        goal = MEASURES[by](make_plan(config_of("gpt", size)))
        width = make_plan(config_of(arch, size, ffn, by=by)).config["ffn"]["d_ff"]
        at = [MEASURES[by](make_plan(config_of(arch, size, ffn, d_ff=width + step))) for step in (0, -4, 4)]
        assert width % 4 == 0
        assert abs(at[0] - goal) == min(abs(value - goal) for value in at)


@pytest.mark.parametrize("by", [*MEASURES, "none"])
@pytest.mark.parametrize("size", SIZES)
def test_plain_gpt_is_the_reference_and_keeps_the_width_that_its_size_names(size, by):
    plan = make_plan(config_of("gpt", size, by=by))
    assert plan.config["ffn"]["d_ff"] == plan.config["size"]["d_ff"]


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("size", SIZES)
def test_without_matching_the_width_is_the_sizes(arch, size):
    assert make_plan(config_of(arch, size)).config["ffn"]["d_ff"] == composed(f"size={size}")["size"]["d_ff"]


@pytest.mark.parametrize("vocab", [70, 512, 2048, 32_000])
@pytest.mark.parametrize("arch", ARCHS)
def test_whatever_the_vocabulary_the_match_is_as_good(arch, vocab):
    for by, size in product(MEASURES, SIZES):
        goal = MEASURES[by](make_plan(config_of("gpt", size), vocab))
        assert abs(MEASURES[by](make_plan(config_of(arch, size, by=by), vocab)) / goal - 1) <= 0.01


def test_what_cannot_be_matched_is_said_and_by_how_much():
    """An untied head is larger than all feed-forward networks of the smallest size together."""
    with pytest.raises(UserError, match=r"\+\d+\.\d%.*match=none"):
        make_plan(load("size=nano", "arch.head.tied=false"))


def test_a_prefix_lm_has_gpt_s_width_and_parameters_to_the_last():
    plans = [make_plan(config_of(arch, size, by="params")) for arch in ("gpt", "prefix_lm") for size in SIZES]
    gpt, prefix_lm = plans[: len(SIZES)], plans[len(SIZES) :]
    assert [p.parameters() for p in gpt] == [p.parameters() for p in prefix_lm]
    assert [p.config["ffn"]["d_ff"] for p in gpt] == [p.config["ffn"]["d_ff"] for p in prefix_lm]
