"""Row lengths are closed forms: checked for every row length from 8 to 2048, and for any density and span."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zoo.plan.lengths import Lengths, lengths, spans

SPANS = {"name": "span_corruption", "density": 0.15, "mean_span": 3.0}
ROWS = range(8, 2049)
thorough = settings(max_examples=500, deadline=None, derandomize=True)
anything = {
    "source": st.integers(2, 4096),
    "density": st.floats(0.0, 1.0),
    "mean_span": st.floats(0.5, 64.0),
}


@given(**anything)
@thorough
def test_spans_and_what_lies_between_them_always_fit_the_row(source, density, mean_span):
    """At least one token of noise and one of text; never more spans than tokens of either (HF #22246)."""
    noise, count = spans(source, density, mean_span)
    assert 1 <= noise <= source - 1
    assert 1 <= count <= min(noise, source - noise)


@given(**anything)
@thorough
def test_noise_is_as_dense_and_spans_as_long_as_asked_to_the_nearest_whole_number(source, density, mean_span):
    noise, count = spans(source, density, mean_span)
    if 1 <= source * density <= source - 1:
        assert abs(noise - source * density) <= 0.5
    if 1 <= noise / mean_span <= min(noise, source - noise):
        assert abs(count - noise / mean_span) <= 0.5


@given(**anything)
@thorough
def test_inputs_and_targets_hold_every_token_once_a_sentinel_per_span_each_and_two_ends(
    source, density, mean_span
):
    row = lengths({**SPANS, "density": density, "mean_span": mean_span}, source)
    noise, count = spans(source, density, mean_span)
    assert row.source == source
    assert row.inputs == (source - noise) + count + 1
    assert row.targets == noise + count + 1
    assert row.inputs + row.targets == source + 2 * count + 2
    assert row.loss == row.targets


def test_span_corruption_at_15_percent_is_t5s_released_formula():
    for source in ROWS:
        noise = round(source * 0.15)
        between = source - noise
        count = round(noise / 3.0)
        row = lengths(SPANS, source)
        expected = (between + max(count, 1) + 1, noise + max(count, 1) + 1)
        assert (row.inputs, row.targets) == expected, source


def test_t5s_published_lengths():
    """568 tokens of text give the paper's 512 inputs and 114 targets."""
    assert (lengths(SPANS, 568).inputs, lengths(SPANS, 568).targets) == (512, 114)
    assert lengths(SPANS, 569).inputs > 512


@pytest.mark.parametrize("mean_span", [1.0, 3.0, 10.0])
@pytest.mark.parametrize("density", [0.05, 0.15, 0.5])
def test_a_longer_row_never_has_shorter_inputs_or_targets(density, mean_span):
    rows = [lengths({**SPANS, "density": density, "mean_span": mean_span}, source) for source in ROWS]
    for before, after in pairwise(rows):
        assert before.targets <= after.targets
        assert before.inputs + before.targets < after.inputs + after.targets
        assert before.inputs - 1 <= after.inputs


def test_causal_rows_are_as_long_as_their_source_and_every_token_counts():
    for source in ROWS:
        assert lengths({"name": "causal_lm"}, source) == Lengths(source, source, 0, source)


def test_of_a_prefix_row_as_much_counts_as_the_mean_over_all_places_to_split_it():
    """Split after k tokens, source + 1 - k follow, the one after the row included."""
    for source in ROWS:
        row = lengths({"name": "prefix_lm"}, source)
        assert (row.source, row.inputs, row.targets) == (source, source, 0)
        assert row.loss == sum(source + 1 - k for k in range(1, source + 1)) / source


@given(source=st.sampled_from(ROWS), rate=st.floats(0.01, 1.0), pair=st.booleans())
@thorough
def test_masked_rows_add_their_special_tokens_and_the_expected_share_counts(source, rate, pair):
    row = lengths({"name": "masked_lm", "rate": rate, "next_sentence": pair}, source)
    assert row.inputs == source + (3 if pair else 2)  # <cls> A <sep> B <sep>, <cls> A <sep>
    assert (row.source, row.targets) == (source, 0)
    assert row.loss == pytest.approx(rate * source)


def test_masked_diffusion_masks_from_one_token_to_all_of_a_row_and_each_number_is_as_likely():
    for source in ROWS:
        row = lengths({"name": "masked_diffusion"}, source)
        assert row == Lengths(source, source + 2, 0, sum(range(1, source + 1)) / source)
