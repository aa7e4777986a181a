"""Sentences change places whole; what is cut out leaves one mask each; the target is the text."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from zoo.objectives import TextInfilling
from zoo.objectives.text_infilling import infill, permute
from zoo.plan.lengths import lengths, spans

MASK = 9999
cases = st.tuples(st.integers(8, 200), st.floats(0.02, 0.9), st.floats(1.0, 12.0), st.integers(0, 2**32))


@settings(deadline=None, max_examples=120)
@given(cases)
def test_what_is_left_stands_in_order_between_masks_and_as_much_is_gone_as_planned(case):
    n, density, mean_span, seed = case
    text = np.arange(3 * n).reshape(3, n)
    inputs = infill(text, MASK, np.random.default_rng(seed), density=density, mean_span=mean_span)
    noise, count = spans(n, density, mean_span)
    assert inputs.shape == (3, n - noise + count)
    for row, whole in zip(inputs, text, strict=True):
        kept = row[row != MASK]
        assert (row == MASK).sum() == count
        assert len(kept) == n - noise
        assert (np.diff(kept) > 0).all()
        assert set(kept) <= set(whole)
        assert not ((row[1:] == MASK) & (row[:-1] == MASK)).any()
        # Where two neighbours of the input were none in the text, a mask stands between them.
        gap = (row[1:] != MASK) & (row[:-1] != MASK)
        assert (row[1:][gap] - row[:-1][gap] == 1).all()


def test_the_spans_lengths_are_poisson_and_some_are_empty():
    """Of many spans with mean 3, a share of e^-3 = 5 % is empty (a little less, given their sum)."""
    text = np.tile(np.arange(200), (400, 1))
    inputs = infill(text, MASK, np.random.default_rng(0), density=0.3, mean_span=3.0)
    cut = []
    for row in inputs:
        places = np.flatnonzero(row == MASK)
        padded = np.concatenate([[-1], row, [200]])
        cut += [padded[p + 2] - padded[p] - 1 for p in places]
    assert abs(np.mean(cut) - 3) < 1e-9
    assert 0.03 < np.mean(np.array(cut) == 0) < 0.06
    assert abs(np.var(cut) / 3 - 1) < 0.1


@settings(deadline=None, max_examples=60)
@given(lengths_=st.lists(st.integers(1, 9), min_size=1, max_size=12), seed=st.integers(0, 2**32))
def test_sentences_move_whole(lengths_, seed):
    sentence = np.repeat(np.arange(len(lengths_)), lengths_) + 40
    text = np.arange(len(sentence))
    (moved,) = permute(text[None], sentence[None], np.random.default_rng(seed))
    assert sorted(moved) == text.tolist()
    order = list(dict.fromkeys(sentence[moved]))
    expected = np.concatenate([text[sentence == number] for number in order])
    assert (moved == expected).all()


def test_every_order_of_three_sentences_is_as_likely():
    text, sentence = np.tile(np.arange(6), (6000, 1)), np.tile([0, 0, 1, 1, 2, 2], (6000, 1))
    moved = permute(text, sentence, np.random.default_rng(0))
    counts = np.unique(moved[:, ::2], axis=0, return_counts=True)[1]
    assert len(counts) == 6
    assert (np.abs(counts - 1000) < 150).all()


def test_a_batch_reads_the_damaged_text_and_writes_it_whole(make_rows, tokenizer):
    rows = make_rows([40] * 8, 24, [0, 30, 77, 200])
    batch = TextInfilling()(rows, np.random.default_rng(0))
    row = lengths({"name": "text_infilling", "density": 0.3, "mean_span": 3.0}, 24)
    assert batch.inputs.shape == (4, row.inputs)
    assert batch.targets.shape == (4, row.targets)
    assert len(batch.labels) == 4 * row.loss
    labels = batch.labels.reshape(4, -1)
    assert (labels[:, :-1] == rows.tokens[:, :-1]).all()
    assert (labels[:, -1] == tokenizer.eos).all()
    assert (batch.targets[:, 0] == tokenizer.bos).all()
    assert (batch.targets[:, 1:] == labels[:, :-1]).all()
    assert (batch.inputs == tokenizer.mask).sum(1).tolist() == [2] * 4
    whole = TextInfilling(permute=False)(rows, np.random.default_rng(0)).inputs
    kept = [row[(row != tokenizer.mask)][:-1].tolist() for row in whole]
    for row, text in zip(kept, rows.tokens[:, :-1], strict=True):
        remaining = iter(text.tolist())
        assert all(token in remaining for token in row)  # in order
