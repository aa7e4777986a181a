"""``Attention`` inside a ``Stack``: every position scheme, rule, grouping and cache against float64 loops."""

import cmath
import math
import sys
from dataclasses import dataclass, field
from functools import partial
from unittest.mock import patch

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from zoo.blocks import ALiBi, Attention, Learned, NoPosition, RelativeBias, Rotary, Sinusoidal, Stack
from zoo.blocks.masks import EVERYTHING, BlockSparse, NotPadding, Past, SameDocument, Strided, Window

MODULE = sys.modules["zoo.blocks.attend"]
SCHEMES = [NoPosition, Sinusoidal, Learned, Rotary, RelativeBias, ALiBi]
thorough = settings(max_examples=35, deadline=None, derandomize=True)


class AttentionAlone(nn.Module):
    """A block without norm, residual and feed-forward: a stack of one is attention and positions only."""

    def __init__(self, attention):
        super().__init__()
        self.attention = attention

    def forward(self, x, around, cache=None):
        return self.attention(x, rule=around.rule, rotation=around.rotation, bias=around.bias, cache=cache)


@dataclass
class Remembered:
    """A cache of one layer, by concatenation."""

    length: int = 0
    slots: list = field(default_factory=list)

    def __getitem__(self, layer):
        return self

    def extend(self, k, v):
        self.slots.append((k, v))
        self.length += k.shape[2]
        return tuple(torch.cat(parts, dim=2) for parts in zip(*self.slots, strict=True))

    def recall(self):
        return self.extend(*self.slots.pop()) if self.slots else None


def normed(x, weight):
    return x / (x.pow(2).mean() + 1e-6).sqrt() * weight


def turned(x, position):
    """Rotary as multiplication of complex numbers: feature i and i + K/2 are one."""
    half = len(x) // 2
    turns = [cmath.exp(1j * position * 10_000 ** (-i / half)) for i in range(half)]
    z = torch.complex(x[:half], x[half:]) * torch.tensor(turns, dtype=torch.complex128)
    return torch.cat((z.real, z.imag))


def t5_bucket(distance, two_way, buckets, longest):
    """In whole numbers: the last k with (d / exact)^steps >= (longest / exact)^k, beyond the exact ones."""
    offset = 0
    if two_way:
        buckets //= 2
        offset, distance = (buckets if distance > 0 else 0), abs(distance)
    else:
        distance = max(0, -distance)
    exact = buckets // 2
    if distance < exact:
        return offset + distance
    steps, k = buckets - exact, 0
    while k < steps - 1 and distance**steps * exact ** (k + 1) >= longest ** (k + 1) * exact**steps:
        k += 1
    return offset + exact + k


