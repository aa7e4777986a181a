"""The reverse process writes what the model says, in the model's own distribution."""

from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import zoo
from zoo.generation import GREEDY, Sampling
from zoo.generation.diffusion import unmask
from zoo.generation.fill import Blanks, fill_left_to_right, mask_predict

VOCAB, PAD, MASK = 97, 0, 3
BLANKS = Blanks(MASK, PAD, torch.zeros(VOCAB, dtype=torch.bool))


def seeded(seed):
    return torch.Generator().manual_seed(seed)


class Says:
    """A stand-in encoder whose logits (B, T, V) are ``says(tokens)``; ``seen`` keeps what it was shown."""

    embedding = SimpleNamespace(tokens=SimpleNamespace(weight=torch.zeros(1)))

    def __init__(self, says):
        self.says, self.seen = says, []

    def __call__(self, tokens, **_):
        self.seen.append(tokens.clone())
        return self.says(tokens)

    def logits(self, states):
        return states


def bert():
    model = zoo.build("context=64", arch="bert", size="nano", vocab=VOCAB, seed=3).eval()
    for parameter in model.parameters():
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, std=0.3, generator=seeded(1))
    return model


MODEL = bert()


@given(
    seed=st.integers(0, 2**31),
    rows=st.integers(1, 4),
    width=st.integers(1, 12),
    iterations=st.integers(1, 20),
    temperature=st.sampled_from([0.0, 1.0, 3.0]),
)
def test_all_masks_are_filled_the_rest_is_untouched_nothing_banned_and_seeds_repeat(
    seed, rows, width, iterations, temperature
):
    random = seeded(seed)
    banned = torch.rand(VOCAB, generator=random) < 0.5
    banned[:7], banned[50] = True, False
    tokens = torch.randint(10, VOCAB, (rows, width), generator=random)
    holes = torch.rand(tokens.shape, generator=random) < 0.6
    tokens[holes] = MASK
    before = tokens.clone()
    found = [
        unmask(MODEL, tokens, Blanks(MASK, PAD, banned), iterations=iterations, sampling=Sampling(temperature),
               generator=seeded(seed))
        for _ in range(2)
    ]  # fmt: skip
    assert torch.equal(tokens, before)
    assert torch.equal(found[0][~holes], tokens[~holes])
    assert not banned[found[0][holes]].any()
    assert torch.equal(*found)


@pytest.mark.parametrize("fill", [mask_predict, fill_left_to_right, lambda *a: unmask(*a, iterations=9)])
def test_a_mask_is_never_an_answer_though_nothing_is_banned(fill):
    """A tokenizer.json need not say that its mask is special; and a model may want nothing else."""
    model = Says(lambda tokens: torch.nn.functional.one_hot(torch.full_like(tokens, MASK), VOCAB) * 50.0)
    assert (fill(model, torch.full((2, 5), MASK), BLANKS) != MASK).all()


def test_another_seed_writes_another_text():
    tokens = torch.full((2, 12), MASK)
    one, two = (
        unmask(MODEL, tokens, BLANKS, iterations=12, sampling=Sampling(1.0), generator=seeded(s))
        for s in (1, 2)
    )
    assert not torch.equal(one, two)


@given(
    seed=st.integers(0, 2**31),
    n=st.integers(1, 10),
    more=st.integers(0, 30),
    sampling=st.sampled_from([GREEDY, Sampling(1.0)]),
)
def test_with_an_oracle_the_text_comes_back(seed, n, more, sampling):
    truth = torch.randint(20, VOCAB, (3, n + 1), generator=seeded(seed))
    truth[:, 0] = torch.arange(3)  # tells the oracle which row it is asked about
    oracle = Says(lambda tokens: torch.nn.functional.one_hot(truth[tokens[:, 0]], VOCAB) * 1000.0)
    tokens = truth.clone()
    tokens[:, 1:] = MASK
    found = unmask(oracle, tokens, BLANKS, iterations=n + more, sampling=sampling, generator=seeded(seed))
    assert torch.equal(found, truth)
    assert all(
        (seen == MASK).any(1).all() for seen in oracle.seen
    )  # a row with nothing to reveal is not asked about


def test_each_iteration_reveals_its_share_of_the_masks_at_random_places_for_good():
    """Of 10,000 masks in 5 iterations 2,000 each, within five standard deviations."""
    model = Says(lambda tokens: torch.zeros(*tokens.shape, VOCAB))
    banned = torch.ones(VOCAB, dtype=torch.bool)
    banned[50:60] = False
    found = unmask(
        model, torch.full((1, 10_000), MASK), Blanks(MASK, PAD, banned), iterations=5, sampling=Sampling(1.0),
        generator=seeded(0),
    )  # fmt: skip
    left = torch.tensor([(seen == MASK).sum().item() for seen in model.seen] + [0])
    assert left[0] == 10_000
    assert ((left[:-1] - left[1:] - 2000).abs() < 5 * (10_000 * 0.2 * 0.8) ** 0.5).all()
    places = (model.seen[1] != MASK)[0].nonzero().float()
    assert abs(places.mean() - 5000) < 5 * 10_000 / 12**0.5 / len(places) ** 0.5
    for seen in model.seen:
        kept = seen != MASK
        assert torch.equal(found[kept], seen[kept])


