"""Temperature, top-k and nucleus do to the distribution what their papers say."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from zoo.errors import UserError
from zoo.generation import GREEDY, Sampling

logits_of = st.integers(0, 2**31).map(
    lambda seed: torch.randn(4, 20, generator=torch.Generator().manual_seed(seed))
)


@settings(deadline=None, max_examples=50)
@given(logits=logits_of, temperature=st.floats(0.05, 5))
def test_temperature_divides_logits_and_raises_entropy(logits, temperature):
    found = Sampling(temperature=temperature).probabilities(logits)
    torch.testing.assert_close(
        found, (logits.double() / temperature).softmax(-1).float(), atol=1e-5, rtol=1e-4
    )
    hotter = Sampling(temperature=temperature * 1.5).probabilities(logits)
    entropy = [-(p * p.clamp(min=1e-30).log()).sum(-1) for p in (found, hotter)]
    assert (entropy[1] >= entropy[0] - 1e-5).all()


@settings(deadline=None, max_examples=50)
@given(logits=logits_of, k=st.integers(1, 30))
def test_top_k_keeps_the_k_likeliest_in_proportion(logits, k):
    found, plain = Sampling(top_k=k).probabilities(logits), logits.softmax(-1)
    for row in range(4):
        order = plain[row].argsort(descending=True)
        expected = torch.zeros(20)
        expected[order[:k]] = plain[row][order[:k]] / plain[row][order[:k]].sum()
        torch.testing.assert_close(found[row], expected)


@settings(deadline=None, max_examples=50)
@given(logits=logits_of, p=st.floats(0.01, 0.999))
def test_top_p_keeps_the_smallest_set_that_reaches_p(logits, p):
    found, plain = Sampling(top_p=p).probabilities(logits), logits.softmax(-1)
    for row in range(4):
        kept = found[row] > 0
        mass = plain[row][kept].sum()
        assert mass >= p - 1e-5
        assert mass - plain[row][kept].min() < p + 1e-5
        assert plain[row][kept].min() >= plain[row][~kept].max() if (~kept).any() else True
        torch.testing.assert_close(found[row].sum(), torch.tensor(1.0))


def test_greedy_is_the_limit_of_low_temperature_and_picks_follow_the_distribution():
    logits = torch.randn(1, 6, generator=torch.Generator().manual_seed(0))
    assert GREEDY.pick(logits).item() == logits.argmax().item()
    generator = torch.Generator().manual_seed(1)
    sampling = Sampling(temperature=0.7, top_k=4)
    picks = sampling.pick(logits.expand(20_000, 6), generator)
    shares = torch.bincount(picks, minlength=6) / 20_000
    torch.testing.assert_close(shares, sampling.probabilities(logits)[0], atol=0.015, rtol=0)


@pytest.mark.parametrize(
    "wrong", [{"temperature": -1}, {"temperature": float("nan")}, {"top_k": 0}, {"top_p": 0}, {"top_p": 1.5}]
)
def test_impossible_values_are_refused(wrong):
    with pytest.raises(UserError, match=next(iter(wrong))):
        Sampling(**wrong)
