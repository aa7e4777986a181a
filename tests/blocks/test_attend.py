"""``attend`` and its three kernels against softmax attention written as loops over rows in float64."""

import sys
from contextlib import ExitStack
from unittest.mock import patch

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from zoo.blocks.attend import attend
from zoo.blocks.masks import (
    EVERYTHING,
    BlockSparse,
    NotPadding,
    Past,
    Prefix,
    SameDocument,
    Strided,
    Window,
)

MODULE = sys.modules["zoo.blocks.attend"]  # the package has a function of this name too
thorough = settings(max_examples=120, deadline=None, derandomize=True)


def kernel(name):
    """Force one kernel: plain matmuls, the fused one, or the choice made for this machine."""
    with_patches = ExitStack()
    if name != "chosen":
        with_patches.enter_context(patch.object(MODULE, "_plain_is_faster", lambda q, keys: name == "plain"))
        with_patches.enter_context(patch.object(MODULE, "_window", lambda rule, queries, keys: None))
    return with_patches


def reference(q, k, v, sees, bias, scale):
    """One softmax per batch row, head and query over the keys j with ``sees(b, i, j)``; i, j are slots."""
    batch, heads, queries, width = q.shape
    groups, keys = k.shape[1:3]
    scale = width**-0.5 if scale is None else scale
    rows = []
    for b in range(batch):
        for h in range(heads):
            g = h * groups // heads  # head h reads the key/value head of its group: 0 0 1 1, not 0 1 0 1
            for t in range(queries):
                seen = [j for j in range(keys) if sees(b, keys - queries + t, j)]
                if not seen:
                    rows.append(0 * q[b, h, t])
                    continue
                scores = (k[b, g, seen] * q[b, h, t]).sum(-1) * scale
                if bias is not None:
                    scores = scores + bias[b % len(bias), h, t, seen]
                weights = (scores - scores.max()).exp()
                rows.append((weights[:, None] * v[b, g, seen]).sum(0) / weights.sum())
    return torch.stack(rows).view(batch, heads, queries, width)


