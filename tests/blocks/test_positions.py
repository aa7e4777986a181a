"""The position schemes against their papers' formulas and promises."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers.models.t5.modeling_t5 import T5Attention

from zoo.blocks import ALiBi, Learned, RelativeBias, Rotary, Sinusoidal
from zoo.blocks.positions import alibi_slopes, rotate

thorough = settings(max_examples=100, deadline=None, derandomize=True)
positions = st.integers(0, 500)
widths = st.integers(1, 8).map(lambda half: 2 * half)


def normal(seed, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@given(m=positions, n=positions, shift=positions, width=widths, seed=st.integers(0, 1000))
@thorough
def test_rotary_scores_depend_on_the_difference_of_positions_only(m, n, shift, width, seed):
    rotary, (q, k) = Rotary(d_head=width), normal(seed, 2, 1, 1, 1, width)

    def score(at_query, at_key):
        turned = [rotate(x, rotary.rotation(torch.tensor([[at]]))) for x, at in ((q, at_query), (k, at_key))]
        return (turned[0] * turned[1]).sum().item()

    assert score(m, n) == pytest.approx(score(m + shift, n + shift), abs=2e-3)


@given(at=positions, width=widths, seed=st.integers(0, 1000))
@thorough
def test_rotary_keeps_lengths_and_turns_nothing_at_position_zero(at, width, seed):
    rotary, x = Rotary(d_head=width), normal(seed, 1, 3, 1, width)
    turned = rotate(x, rotary.rotation(torch.tensor([[at]])))
    torch.testing.assert_close(turned.norm(dim=-1), x.norm(dim=-1), atol=1e-6, rtol=1e-6)
    torch.testing.assert_close(rotate(x, rotary.rotation(torch.tensor([[0]]))), x)


@given(at=positions, width=widths)
@thorough
def test_rotary_turns_pair_i_by_the_position_times_its_frequency(at, width):
    half = width // 2
    for i in range(half):
        x = torch.zeros(1, 1, 1, width)
        x[..., i] = 1
        turned = rotate(x, Rotary(d_head=width).rotation(torch.tensor([[at]]))).flatten()
        angle = at * 10_000 ** (-2 * i / width)
        assert turned[i].item() == pytest.approx(math.cos(angle), abs=1e-4)
        assert turned[half + i].item() == pytest.approx(math.sin(angle), abs=1e-4)


@given(at=positions, width=widths)
@thorough
def test_sinusoidal_is_the_papers_formula(at, width):
    encoding = Sinusoidal(d_model=width).embed(torch.tensor([[at]])).flatten()
    for i in range(width // 2):
        angle = at / 10_000 ** (2 * i / width)
        assert encoding[2 * i].item() == pytest.approx(math.sin(angle), abs=1e-4)
        assert encoding[2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-4)


@given(offset=st.integers(0, 100), width=widths)
@thorough
def test_sinusoidal_at_an_offset_is_one_linear_function_of_the_encoding(offset, width):
    """PE(p + k) = M(k) PE(p) with the same M(k) for every p (Vaswani et al. 2017, 3.5)."""
    encoding = Sinusoidal(d_model=width).embed(torch.arange(400)[None])[0].double()
    before, after = encoding[: 400 - offset], encoding[offset:]
    angles = torch.tensor(
        [offset / 10_000 ** (2 * i / width) for i in range(width // 2)], dtype=torch.float64
    )
    turns = torch.stack((angles.cos(), angles.sin(), -angles.sin(), angles.cos()), dim=-1).view(-1, 2, 2)
    matrix = torch.block_diag(*turns)
    torch.testing.assert_close(before @ matrix.T, after, atol=1e-4, rtol=0)


@given(length=st.integers(1, 30), width=widths, seed=st.integers(0, 100))
@thorough
def test_learned_positions_are_rows_of_a_table_and_end_with_it(length, width, seed):
    scheme = Learned(d_model=width, length=length)
    where = torch.randint(0, length, (2, 5), generator=torch.Generator().manual_seed(seed))
    torch.testing.assert_close(scheme.embed(where), scheme.table.weight[where])
    with pytest.raises(IndexError):
        scheme.embed(torch.tensor([[length]]))


def test_alibi_slopes_are_the_papers():
    """8 heads: 1/2, 1/4, ... 1/256; 16 heads: every geometric step between (Press et al. 2022, 3)."""
    assert alibi_slopes(8) == [2.0**-i for i in range(1, 9)]
    assert alibi_slopes(16) == pytest.approx([2 ** (-i / 2) for i in range(1, 17)])
    assert alibi_slopes(4) == [1 / 4, 1 / 16, 1 / 64, 1 / 256]


@given(heads=st.integers(1, 64))
@thorough
def test_alibi_gives_every_head_a_slope_of_its_own_in_the_papers_range(heads):
    """Where heads are no power of two: the next lower one's, then every other one of twice as many."""
    slopes, lower = alibi_slopes(heads), 2 ** int(math.log2(heads))
    assert len(slopes) == len(set(slopes)) == heads
    assert all(2.0**-8 <= slope < 1 for slope in slopes)
    assert slopes[:lower] == alibi_slopes(lower)
    assert slopes[lower:] == alibi_slopes(2 * lower)[::2][: heads - lower]


