"""Masking hides what it should, as often as it should; sentence pairs are what their labels say."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zoo.errors import UserError
from zoo.objectives import MaskedLM
from zoo.objectives.masked_lm import frame, frame_pair, mask_tokens
from zoo.objectives.next_sentence import NEXT, RANDOM, pair

VOCAB, SPECIALS, MASK = 60, 7, 3
IS_SPECIAL = np.arange(VOCAB) < SPECIALS


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**32), rate=st.floats(0, 1), mask=st.floats(0, 1))
def test_only_chosen_tokens_change_and_special_tokens_are_never_chosen_nor_drawn(seed, rate, mask):
    rng = np.random.default_rng(seed)
    tokens = rng.integers(0, VOCAB, (5, 40))
    inputs, chosen = mask_tokens(tokens, IS_SPECIAL, MASK, rng, rate=rate, mask=mask, random=1 - mask)
    assert not chosen[IS_SPECIAL[tokens]].any()
    assert (inputs[~chosen] == tokens[~chosen]).all()
    assert (~IS_SPECIAL[inputs] | (inputs == MASK))[chosen].all()


def test_frequencies_are_15_percent_and_of_these_80_10_10():
    """Within five standard deviations of what 1.6 million tokens should show."""
    rng = np.random.default_rng(0)
    tokens = rng.integers(SPECIALS, VOCAB, (4000, 400))
    inputs, chosen = mask_tokens(tokens, IS_SPECIAL, MASK, rng)
    count = chosen.sum()
    same_by_chance = 1 / (VOCAB - SPECIALS)
    for share, expected, of in (
        (chosen.mean(), 0.15, tokens.size),
        ((inputs[chosen] == MASK).mean(), 0.8, count),
        ((inputs[chosen] == tokens[chosen]).mean(), 0.1 + 0.1 * same_by_chance, count),
    ):
        assert abs(share - expected) < 5 * np.sqrt(expected * (1 - expected) / of)
    drawn = inputs[chosen & (inputs != MASK) & (inputs != tokens)]
    shares = np.bincount(drawn, minlength=VOCAB)[SPECIALS:] / len(drawn)
    assert np.abs(shares * (VOCAB - SPECIALS) - 1).max() < 0.25


@settings(deadline=None, max_examples=50)
@given(data=st.data(), n=st.integers(8, 60))
def test_framing_keeps_all_text_in_order(data, n):
    text = np.arange(100, 100 + 3 * n).reshape(3, n)
    cut = np.array(data.draw(st.lists(st.integers(1, n - 1), min_size=3, max_size=3)))
    framed, segments = frame_pair(text, cut, cls=1, sep=2)
    for row in range(3):
        first, second = text[row, : cut[row]].tolist(), text[row, cut[row] :].tolist()
        assert framed[row].tolist() == [1, *first, 2, *second, 2]
        assert segments[row].tolist() == [0] * (len(first) + 2) + [1] * (len(second) + 1)
    assert frame(text, cls=1, sep=2).tolist() == [[1, *row, 2] for row in text.tolist()]


@settings(deadline=None, max_examples=60)
@given(
    lengths=st.lists(st.integers(1, 90), min_size=3, max_size=20),
    n=st.integers(8, 50),
    seed=st.integers(0, 2**32),
)
def test_a_next_half_follows_in_the_same_document_and_a_random_one_is_from_another(
    make_rows, lengths, n, seed
):
    total = sum(lengths)
    longest = 2 * max(lengths) + n  # what the documents of one row can span
    if total < n + 2:
        lengths, total = [*lengths, n + 2], total + n + 2
    rng = np.random.default_rng(seed)
    rows = make_rows(lengths, n, rng.integers(0, total - n, 8))
    text, cut, labels = pair(rows, rng)
    original = rows.tokens[:, :-1]
    stream = rows.stream
    for row in range(8):
        at = cut[row]
        assert 0 < at < n
        assert (text[row, :at] == original[row, :at]).all()
        if labels[row] == NEXT:
            assert (text[row] == original[row]).all()
            here = rows.starts[row] + at
            assert stream.document_of(here) == stream.document_of(here - 1)
        elif total - longest > 2 * n:  # else there is too little other text to keep all of it apart
            first, last = stream.document_of(np.array([rows.starts[row], rows.starts[row] + at - 1]))
            tail = text[row, at:]
            places = [
                start
                for start in range(total - len(tail) + 1)
                if (stream.tokens[start : start + len(tail)] == tail).all()
            ]
            spans = [stream.document_of(np.array([start, start + len(tail) - 1])) for start in places]
            assert any(end < first or begin > last for begin, end in spans)


def test_labels_are_balanced_where_documents_allow(make_rows):
    rng = np.random.default_rng(0)
    rows = make_rows([200] * 30, 40, rng.integers(0, 30 * 200 - 41, 16))
    counts = np.bincount(np.concatenate([pair(rows, rng)[2] for _ in range(200)]), minlength=2)
    assert abs(counts[NEXT] / counts.sum() - 0.5) < 0.03


def test_halves_are_cut_where_sentences_start_and_the_second_half_tells_nothing_by_how_it_begins(make_rows):
    rng = np.random.default_rng(1)
    rows = make_rows([200] * 30, 40, np.arange(10, 10 + 16 * 200, 200))
    _, cut, labels = pair(rows, rng)
    assert np.isin(rows.starts + cut, rows.inner).all()
    assert set(labels) == {NEXT, RANDOM}


def test_a_single_document_is_refused(make_rows):
    rows = make_rows([300], 40, [0, 50])
    with pytest.raises(UserError, match=r"at least two documents; set objective\.next_sentence=false"):
        MaskedLM()(rows, np.random.default_rng(0))
    assert MaskedLM(next_sentence=False)(rows, np.random.default_rng(0)).next_sentence is None


def test_the_loss_is_on_chosen_positions_and_their_labels_are_the_originals(make_rows, tokenizer):
    rows = make_rows([200] * 10, 60, [0, 300, 700])
    batch = MaskedLM(next_sentence=False)(rows, np.random.default_rng(0))
    original = frame(rows.tokens[:, :-1].astype(np.int64), cls=tokenizer.cls, sep=tokenizer.sep).reshape(-1)
    assert (batch.labels == original[batch.where]).all()
    assert (np.diff(batch.where) > 0).all()
    hidden = batch.inputs.reshape(-1) != original
    assert np.isin(np.flatnonzero(hidden), batch.where).all()
    assert batch.source_tokens == 180