def test_of_independent_tokens_it_writes_their_marginals():
    """Whatever the number of iterations: chi-square of 8,000 texts per place, 11 degrees of freedom, p = 1e-5."""
    logits = torch.randn(4, VOCAB, generator=seeded(5))
    logits[:, torch.cat([torch.arange(20), torch.arange(32, VOCAB)])] = -torch.inf
    model = Says(lambda tokens: logits.expand(len(tokens), 4, VOCAB))
    for iterations in (1, 3, 50):
        texts = unmask(
            model, torch.full((8000, 4), MASK), BLANKS, iterations=iterations, sampling=Sampling(1.0),
            generator=seeded(iterations),
        )  # fmt: skip
        for place in range(4):
            expected = 8000 * logits[place].softmax(-1)[20:32]
            counts = torch.bincount(texts[:, place], minlength=VOCAB)[20:32]
            assert ((counts - expected) ** 2 / expected).sum() < 43


def test_tokens_that_depend_on_each_other_agree_where_there_are_iterations_enough():
    """An exact model of three coins that are all alike: told at once they agree in a quarter of the texts, told over
    many iterations nearly always (two in the same one: 3 in 1,000), heads in half of them."""

    def says(tokens):
        heads = (tokens == 20).any(1, keepdim=True)
        tails = (tokens == 21).any(1, keepdim=True)
        logits = torch.full((*tokens.shape, VOCAB), -torch.inf)
        logits[..., 20] = torch.where(tails & ~heads, -torch.inf, 0.0)
        logits[..., 21] = torch.where(heads & ~tails, -torch.inf, 0.0)
        return logits

    for iterations, low, high in ((1, 0.22, 0.28), (1000, 0.99, 1.0)):
        texts = unmask(
            Says(says), torch.full((4000, 3), MASK), BLANKS, iterations=iterations, sampling=Sampling(1.0),
            generator=seeded(1),
        )  # fmt: skip
        agree = (texts == texts[:, :1]).all(1).float().mean()
        assert low <= agree <= high
        assert 0.46 < (texts == 20).float().mean() < 0.54


def everywhere(model, tokens, blanks):
    """(B, T, V): the vocabulary projected at every place, as a plain program would."""
    with torch.no_grad():
        return model.logits(model(tokens)).masked_fill(blanks.banned, -torch.inf)


def plain_mask_predict(model, tokens, blanks, iterations):
    holes, filled = tokens == blanks.mask, tokens
    certainty = torch.full(tokens.shape, torch.inf)
    for step in range(1, iterations + 1):
        open_now = filled == blanks.mask
        logits = everywhere(model, filled, blanks)
        probability, choice = logits.softmax(-1).max(-1)
        filled, certainty = (
            torch.where(open_now, choice, filled),
            torch.where(open_now, probability, certainty),
        )
        again = (holes.sum(1) * (iterations - step)) // iterations
        rank = certainty.masked_fill(~holes, torch.inf).argsort(1).argsort(1)
        filled = filled.masked_fill(rank < again[:, None], blanks.mask)
    return filled


def plain_left_to_right(model, tokens, blanks):
    filled = tokens.clone()
    for row in filled:
        for place in (row == blanks.mask).nonzero():
            row[place] = everywhere(model, row[None], blanks)[0, place].argmax(-1)
    return filled


@given(seed=st.integers(0, 2**31), iterations=st.integers(1, 8))
def test_projecting_at_the_masks_only_fills_in_the_same_tokens(seed, iterations):
    random = seeded(seed)
    tokens = torch.randint(10, VOCAB, (4, 14), generator=random)
    tokens[torch.rand(tokens.shape, generator=random) < 0.5] = MASK
    blanks = Blanks(MASK, PAD, torch.arange(VOCAB) < 7)
    found = mask_predict(MODEL, tokens, blanks, iterations=iterations)
    assert torch.equal(found, plain_mask_predict(MODEL, tokens, blanks, iterations))
    assert torch.equal(fill_left_to_right(MODEL, tokens, blanks), plain_left_to_right(MODEL, tokens, blanks))


@pytest.mark.parametrize("fill", [mask_predict, fill_left_to_right, lambda *a: unmask(*a, iterations=9)])
def test_the_vocabulary_is_projected_at_no_more_places_than_there_are_masks(fill, monkeypatch):
    tokens = torch.randint(10, VOCAB, (4, 14), generator=seeded(0))
    tokens[:, 3:6] = MASK
    projected = []
    plain = type(MODEL).logits
    monkeypatch.setattr(
        type(MODEL), "logits", lambda self, states: projected.append(len(states)) or plain(self, states)
    )
    fill(MODEL, tokens, BLANKS)
    assert sum(projected) == 12
