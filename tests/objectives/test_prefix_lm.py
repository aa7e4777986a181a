"""A split with a token on either side, every place equally likely; the loss on what follows and on nothing seen."""

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from zoo.blocks.masks import Prefix
from zoo.objectives import PrefixLM
from zoo.plan.lengths import lengths


def batch_of(make_rows, n, rows, seed):
    """``rows`` rows of ``n`` tokens of a stream in which every document has a letter of its own."""
    made = make_rows([7] * 80, n, np.arange(rows) * 3)
    return made, PrefixLM()(made, np.random.default_rng(seed))


cases = {"n": st.integers(1, 40), "rows": st.integers(1, 9), "seed": st.integers(0, 2**32)}


@given(**cases)
@settings(max_examples=150)
def test_every_token_after_the_prefix_is_asked_for_once_and_none_before(make_rows, n, rows, seed):
    """Against a loop over rows and places."""
    made, batch = batch_of(make_rows, n, rows, seed)
    assert batch.inputs.shape == (rows, n)
    assert batch.prefix.shape == (rows,)
    labels, where = [], []
    for row, length in enumerate(batch.prefix):
        whole = made.tokens[row]
        assert 1 <= length <= n
        assert len(whole[length:]) >= 1
        labels += whole[length:].tolist()
        where += [row * n + place - 1 for place in range(length, n + 1)]
    assert batch.labels.tolist() == labels
    assert batch.where.tolist() == where
    assert (batch.inputs == made.tokens[:, :-1]).all()
    assert batch.source_tokens == rows * n


@given(**cases)
@settings(max_examples=50)
def test_no_position_is_asked_for_a_token_that_the_rule_shows_it(make_rows, n, rows, seed):
    _, batch = batch_of(make_rows, n, rows, seed)
    visible = Prefix(torch.from_numpy(batch.prefix)).dense(n, n)
    row, place = np.divmod(batch.where, n)
    inside = place + 1 < n
    assert not visible[row[inside], place[inside], place[inside] + 1].any()
    assert visible[np.arange(rows), 0, batch.prefix - 1].all()  # the prefix is seen to its end


@given(**cases, parts=st.sampled_from([1, 2, 4]))
@settings(max_examples=50)
def test_parts_keep_their_own_rows_prefixes_and_labels(make_rows, n, rows, seed, parts):
    _, batch = batch_of(make_rows, n, 4 * rows, seed)
    pieces = [batch.part(index, parts) for index in range(parts)]
    assert np.array_equal(np.concatenate([piece.prefix for piece in pieces]), batch.prefix)
    assert np.array_equal(np.concatenate([piece.labels for piece in pieces]), batch.labels)
    for piece in pieces:
        asked = n + 1 - piece.prefix
        assert len(piece.labels) == len(piece.where) == asked.sum()


def test_all_places_are_equally_likely_and_the_planned_number_is_in_the_loss(make_rows):
    n, rows = 9, 60
    batches = [batch_of(make_rows, n, rows, seed)[1] for seed in range(100)]
    share = np.bincount(np.concatenate([batch.prefix for batch in batches]), minlength=n + 1) / (100 * rows)
    assert share[0] == 0
    assert np.abs(share[1:] - 1 / n).max() < 4 * (1 / n / (100 * rows)) ** 0.5  # four standard errors
    mean = np.mean([len(batch.labels) / rows for batch in batches])
    assert abs(mean - lengths({"name": "prefix_lm"}, n).loss) < 0.15