@st.composite
def rules(draw, batch, keys, *, own=True):
    """(a rule, the same as a predicate on slots), for self-attention or (not ``own``) for a memory."""
    seed = draw(st.integers(0, 10_000))
    random = torch.Generator().manual_seed(seed)
    found = []
    if own and draw(st.booleans()):
        found.append((Past(), lambda b, i, j: j <= i))
    shape = draw(st.sampled_from(["full", "window", "strided", "sparse", "prefix"])) if own else "full"
    size = draw(st.integers(1, 6))
    if shape == "window":
        found.append((Window(size), lambda b, i, j: -size < j - i < size))
    if shape == "strided":
        found.append((Strided(size), lambda b, i, j: abs(i - j) < size or (i - j) % size == 0))
    if shape == "sparse":
        found.append((BlockSparse(size), lambda b, i, j: i // size == j // size or (j + 1) % size == 0))
    if shape == "prefix":
        known = torch.randint(0, keys + 1, (batch,), generator=random)
        lengths = known.tolist()
        found.append((Prefix(known), lambda b, i, j: j <= i or j < lengths[b]))
    if own and draw(st.booleans()):
        documents = torch.randint(0, 2, (batch, keys), generator=random).cumsum(1)
        numbers = documents.tolist()
        found.append((SameDocument(documents), lambda b, i, j: numbers[b][i] == numbers[b][j]))
    if draw(st.booleans()):
        real = torch.rand(batch, keys, generator=random) < draw(st.sampled_from([0.0, 0.3, 0.8]))
        is_real = real.tolist()
        found.append((NotPadding(real), lambda b, i, j: is_real[b][j]))
    found = draw(st.permutations(found))
    rule = EVERYTHING
    for part, _ in found:
        rule = rule & part
    return rule, lambda b, i, j: all(sees(b, i, j) for _, sees in found)


@st.composite
def cases(draw):
    batch, groups, share = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    own = draw(st.integers(0, 3)) > 0
    keys = draw(st.integers(1, 13))
    queries = (
        draw(st.sampled_from([keys, keys, 1, draw(st.integers(1, keys))])) if own else draw(st.integers(1, 9))
    )
    rule, sees = draw(rules(batch, keys, own=own))
    heads, width = groups * share, draw(st.sampled_from([1, 2, 8]))
    random = torch.Generator().manual_seed(draw(st.integers(0, 10_000)))

    def normal(*shape):
        return torch.randn(*shape, generator=random, dtype=torch.float64).requires_grad_()

    q, k, v = (
        normal(batch, heads, queries, width),
        normal(batch, groups, keys, width),
        normal(batch, groups, keys, width),
    )
    biased = draw(st.sampled_from([0, 0, 1, batch]))
    bias = normal(biased, heads, queries, keys) if biased else None
    return q, k, v, rule, sees, bias, draw(st.sampled_from([None, 1.0, 0.3]))


def values_and_gradients(function, *leaves):
    out = function()
    weights = torch.cos(torch.arange(out.numel(), dtype=torch.float64)).view(out.shape)
    return out, *torch.autograd.grad((out.double() * weights).sum(), leaves, allow_unused=True)


@pytest.mark.parametrize("name", ["plain", "fused", "chosen"])
@given(case=cases())
@thorough
def test_every_kernel_gives_the_values_and_gradients_of_plain_softmax_attention(name, case):
    q, k, v, rule, sees, bias, scale = case
    leaves = [x for x in (q, k, v, bias) if x is not None]
    with kernel(name):
        ours = values_and_gradients(lambda: attend(q, k, v, rule, bias, scale=scale), *leaves)
    theirs = values_and_gradients(lambda: reference(q, k, v, sees, bias, scale), *leaves)
    for x, y in zip(ours, theirs, strict=True):
        torch.testing.assert_close(x, torch.zeros_like(x) if y is None else y, atol=1e-9, rtol=1e-9)


@pytest.mark.parametrize("name", ["plain", "fused", "chosen"])
@given(case=cases())
@settings(thorough, max_examples=60)
def test_every_kernel_is_right_in_bfloat16_to_its_precision(name, case):
    q, k, v, rule, sees, bias, scale = case
    leaves = [None if x is None else x.detach().bfloat16().requires_grad_() for x in (q, k, v, bias)]
    given_leaves = [x for x in leaves if x is not None]
    with kernel(name):
        out, *gradients = values_and_gradients(
            lambda: attend(*leaves[:3], rule, leaves[3], scale=scale), *given_leaves
        )
    expected = reference(*(x if x is None else x.double() for x in leaves[:3]), sees,
                         None if leaves[3] is None else leaves[3].double(), scale)  # fmt: skip
    assert out.dtype == torch.bfloat16
    torch.testing.assert_close(out.double(), expected, atol=0.04, rtol=0.04)
    assert all(gradient.isfinite().all() for gradient in gradients)


@given(
    size=st.integers(1, 9), blocks=st.integers(4, 6), extra=st.integers(0, 8), causal=st.booleans(),
    heads=st.sampled_from([(1, 1), (2, 1), (4, 2)]), seed=st.integers(0, 1000),
)  # fmt: skip
@settings(thorough, max_examples=30)
def test_the_blocked_window_is_used_for_long_rows_and_right_at_any_length(
    size, blocks, extra, causal, heads, seed
):
    length = size * blocks + extra % size
    random = torch.Generator().manual_seed(seed)
    q, k, v = (
        torch.randn(1, h, length, 4, generator=random, dtype=torch.float64).requires_grad_()
        for h in (heads[0], heads[1], heads[1])
    )
    rule = (Past() if causal else EVERYTHING) & Window(size)
    with patch.object(MODULE, "_blocked_window", wraps=MODULE._blocked_window) as blocked:
        ours = values_and_gradients(lambda: attend(q, k, v, rule), q, k, v)
    assert blocked.called

    def sees(b, i, j):
        return abs(i - j) < size and (j <= i or not causal)

    theirs = values_and_gradients(lambda: reference(q, k, v, sees, None, None), q, k, v)
    for x, y in zip(ours, theirs, strict=True):
        torch.testing.assert_close(x, y, atol=1e-9, rtol=1e-9)


@pytest.mark.parametrize("other", ["padding", "document", "bias", "cache"])
def test_the_blocked_window_is_left_alone_where_it_does_not_apply(other):
    """It knows nothing of padding, documents, biases or earlier slots."""
    length, size = 12, 2
    q, k, v = (torch.ones(1, 1, length, 2) for _ in range(3))
    rule, bias = Past() & Window(size), None
    if other == "padding":
        rule = rule & NotPadding(torch.ones(1, length, dtype=torch.bool))
    if other == "document":
        rule = rule & SameDocument(torch.zeros(1, length))
    if other == "bias":
        bias = torch.zeros(1, 1, length, length)
    if other == "cache":
        q = q[:, :, 1:]
    with patch.object(MODULE, "_blocked_window", wraps=MODULE._blocked_window) as blocked:
        attend(q, k, v, rule, bias)
    assert not blocked.called


@pytest.mark.parametrize("name", ["plain", "fused"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("biased", [False, True])
@given(seed=st.integers(0, 1000), past=st.booleans(), heads=st.sampled_from([(2, 2), (4, 1)]))
@settings(thorough, max_examples=15)
def test_a_query_that_sees_nothing_gets_zeros_and_all_gradients_are_finite(
    name, dtype, biased, seed, past, heads
):
    random = torch.Generator().manual_seed(seed)
    q, k, v = (
        torch.randn(3, h, 7, 8, generator=random).to(dtype).requires_grad_()
        for h in (heads[0], heads[1], heads[1])
    )
    bias = torch.randn(1, heads[0], 7, 7, generator=random).to(dtype).requires_grad_() if biased else None
    real = torch.rand(3, 7, generator=random) < 0.5
    real[0] = False  # one row has nothing at all
    leaves = [x for x in (q, k, v, bias) if x is not None]
    with kernel(name):
        out, *gradients = values_and_gradients(
            lambda: attend(q, k, v, NotPadding(real) & (Past() if past else EVERYTHING), bias), *leaves
        )
    visible = torch.ones(7, 7).tril().bool() if past else torch.ones(7, 7).bool()
    blind = ~(visible & real[:, None]).any(-1)
    assert (out.transpose(1, 2)[blind] == 0).all()
    assert (out.transpose(1, 2)[~blind] != 0).any()
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert (gradients[1][0] == 0).all()
    assert (gradients[2].transpose(1, 2)[~real] == 0).all()


def strict_kernel(q, k, v, attn_mask=None, *, scale, dropout_p, enable_gqa, is_causal=False):
    """Attention to the letter, as some backends have it: the softmax of -inf alone is NaN."""
    k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], dim=1) for x in (k, v))
    return (q @ k.transpose(-2, -1) * scale + attn_mask).softmax(-1) @ v


def test_a_fused_kernel_that_makes_nan_of_a_blind_query_spoils_neither_values_nor_gradients():
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 2, 5, 4, requires_grad=True) for _ in range(3))
    real = torch.tensor([[False, False, True, True, True], [False] * 5])
    rule = Past() & NotPadding(real)
    expected = values_and_gradients(lambda: attend(q, k, v, rule), q, k, v)
    with kernel("fused"), patch.object(MODULE.F, "scaled_dot_product_attention", strict_kernel):
        ours = values_and_gradients(lambda: attend(q, k, v, rule), q, k, v)
    for x, y in zip(ours, expected, strict=True):
        torch.testing.assert_close(x, y)


