"""Masks at every rate, evenly; and a loss that is the bound on a likelihood, exactly."""

from itertools import combinations, permutations
from math import comb

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from zoo.api import build
from zoo.objectives import Batch, MaskedDiffusion
from zoo.objectives.loss import sums
from zoo.objectives.masked_diffusion import masked_at_every_rate
from zoo.objectives.masked_lm import frame
from zoo.plan.lengths import lengths

VOCAB, SPECIALS = 60, 7
IS_SPECIAL = np.arange(VOCAB) < SPECIALS


@given(
    seed=st.integers(0, 2**32),
    rows=st.integers(1, 9),
    width=st.integers(1, 40),
    low=st.integers(0, VOCAB - 1),
)
def test_a_row_has_from_one_mask_to_all_never_on_special_tokens_and_its_weights_are_its_tokens(
    seed, rows, width, low
):
    rng = np.random.default_rng(seed)
    tokens = rng.integers(low, VOCAB, (rows, width))
    chosen, weights = masked_at_every_rate(tokens, IS_SPECIAL, rng)
    text = ~IS_SPECIAL[tokens]
    assert not (chosen & ~text).any()
    assert (chosen.any(1) == text.any(1)).all()
    np.testing.assert_allclose(chosen.sum(1) * weights, text.sum(1))


@given(seed=st.integers(0, 2**32), rows=st.integers(1, 40), n=st.integers(1, 60))
def test_the_rates_of_a_batch_are_spread_evenly_over_its_rows(seed, rows, n):
    """Sorted, the i-th of B rows has its share of masks in the i-th B-th of (0, 1], rounded up to a token."""
    rng = np.random.default_rng(seed)
    chosen, _ = masked_at_every_rate(np.full((rows, n), VOCAB - 1), IS_SPECIAL, rng)
    masks = np.sort(chosen.sum(1))
    i = np.arange(rows)
    assert (masks > i * n / rows - 1e-9).all()
    assert (masks < (i + 1) * n / rows + 1 + 1e-9).all()


def test_every_number_of_masks_and_every_choice_of_them_is_equally_likely():
    """Within five standard deviations, in batches of one: there is nothing but chance."""
    rng, n, draws = np.random.default_rng(0), 4, 24_000
    tokens = np.array([[SPECIALS, 0, SPECIALS + 1, SPECIALS + 2, 1, SPECIALS + 3]])
    found = {}
    for _ in range(draws):
        chosen, _ = masked_at_every_rate(tokens, IS_SPECIAL, rng)
        key = tuple(np.flatnonzero(chosen[0]))
        found[key] = found.get(key, 0) + 1
    expected = {some: 1 / n / comb(n, k) for k in range(1, n + 1) for some in combinations((0, 2, 3, 5), k)}
    assert found.keys() == expected.keys()
    for key, p in expected.items():
        assert abs(found[key] / draws - p) < 5 * np.sqrt(p * (1 - p) / draws)


def test_a_row_s_rate_does_not_depend_on_its_place_in_the_batch():
    """Micro-batches and ranks have equal work on average."""
    rng = np.random.default_rng(0)
    masks = [masked_at_every_rate(np.full((4, 50), 50), IS_SPECIAL, rng)[0].sum(1) for _ in range(2000)]
    np.testing.assert_allclose(np.mean(masks, axis=0), 25.5, atol=5 * 14.5 / np.sqrt(2000))


def test_labels_are_the_originals_and_what_is_hidden_is_a_mask(make_rows, tokenizer):
    rows = make_rows(
        [23] * 40, 60, [0, 300, 700]
    )  # with an <eos> here and there, and an odd number of tokens
    batch = MaskedDiffusion()(rows, np.random.default_rng(0))
    original = frame(rows.tokens[:, :-1].astype(np.int64), cls=tokenizer.cls, sep=tokenizer.sep)
    assert original[:, 0].tolist() == [tokenizer.cls] * 3
    assert original[:, -1].tolist() == [tokenizer.sep] * 3
    flat, inputs = original.reshape(-1), batch.inputs.reshape(-1)
    assert (batch.labels == flat[batch.where]).all()
    assert (inputs[batch.where] == tokenizer.mask).all()
    others = np.setdiff1d(np.arange(flat.size), batch.where)
    assert (inputs[others] == flat[others]).all()
    assert tokenizer.eos in flat[others]
    assert batch.source_tokens == 180
    assert batch.weight == pytest.approx((~tokenizer.is_special[flat]).sum())
    assert batch.next_sentence is None
    assert batch.segments is None


