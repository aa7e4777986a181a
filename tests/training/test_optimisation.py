"""Who is decayed, and the learning rate's course."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import zoo
from zoo.training.optimisation import learning_rate_share, parameter_groups

ARCHES = ["gpt", "bert", "t5", "gpt2", "bert_original", "t5_original", "transformer_2017"]


@pytest.mark.parametrize("arch", ARCHES)
def test_matrices_are_decayed_once_norms_biases_and_position_tables_never(arch):
    model = zoo.build(arch=arch, size="nano", vocab=50)
    decayed, plain = (group["params"] for group in parameter_groups(model, 0.1))
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    assert sorted(names) == sorted(id(parameter) for parameter in [*decayed, *plain])
    kept = [names[id(parameter)] for parameter in plain]
    assert all(name.endswith(".bias") or "norm" in name or ".table." in name for name in kept)
    assert not any("norm" in names[id(parameter)] or ".bias" in names[id(parameter)] for parameter in decayed)
    assert sum(names[id(parameter)] == "embedding.tokens.weight" for parameter in decayed) == 1


@given(updates=st.integers(10, 5000), warmup=st.floats(0, 0.5), final=st.floats(0, 1))
def test_it_rises_to_the_peak_then_falls_to_its_last_share(updates, warmup, final):
    share = [learning_rate_share(i, updates=updates, warmup=warmup, final=final) for i in range(updates + 1)]
    ramp = int(warmup * updates)
    assert all(b > a for a, b in pairwise(share[:ramp]))
    assert share[ramp] == pytest.approx(1)
    assert all(b <= a + 1e-12 for a, b in pairwise(share[ramp:]))
    assert share[updates] == pytest.approx(final)
    assert min(share) >= 0


def test_it_is_nanogpt_s_schedule_where_that_is_asked_for():
    """nanoGPT: lr (i + 1) / (warmup + 1), then min + (max - min) (1 + cos(pi r)) / 2."""
    for i in (0, 50, 99, 100, 1000, 1999):
        found = learning_rate_share(i, updates=2000, warmup=100, final=0.1)
        ratio = (i - 100) / 1900
        expected = (i + 1) / 101 if i < 100 else 0.1 + 0.9 * 0.5 * (1 + math.cos(math.pi * ratio))
        assert found == pytest.approx(expected)