@given(
    rule=st.sampled_from([Past(), EVERYTHING, Prefix(torch.tensor([3])), Prefix(torch.tensor([5, 1]))]),
    chunk=st.integers(1, 6), earlier=st.integers(0, 6), padded=st.booleans(), seed=st.integers(0, 1000),
)  # fmt: skip
@settings(thorough, max_examples=80)
def test_with_earlier_slots_in_a_cache_the_queries_are_the_last_ones(rule, chunk, earlier, padded, seed):
    """The fused kernel's causal flag counts from the top left: it shows a lone query the first key only."""
    random = torch.Generator().manual_seed(seed)
    q, k, v = (torch.randn(2, 2, chunk + earlier, 4, generator=random) for _ in range(3))
    if padded:
        rule = rule & NotPadding(torch.arange(chunk + earlier) >= torch.tensor([[0], [earlier]]))
    for name in ("plain", "fused"):
        with kernel(name):
            whole = attend(q, k, v, rule)[:, :, earlier:]
            part = attend(q[:, :, earlier:], k, v, rule)
        torch.testing.assert_close(part, whole, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", ["plain", "fused"])
@pytest.mark.parametrize("rule", [Past() & Strided(2), Past() & Window(3), BlockSparse(3)], ids=str)
def test_training_goes_on_after_an_evaluation_in_inference_mode(name, rule):
    """What is kept between calls must not be an inference tensor, which autograd refuses."""
    q = torch.randn(1, 2, 9, 4, requires_grad=True)
    with kernel(name):
        with torch.inference_mode():
            attend(q, q, q, rule)
        attend(q, q, q, rule).sum().backward()
    assert q.grad.isfinite().all()


@pytest.mark.parametrize("name", ["plain", "fused"])
def test_dropout_drops_weights_and_keeps_their_expected_sum(name):
    """With equal scores and values of one each output is the sum of the kept weights / (1 - p)."""
    torch.manual_seed(0)
    q, v = torch.zeros(1, 8, 64, 4), torch.ones(1, 8, 64, 4)
    with kernel(name):
        kept = attend(q, q, v, EVERYTHING, dropout=0.25)[..., 0] * 64 * 0.75
    torch.testing.assert_close(kept, kept.round(), atol=1e-3, rtol=0)
    assert kept.std() > 1
    assert abs(kept.mean() / (64 * 0.75) - 1) < 0.02