def test_the_plan_knows_the_row_s_length_and_how_many_masks_to_expect(make_rows):
    rows = make_rows([10_000], 60, np.arange(0, 60 * 120, 60))
    batch = MaskedDiffusion()(rows, np.random.default_rng(0))
    row = lengths({"name": "masked_diffusion"}, 60)
    assert batch.inputs.shape == (120, row.inputs)
    assert len(batch.labels) / 120 == pytest.approx(row.loss, abs=1)  # spread evenly: hardly any chance in it


class EveryDraw:
    """A generator whose batch of n x n! rows holds each number of masks with each order of the n tokens, once."""

    def __init__(self, width, places):
        self.width, self.orders = width, list(permutations(places))

    def permutation(self, rows):
        assert rows == len(self.orders) * len(self.orders[0])
        return np.arange(rows)

    def random(self, shape=None):
        if shape is None:
            return 0.5
        noise = np.full(shape, 0.99)
        for row in range(len(noise)):
            noise[row, list(self.orders[row % len(self.orders)])] = np.arange(len(self.orders[0])) / 100
        return noise


@pytest.fixture(scope="module")
def tiny():
    """A model of random weights in float64, a framed row of four text tokens and a special one, and their costs:
    (mask pattern) -> nats of each masked token."""
    mask, row, places = 3, [4, 10, 8, 0, 9, 11, 5], (1, 2, 4, 5)
    model = build(arch="bert", objective="masked_diffusion", size="nano", vocab=12, seed=1).double().eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3, generator=torch.Generator().manual_seed(0))

    def costs(masked):
        inputs = torch.tensor([[mask if i in masked else token for i, token in enumerate(row)]])
        with torch.no_grad():
            logs = model.logits(model(inputs))[0].log_softmax(-1)
        return {i: -logs[i, row[i]].item() for i in masked}

    return model, mask, row, places, costs


def elbo(places, costs):
    """Equation 10 of MDLM by quadrature over t, which is exact: a polynomial below degree n."""
    nodes, parts = np.polynomial.legendre.leggauss(8)
    n, total = len(places), 0.0
    for k in range(1, n + 1):
        for masked in combinations(places, k):
            cost = sum(costs(masked).values())
            for t, part in zip((nodes + 1) / 2, parts / 2, strict=True):
                total += part * t**k * (1 - t) ** (n - k) / t * cost
    return total


def test_the_loss_in_expectation_is_exactly_the_bound(tiny):
    model, mask, row, places, costs = tiny
    expected = elbo(places, costs)
    tokens = np.array([row] * 96)  # 4 x 4!: all draws there are
    is_special = np.arange(12) < 6
    chosen, weights = masked_at_every_rate(tokens, is_special, EveryDraw(len(row), places))
    batch = Batch(
        inputs=np.where(chosen, mask, tokens), labels=tokens[chosen], where=np.flatnonzero(chosen),
        weights=np.repeat(weights, chosen.sum(1)),
    ).part(0, 1).tensors()  # fmt: skip
    special = torch.from_numpy(is_special)
    with torch.no_grad():
        measured = sums(model, batch, special)
    trained = sums(model, batch, special)  # the other way to the loss, that of gradients
    for found in (measured, trained):
        assert found.weight.item() == pytest.approx(4 * 96, rel=1e-12)
        assert found.loss.item() / found.weight.item() == pytest.approx(expected / 4, rel=1e-12)


def test_the_bound_is_the_mean_over_all_orders_and_bounds_the_likelihood(tiny):
    """Telling the tokens in a random order, chain rule: its mean cost is the bound, and by Jensen never below the
    cost of the text under the mixture of all orders, which is what the sampler writes."""
    _, _, _, places, costs = tiny
    totals = []
    for order in permutations(places):
        totals.append(sum(costs(order[k:])[place] for k, place in enumerate(order)))
    assert np.mean(totals) == pytest.approx(elbo(places, costs), rel=1e-12)
    assert np.mean(totals) > -np.log(np.mean(np.exp(-np.array(totals))))


def test_chance_alone_gives_the_bound_too(tiny):
    """The real generator, in batches of eight."""
    _, _, row, places, costs = tiny
    known = {some: sum(costs(some).values()) for k in range(1, 5) for some in combinations(places, k)}
    rng, found = np.random.default_rng(0), []
    for _ in range(1500):
        chosen, weights = masked_at_every_rate(np.array([row] * 8), np.arange(12) < 6, rng)
        found.append(
            np.mean([w * known[tuple(np.flatnonzero(c))] for c, w in zip(chosen, weights, strict=True)])
        )
    assert abs(np.mean(found) - elbo(places, costs)) < 5 * np.std(found) / np.sqrt(len(found))
