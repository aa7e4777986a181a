"""The algebra of visibility rules, and each rule's definition written as a loop over slots."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from zoo.blocks.masks import (
    EVERYTHING,
    BlockSparse,
    Everything,
    NotPadding,
    Past,
    Prefix,
    SameDocument,
    Strided,
    Window,
    additive,
    is_static,
    parts,
    stated,
)

thorough = settings(max_examples=100, deadline=None, derandomize=True)
BATCH, LONGEST = 2, 16

static = st.one_of(
    st.builds(Everything),
    st.builds(Past),
    st.builds(Window, st.integers(1, 20)),
    st.builds(Strided, st.integers(1, 20)),
    st.builds(BlockSparse, st.integers(1, 20)),
)
numbers = st.lists(
    st.lists(st.integers(0, 3), min_size=LONGEST, max_size=LONGEST), min_size=BATCH, max_size=BATCH
)
batched = st.one_of(
    numbers.map(lambda rows: Prefix(torch.tensor([row[0] for row in rows]))),
    numbers.map(lambda rows: SameDocument(torch.tensor(rows))),
    numbers.map(lambda rows: NotPadding(torch.tensor(rows) > 0)),
)
rules = st.lists(st.one_of(static, batched), min_size=1, max_size=3).map(
    lambda found: found[0] if len(found) == 1 else found[0] & found[1] & found[-1]
)
shapes = st.integers(1, LONGEST).flatmap(lambda keys: st.tuples(st.integers(1, keys), st.just(keys)))


def dense(rule, shape):
    return rule.dense(*shape).expand(BATCH, *shape)


@given(a=rules, b=rules, shape=shapes)
@thorough
def test_and_commutes_and_is_the_meeting_of_both(a, b, shape):
    assert torch.equal(dense(a & b, shape), dense(b & a, shape))
    assert torch.equal(dense(a & b, shape), dense(a, shape) & dense(b, shape))


@given(a=rules, b=rules, c=rules, shape=shapes)
@thorough
def test_and_is_associative(a, b, c, shape):
    assert torch.equal(dense((a & b) & c, shape), dense(a & (b & c), shape))


@given(a=rules, shape=shapes)
@thorough
def test_and_is_idempotent(a, shape):
    assert torch.equal(dense(a & a, shape), dense(a, shape))


@given(a=rules)
@thorough
def test_everything_is_neutral(a):
    assert (a & EVERYTHING) is a
    assert parts(EVERYTHING & a) == parts(a)


@given(a=static, b=static)
@thorough
def test_static_rules_are_hashable_and_equal_by_what_they_say(a, b):
    assert is_static(a)
    assert is_static(a & b)
    assert len({a & b, a & b, a}) <= 2
    assert (a == b) == (type(a) is type(b) and vars(a) == vars(b))
    assert a != b or hash(a) == hash(b)


@given(a=static, b=batched)
@thorough
def test_a_rule_that_speaks_of_the_batch_is_not_static(a, b):
    assert not is_static(b)
    assert not is_static(a & b)


@given(rule=rules, shape=shapes)
@thorough
def test_a_rule_for_the_last_queries_is_the_end_of_the_rule_for_all(rule, shape):
    queries, keys = shape
    assert torch.equal(dense(rule, shape), dense(rule, (keys, keys))[:, keys - queries :])


@given(rule=rules, shape=shapes)
@thorough
def test_a_total_rule_leaves_no_query_without_a_key(rule, shape):
    assert not rule.total or rule.dense(*shape).any(-1).all()


@given(rule=rules, shape=shapes, dtype=st.sampled_from([torch.float32, torch.bfloat16]))
@thorough
def test_the_additive_form_is_zero_where_visible_and_minus_infinity_elsewhere(rule, shape, dtype):
    mask, visible = additive(rule, *shape, dtype, torch.device("cpu")), rule.dense(*shape)
    assert mask.dtype == dtype
    mask = mask if visible.dim() == 2 else mask.squeeze(1)
    assert mask.shape == visible.shape
    assert (mask[visible] == 0).all()
    assert (mask[~visible] == -torch.inf).all()


@given(length=st.integers(1, 40))
@thorough
def test_the_past_hides_what_is_strictly_above_the_diagonal_and_nothing_else(length):
    mask = additive(Past(), length, length, torch.float32, torch.device("cpu"))
    for query in range(length):
        for key in range(length):
            assert mask[query, key] == (-torch.inf if key > query else 0)


@pytest.mark.parametrize(
    ("rule", "sees"),
    [
        (Window, lambda n, i, j: j in range(i - n + 1, i + n)),
        (Strided, lambda n, i, j: j in range(i - n + 1, i + n) or j in range(i % n, 99, n)),
        (BlockSparse, lambda n, i, j: j in range(i - i % n, i - i % n + n) or j in range(n - 1, 99, n)),
    ],
    ids=["window", "strided", "block_sparse"],
)
@given(size=st.integers(1, 12), shape=shapes)
@thorough
def test_sparse_rules_see_what_their_papers_say(rule, sees, size, shape):
    queries, keys = shape
    expected = [[sees(size, keys - queries + t, s) for s in range(keys)] for t in range(queries)]
    assert rule(size).dense(*shape).tolist() == expected


@given(rows=numbers, shape=shapes)
@settings(thorough, max_examples=20)
def test_rules_of_the_batch_see_the_prefix_the_own_document_and_the_real_tokens(rows, shape):
    queries, keys = shape
    first = keys - queries
    table = torch.tensor(rows)
    found = (Prefix(table[:, 0]), SameDocument(table), NotPadding(table > 0))
    prefix, document, real = (rule.dense(*shape).tolist() for rule in found)
    for b in range(BATCH):
        for t in range(queries):
            for s in range(keys):
                assert prefix[b][t][s] == (s <= first + t or s < rows[b][0])
                assert document[b][t][s] == (rows[b][first + t] == rows[b][s])
                assert real[b][t][s] == (rows[b][s] > 0)


@given(rule=st.one_of(static, st.tuples(static, static).map(lambda pair: pair[0] & pair[1])), shape=shapes)
@thorough
def test_a_prefix_is_stated_where_a_rule_has_one_and_nowhere_else(rule, shape):
    lengths = torch.tensor([3, 1])
    assert stated(rule, lengths) is rule
    assert stated(rule, None) is rule
    for unstated in (Prefix() & rule, rule & Prefix()):
        assert torch.equal(dense(stated(unstated, lengths), shape), dense(Prefix(lengths) & rule, shape))
        with pytest.raises(ValueError, match="say how many slots"):
            stated(unstated, None)


@given(shape=shapes)
@thorough
def test_a_prefix_of_nothing_is_the_past_and_a_prefix_of_all_is_everything(shape):
    assert torch.equal(dense(Prefix(torch.tensor([0])), shape), dense(Past(), shape))
    assert torch.equal(dense(Prefix(torch.tensor([shape[1]])), shape), dense(EVERYTHING, shape))