def reference(attention, position, x, memory, sees, positions):
    """Row by row, from the module's weights and the papers' formulas."""
    heads, groups, width = attention.heads, attention.kv_heads, attention.d_head
    source = x if memory is None else memory
    if memory is None and isinstance(position, Learned):
        x = source = x + position.table.weight[positions]
    if memory is None and isinstance(position, Sinusoidal):
        d_model = x.shape[-1]
        waves = [
            [
                (math.sin, math.cos)[i % 2](p / 10_000 ** (i // 2 * 2 / d_model)) for i in range(d_model)
            ]
            for p in positions.flatten().tolist()
        ]  # fmt: skip
        x = source = x + torch.tensor(waves, dtype=x.dtype).view(*positions.shape, d_model)
    q, kv = attention.query(x), attention.key_value(source)
    where = positions.expand(len(x), -1).tolist()
    scale = width**-0.5 if attention.scale is None else attention.scale
    rows = []
    for b in range(len(x)):
        for t in range(x.shape[1]):
            row = []
            for h in range(heads):
                g = h // (heads // groups)
                query = q[b, t, h * width : (h + 1) * width]
                scores, values = [], []
                for s in range(source.shape[1]):
                    if not sees(b, t, s):
                        continue
                    key = kv[b, s, g * width : (g + 1) * width]
                    if attention.query_norm is not None:
                        key = normed(key, attention.key_norm.weight)
                    turned_query = query
                    if attention.query_norm is not None:
                        turned_query = normed(query, attention.query_norm.weight)
                    added = 0.0
                    if memory is None:
                        distance = where[b][s] - where[b][t]
                        if isinstance(position, Rotary):
                            turned_query, key = turned(turned_query, where[b][t]), turned(key, where[b][s])
                        if isinstance(position, RelativeBias):
                            added = position.table.weight[t5_bucket(distance, position.two_way, 8, 20), h]
                        if isinstance(position, ALiBi):
                            added = -abs(distance) * 2.0 ** (-8 * (h + 1) / heads)
                    scores.append((turned_query * key).sum() * scale + added)
                    values.append(kv[b, s, (groups + g) * width : (groups + g + 1) * width])
                if scores:
                    row.append((torch.stack(scores).softmax(0)[:, None] * torch.stack(values)).sum(0))
                else:
                    row.append(torch.zeros(width, dtype=x.dtype))
            rows.append(torch.cat(row))
    return attention.output(torch.stack(rows).view(len(x), x.shape[1], -1))


@st.composite
def attentions(draw):
    heads, groups = draw(st.sampled_from([(1, 1), (2, 2), (2, 1), (4, 2), (4, 1)]))
    torch.manual_seed(draw(st.integers(0, 10_000)))
    attention = Attention(
        d_model=6,
        heads=heads,
        kv_heads=groups,
        d_head=draw(st.sampled_from([2, 4])),
        qk_norm=draw(st.booleans()),
        scale=draw(st.sampled_from([None, 1.0])),
        bias=draw(st.booleans()),
    ).double()
    for parameter in attention.parameters():
        nn.init.normal_(parameter)
    return attention


@st.composite
def settings_of_self_attention(draw):
    """An attention, a rule with its predicate, positions, and how the row is cut into cached chunks."""
    attention = draw(attentions())
    batch, length = draw(st.integers(1, 2)), draw(st.integers(1, 9))
    past, random = draw(st.booleans()), torch.Generator().manual_seed(draw(st.integers(0, 10_000)))
    sees_rule, sees = (Past() if past else EVERYTHING), [lambda b, i, j: j <= i or not past]
    size = draw(st.integers(1, 3))
    variant, also = draw(
        st.sampled_from(
            [
                (EVERYTHING, lambda b, i, j: True),
                (Window(size), lambda b, i, j: abs(i - j) < size),
                (Strided(size), lambda b, i, j: abs(i - j) < size or abs(i - j) % size == 0),
                (BlockSparse(size), lambda b, i, j: i // size == j // size or j % size == size - 1),
            ]
        )
    )
    sees_rule, sees = sees_rule & variant, [*sees, also]
    positions, rule = torch.arange(length)[None], EVERYTHING
    batched = draw(st.sampled_from(["nothing", "right padding", "left padding", "packing"]))
    if batched == "packing":
        documents = torch.randint(0, 2, (batch, length), generator=random).cumsum(1)
        starts = torch.searchsorted(documents, documents)
        positions = torch.arange(length) - starts
        rule, numbers = SameDocument(documents), documents.tolist()
        sees.append(lambda b, i, j: numbers[b][i] == numbers[b][j])
    elif batched != "nothing":
        real = torch.arange(length) < torch.randint(0, length + 1, (batch, 1), generator=random)
        if batched == "left padding":
            real = real.flip(1)
            positions = (real.cumsum(1) - 1).clamp(min=0)
        rule, is_real = NotPadding(real), real.tolist()
        sees.append(lambda b, i, j: is_real[b][j])
    x = torch.randn(batch, length, 6, generator=random, dtype=torch.float64).requires_grad_()
    return attention, x, sees_rule, rule, lambda b, i, j: all(see(b, i, j) for see in sees), positions, past


def stack_of(attention, scheme, sees, past):
    more = {"buckets": 8, "longest": 20} if scheme is RelativeBias else {}
    position = scheme(
        d_model=6, d_head=attention.d_head, heads=attention.heads, length=12, two_way=not past, **more
    )
    return Stack(block=partial(AttentionAlone, attention), layers=1, sees=sees, position=position).double()


# Angles are float32 whatever the model is, as in every implementation of rotary and sinusoidal positions.
TOLERANCE = {Rotary: 1e-5, Sinusoidal: 1e-5}


@pytest.mark.parametrize("fused", [False, True], ids=["plain", "fused"])
@pytest.mark.parametrize("scheme", SCHEMES)
@given(case=settings_of_self_attention())
@thorough
def test_self_attention_under_any_rule_and_positions_is_the_papers(scheme, fused, case):
    attention, x, sees_rule, rule, sees, positions, past = case
    stack = stack_of(attention, scheme, sees_rule, past)
    leaves = [x, *stack.parameters()]
    with patch.object(MODULE, "_plain_is_faster", lambda q, keys: not fused):
        ours = stack(x, rule=rule, positions=positions)
        got = torch.autograd.grad(ours.square().sum(), leaves, allow_unused=True)
    theirs = reference(attention, stack.position, x, None, sees, positions)
    expected = torch.autograd.grad(theirs.square().sum(), leaves, allow_unused=True)
    tolerance = TOLERANCE.get(scheme, 1e-9)
    torch.testing.assert_close(ours, theirs, atol=tolerance, rtol=tolerance)
    for mine, other, leaf in zip(got, expected, leaves, strict=True):
        mine, other = (torch.zeros_like(leaf) if part is None else part for part in (mine, other))
        scale = other.abs().max().clamp(min=1)
        torch.testing.assert_close(mine / scale, other / scale, atol=10 * tolerance, rtol=10 * tolerance)


@pytest.mark.parametrize("scheme", SCHEMES)
@given(case=settings_of_self_attention(), cuts=st.lists(st.integers(1, 4), max_size=9))
@thorough
def test_in_cached_chunks_of_any_size_the_past_gives_the_same_as_in_one_piece(scheme, case, cuts):
    attention, x, sees_rule, rule, _, positions, _ = case
    stack = stack_of(attention, scheme, Past() & sees_rule, True)
    numbered = torch.equal(positions[0], torch.arange(x.shape[1]))
    with torch.no_grad():
        whole = stack(x, rule=rule, positions=positions)
        cache, parts = Remembered(), []
        while cache.length < x.shape[1]:
            start = cache.length
            end = min(start + (cuts[len(parts)] if len(parts) < len(cuts) else 1), x.shape[1])
            known = None if numbered and len(positions) == 1 else positions[:, :end]
            parts.append(stack(x[:, start:end], rule=rule, positions=known, cache=cache))
    torch.testing.assert_close(torch.cat(parts, dim=1), whole, atol=1e-9, rtol=1e-9)


@pytest.mark.parametrize("fused", [False, True], ids=["plain", "fused"])
@given(
    attention=attentions(), batch=st.integers(1, 3), queries=st.integers(1, 6), keys=st.integers(1, 7),
    padded=st.booleans(), seed=st.integers(0, 1000),
)  # fmt: skip
@thorough
def test_cross_attention_reads_the_memory_and_remembers_it(
    fused, attention, batch, queries, keys, padded, seed
):
    random = torch.Generator().manual_seed(seed)
    x, memory = (torch.randn(batch, n, 6, generator=random, dtype=torch.float64) for n in (queries, keys))
    real = (torch.rand(batch, keys, generator=random) < 0.6) if padded else torch.ones(batch, keys).bool()
    rule, is_real = NotPadding(real) if padded else EVERYTHING, real.tolist()
    x.requires_grad_()
    memory.requires_grad_()
    leaves, cache = [x, memory, *attention.parameters()], Remembered()
    with patch.object(MODULE, "_plain_is_faster", lambda q, keys: not fused):
        ours = attention(x, memory=memory, rule=rule, cache=cache)
        again = attention(x, memory=torch.full_like(memory, torch.nan), rule=rule, cache=cache)
        got = torch.autograd.grad(ours.square().sum(), leaves)
    positions = torch.arange(queries)[None]
    theirs = reference(attention, None, x, memory, lambda b, i, j: is_real[b][j], positions)
    expected = torch.autograd.grad(theirs.square().sum(), leaves, allow_unused=True)
    torch.testing.assert_close(ours, theirs, atol=1e-9, rtol=1e-9)
    torch.testing.assert_close(again, ours, atol=0, rtol=0)  # the memory is read once
    for mine, other, leaf in zip(got, expected, leaves, strict=True):
        torch.testing.assert_close(
            mine, torch.zeros_like(leaf) if other is None else other, atol=1e-8, rtol=1e-8
        )


@given(attention=attentions(), seed=st.integers(0, 1000))
@thorough
def test_grouped_heads_are_multi_head_attention_with_repeated_keys_and_values(attention, seed):
    share, width = attention.heads // attention.kv_heads, attention.d_head
    full = Attention(
        d_model=6, heads=attention.heads, d_head=width, qk_norm=attention.query_norm is not None,
        scale=attention.scale, bias=attention.query.bias is not None,
    ).double()  # fmt: skip
    state = attention.state_dict()
    for name in state:
        if name.startswith("key_value"):
            parts = state[name].unflatten(0, (2, attention.kv_heads, width))
            state[name] = parts.repeat_interleave(share, dim=1).flatten(0, 2)
    full.load_state_dict(state)
    x = torch.randn(2, 5, 6, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    torch.testing.assert_close(attention(x, rule=Past()), full(x, rule=Past()), atol=1e-10, rtol=1e-10)


def test_fewer_key_value_heads_hold_fewer_weights():
    sizes = [
        sum(p.numel() for p in Attention(d_model=16, heads=8, kv_heads=kv, bias=False).parameters())
        for kv in (8, 2, 1)
    ]
    assert sizes == [4 * 256, 2 * 256 + 2 * 16 * 4, 2 * 256 + 2 * 16 * 2]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("fused", [False, True], ids=["plain", "fused"])
def test_under_bfloat16_autocast_and_in_a_bfloat16_model_the_output_is_near_float32(scheme, fused):
    """At positions past 256, which bfloat16 cannot tell apart."""
    torch.manual_seed(0)
    attention = Attention(d_model=32, heads=4)
    position = scheme(d_model=32, d_head=8, heads=4, length=1200, two_way=False)
    stack = Stack(block=partial(AttentionAlone, attention), layers=1, sees=Past(), position=position)
    x = torch.randn(2, 24, 32)
    positions = torch.arange(24)[None] + 1000
    rule = NotPadding(torch.arange(24)[None] < torch.tensor([[24], [11]]))
    with patch.object(MODULE, "_plain_is_faster", lambda q, keys: not fused):
        exact = stack(x, rule=rule, positions=positions)
        with torch.autocast("cpu", torch.bfloat16):
            mixed = stack(x, rule=rule, positions=positions)
        torch.set_default_dtype(torch.bfloat16)  # as Lightning does with precision=bf16-true
        try:
            low = stack.bfloat16()(x.bfloat16(), rule=rule, positions=positions)
        finally:
            torch.set_default_dtype(torch.float32)
    scale = exact.abs().max()
    for near in (mixed, low):
        near.float().sum().backward()
        torch.testing.assert_close(near.float() / scale, exact / scale, atol=0.03, rtol=0)
    assert all(
        parameter.grad.isfinite().all() for parameter in stack.parameters() if parameter.grad is not None
    )
