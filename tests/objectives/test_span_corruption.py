"""Closed-form lengths, exact round trip, every token within reach of the noise, sentinels by name."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from zoo.objectives import SpanCorruption
from zoo.objectives.span_corruption import corrupt, noise_mask, shift_right
from zoo.plan.lengths import lengths, spans

SENTINELS = np.array([907, 3, 555, 31, *range(600, 800)])  # in no order: only their names count
EOS = 999


def rebuilt(inputs, targets):
    """The text, from what the encoder reads and what the decoder writes."""
    found, current = {}, None
    for token in targets[:-1].tolist():
        if token in SENTINELS:
            current = found.setdefault(token, [])
        else:
            current.append(token)
    return [token for item in inputs[:-1].tolist() for token in found.get(item, [item])]


cases = st.tuples(st.integers(8, 300), st.floats(0.01, 0.95), st.floats(1.0, 12.0), st.integers(0, 2**32))


@settings(deadline=None, max_examples=150)
@given(cases)
def test_inputs_and_targets_rebuild_the_text_and_have_the_planned_lengths(case):
    n, density, mean_span, seed = case
    objective = {"name": "span_corruption", "density": density, "mean_span": mean_span}
    row = lengths(objective, n)
    rng = np.random.default_rng(seed)
    text = rng.integers(1000, 2000, (4, n))
    noise = noise_mask(4, n, rng, density=density, mean_span=mean_span)
    inputs, targets = corrupt(text, noise, SENTINELS, EOS)
    assert inputs.shape == (4, row.inputs)
    assert targets.shape == (4, row.targets)
    assert [rebuilt(x, y) for x, y in zip(inputs, targets, strict=True)] == text.tolist()
    assert (inputs[:, -1] == EOS).all()
    assert (targets[:, -1] == EOS).all()


@settings(deadline=None, max_examples=80)
@given(cases)
def test_every_row_loses_the_same_number_of_tokens_in_the_same_number_of_spans(case):
    n, density, mean_span, seed = case
    noise = noise_mask(6, n, np.random.default_rng(seed), density=density, mean_span=mean_span)
    tokens, count = spans(n, density, mean_span)
    assert (noise.sum(1) == tokens).all()
    starts = noise & ~np.pad(noise, ((0, 0), (1, 0)))[:, :-1]
    assert (starts.sum(1) == count).all()
    assert 1 <= count <= min(tokens, n - tokens)


def test_positions_inside_are_cut_out_equally_often_and_the_first_and_last_can_be():
    """T5's released mask never cuts out the first token and always the last.  (Spans are whole, so the edges are
    reached by fewer of them.)"""
    noise = np.concatenate(
        [noise_mask(500, 40, np.random.default_rng(seed), density=0.15, mean_span=3.0) for seed in range(40)]
    )
    rates = noise.mean(0)
    assert 0.13 < rates[5:-5].min() < rates[5:-5].max() < 0.18
    assert 0.03 < min(rates[0], rates[-1]) < max(rates[0], rates[-1]) < 0.15
    assert abs(rates[0] - rates[-1]) < 0.01


def test_sentinels_are_used_in_their_order_by_name(make_rows, tokenizer):
    rows = make_rows([200] * 10, 60, [0, 300])
    batch = SpanCorruption()(rows, np.random.default_rng(0))
    count = spans(60, 0.15, 3.0)[1]
    for side in (batch.inputs, batch.labels.reshape(batch.targets.shape)):
        found = [[tokenizer.token(t) for t in row if t in tokenizer.sentinels] for row in side.tolist()]
        assert found == [[f"<extra_id_{i}>" for i in range(count)]] * 2
    assert (batch.targets == shift_right(batch.labels.reshape(2, -1), tokenizer.bos)).all()
    assert (batch.targets[:, 0] == tokenizer.bos).all()