@given(heads=st.integers(1, 8), first=st.integers(0, 300), queries=st.integers(1, 5), keys=st.integers(1, 9))
@thorough
def test_alibi_costs_its_slope_per_step_of_distance(heads, first, queries, keys):
    at_query, at_key = torch.arange(first, first + queries)[None], torch.arange(keys)[None]
    bias = ALiBi(heads=heads).bias(at_query, at_key)
    assert bias.shape == (1, heads, queries, keys)
    for h, slope in enumerate(alibi_slopes(heads)):
        for t in range(queries):
            for s in range(keys):
                assert bias[0, h, t, s].item() == pytest.approx(-slope * abs(first + t - s))


def bucket_by_whole_numbers(distance, two_way, buckets, longest):
    """The last k with (d / exact)^steps >= (longest / exact)^k, beyond the buckets of one distance each."""
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


@pytest.mark.parametrize("two_way", [True, False])
@pytest.mark.parametrize(("buckets", "longest"), [(32, 128), (16, 64), (8, 20), (20, 77), (32, 1000)])
def test_t5_buckets_are_the_papers_and_hugging_faces(two_way, buckets, longest):
    distances = torch.arange(-1200, 1201)
    ours = RelativeBias(heads=1, two_way=two_way, buckets=buckets, longest=longest).bucket(distances)
    expected = [bucket_by_whole_numbers(d, two_way, buckets, longest) for d in distances.tolist()]
    assert ours.tolist() == expected
    theirs = T5Attention._relative_position_bucket(distances, two_way, buckets, longest)
    assert torch.equal(ours, theirs)
    assert set(ours.tolist()) == set(range(buckets)) - ({buckets // 2} if two_way else set())


@given(length=st.integers(1, 12), shift=st.integers(0, 400), two_way=st.booleans())
@thorough
def test_t5_bias_is_the_tables_entry_for_the_distance_wherever_the_row_starts(length, shift, two_way):
    scheme = RelativeBias(heads=3, two_way=two_way)
    where = torch.arange(length)[None]
    bias = scheme.bias(where, where)
    torch.testing.assert_close(scheme.bias(where + shift, where + shift), bias)
    for t in range(length):
        for s in range(length):
            row = scheme.table.weight[scheme.bucket(torch.tensor(s - t))]
            assert torch.equal(bias[0, :, t, s], row)


@pytest.mark.parametrize("default", [torch.float32, torch.bfloat16])
def test_t5_buckets_do_not_depend_on_the_default_dtype(default):
    """Lightning's precision=bf16-true sets it."""
    scheme, distances = RelativeBias(heads=1, two_way=True, longest=1000), torch.arange(-1200, 1201)
    expected = scheme.bucket(distances)
    torch.set_default_dtype(default)
    try:
        assert torch.equal(scheme.bucket(distances), expected)
    finally:
        torch.set_default_dtype(torch.float32)
