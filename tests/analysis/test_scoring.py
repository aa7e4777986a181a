"""Each chain rule adds up to 1, is what a slow loop computes, and knows nothing of batches, padding or training."""

import math
from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from zoo.analysis.items import Gap
from zoo.analysis.scoring import batches, evaluating, score
from zoo.errors import UserError

ARCHS = ["gpt", "prefix_lm", "bert", "t5", "gpt2", "bert_original", "t5_original"]
thorough = settings(max_examples=12, deadline=None, derandomize=True)


def stops(tokenizer):
    """What may end an answer: the end, or the next hole."""
    return [tokenizer.eos, tokenizer.sentinels[1]]


def ids(least=0, most=6):
    return st.lists(st.integers(8, 10), min_size=least, max_size=most)  # a, b, space


GAPS = st.lists(st.builds(Gap, ids(), ids(1, 4), ids()), min_size=1, max_size=6)


def log2(model, states):
    return (model.logits(states).double().log_softmax(-1) / math.log(2)).squeeze(0)


def slowly(model, tokenizer, gap):
    """(bits of each token, bits of the stop, right), with a row of its own for each token."""
    left, answer, right = gap
    hole, costs, hits = tokenizer.sentinels[0], [], 0
    for k in range(len(answer) + 1):
        if model.decoder is None:
            row = (
                [tokenizer.cls, *left, *answer[:k]]
                + [tokenizer.mask] * (len(answer) - k)
                + [*right, tokenizer.sep]
            )
            logs = log2(model, model(torch.tensor([row]))[:, 1 + len(left) + k - (k == len(answer))])
        elif model.encoder is None:
            read, prefix = torch.tensor([[tokenizer.eos, *left, *answer[:k]]]), torch.tensor([1 + len(left)])
            logs = log2(model, model(read, prefix=prefix)[:, -1])
        else:
            read = torch.tensor([[*left, hole, *right, tokenizer.eos]])
            logs = log2(model, model(read, torch.tensor([[tokenizer.bos, hole, *answer[:k]]]))[:, -1])
        if k < len(answer):
            costs.append(-logs[answer[k]].item())
            text = [token for token in range(tokenizer.vocab_size) if not tokenizer.is_special[token]]
            hits += max(text, key=lambda token: logs[token]) == answer[k]
    written = model.encoder is not None and model.decoder is not None
    stop = -math.log2(sum(2 ** logs[token].item() for token in stops(tokenizer))) if written else 0.0
    return costs, stop, hits


@pytest.mark.parametrize("arch", ARCHS)
@given(gaps=GAPS)
@thorough
def test_scores_are_those_of_a_slow_loop(make, letters, arch, gaps):
    model = make(arch, letters)
    with torch.no_grad():
        expected = [slowly(model, letters, gap) for gap in gaps]
    for found, (costs, stop, hits), gap in zip(score(model, letters, gaps), expected, gaps, strict=True):
        assert found.bits == pytest.approx(sum(costs) + stop, abs=1e-3)
        assert found.stop_bits == pytest.approx(stop, abs=1e-3)
        assert (found.right, found.tokens) == (hits, len(gap.answer))


@pytest.mark.parametrize("arch", ["gpt", "prefix_lm", "bert"])
@pytest.mark.parametrize("right", [[], [9, 8]])
def test_the_answers_of_two_tokens_share_a_probability_of_one(make, letters, arch, right):
    answers = product(range(letters.vocab_size), repeat=2)
    found = score(make(arch, letters), letters, [Gap([8, 9], list(answer), right) for answer in answers])
    assert sum(2**-one.bits for one in found) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("right", [[], [9, 8]])
def test_with_the_stop_the_answers_of_all_lengths_share_it(make, letters, right):
    """None, one, two tokens and then a stop; or three and whatever follows."""
    model = make("t5", letters)
    going_on = [token for token in range(letters.vocab_size) if token not in stops(letters)]

    def scores(length):
        return score(model, letters, [Gap([8, 9], list(a), right) for a in product(going_on, repeat=length)])

    with torch.no_grad():
        read = torch.tensor([[8, 9, letters.sentinels[0], *right, letters.eos]])
        begun = model(read, torch.tensor([[letters.bos, letters.sentinels[0]]]))
        nothing = model.logits(begun[:, -1]).softmax(-1)[0, stops(letters)].sum().item()
    total = nothing + sum(2**-one.bits for length in (1, 2) for one in scores(length))
    total += sum(2 ** -(one.bits - one.stop_bits) for one in scores(3))
    assert total == pytest.approx(1, abs=1e-4)
    assert 0.001 < nothing < 0.999


@pytest.mark.parametrize("arch", ARCHS)
@given(gaps=GAPS, tokens=st.integers(1, 80))
@thorough
def test_batches_and_their_padding_change_nothing(make, letters, arch, gaps, tokens):
    model = make(arch, letters)
    alone = [score(model, letters, [gap])[0] for gap in gaps]
    for found, expected in zip(score(model, letters, gaps, batch_tokens=tokens), alone, strict=True):
        assert found.bits == pytest.approx(expected.bits, abs=1e-3)
        assert found.stop_bits == pytest.approx(expected.stop_bits, abs=1e-3)
        assert (found.right, found.tokens) == (expected.right, expected.tokens)


@given(lengths=st.lists(st.integers(1, 50), max_size=30), tokens=st.integers(1, 200))
def test_every_row_is_in_one_batch_that_is_not_too_large(lengths, tokens):
    made = list(batches(lengths, tokens))
    assert sorted(index for batch in made for index in batch) == list(range(len(lengths)))
    assert all(len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= tokens for batch in made)


def test_what_stands_on_the_right_says_something_to_all_but_a_decoder(make, letters):
    for arch in ARCHS:
        one, other = score(make(arch, letters), letters, [Gap([8], [9], [8, 8]), Gap([8], [9], [9, 10])])
        assert (one == other) == (arch in ("gpt", "prefix_lm", "gpt2"))


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("arch", ["gpt", "prefix_lm", "bert", "t5"])
def test_a_model_in_training_is_scored_without_dropout_and_stays_in_training(make, letters, arch, training):
    model = make(arch, letters, "arch.dropout=0.5").train(training)
    try:
        gaps = [Gap([8, 9], [10, 8], [9])]
        assert score(model, letters, gaps) == score(model, letters, gaps)
        with evaluating(model):
            assert not model.training
            assert not torch.is_grad_enabled()
        with pytest.raises(RuntimeError), evaluating(model):
            raise RuntimeError("in the middle of it")
        assert all(module.training == training for module in model.modules())
        assert torch.is_grad_enabled()
    finally:
        model.eval()


def test_what_cannot_be_scored_is_refused_in_a_sentence(make, letters):
    with pytest.raises(UserError, match="nothing is hidden"):
        score(make("gpt", letters), letters, [Gap([8], [], [8])])
    for arch in ("gpt2", "bert_original"):
        with pytest.raises(UserError, match="does not fit in the 96 positions"):
            score(make(arch, letters), letters, [Gap([8] * 100, [9], [])])
