"""Intervals hold what they say they hold; Holm is Holm."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from zoo.report.read import Items
from zoo.report.statistics import (
    Mean,
    Term,
    combine,
    crossed,
    holm,
    over_seeds,
    t_probability,
    t_quantile,
)

SEEDS = 5
TRUTH = 0.05


def covered(mean, truth=TRUTH):
    """Whether the 95 % interval holds it, without inverting Student's distribution."""
    return t_probability(abs(mean.value - truth) / mean.error, mean.df) <= 0.975


def differences(rng, seeds, stories, seed_sd, story_sd, rest_sd):
    """A table (S, C) of differences of two models, paired by seed and story."""
    return (
        TRUTH
        + seed_sd * rng.normal(size=(seeds, 1))
        + story_sd * rng.normal(size=(1, stories))
        + rest_sd * rng.normal(size=(seeds, stories))
    )


# From seeds that hardly matter to seeds that matter most; the ends, where nothing but noise varies, are wider still.
@pytest.mark.parametrize(
    ("stories", "seed_sd", "story_sd", "rest_sd"),
    [(200, 0.02, 0.2, 0.2), (200, 0.05, 0.3, 0.5), (200, 0.2, 0.3, 0.5), (40, 0.05, 0.5, 0.1), (40, 0.2, 0.2, 0.2)],
)  # fmt: skip
def test_a_known_difference_is_in_93_to_97_percent_of_the_intervals(stories, seed_sd, story_sd, rest_sd):
    rng = np.random.default_rng(1)
    tables = (differences(rng, SEEDS, stories, seed_sd, story_sd, rest_sd) for _ in range(2000))
    assert 0.93 <= np.mean([covered(crossed(table)) for table in tables]) <= 0.97


def test_what_was_not_chosen_does_not_cover():
    """Resampling five seeds and the stories, and items alone: both miss far more often than one time in twenty."""
    rng = np.random.default_rng(2)
    bootstrap, items_alone, rounds, stories = 0, 0, 300, 100
    for _ in range(rounds):
        table = differences(rng, SEEDS, stories, 0.2, 0.2, 0.3)
        rows = rng.integers(SEEDS, size=(400, SEEDS))
        weights = rng.multinomial(stories, [1 / stories] * stories, size=400) / stories
        means = np.einsum("bsc,bc->b", table[rows] / SEEDS, weights)
        low, high = np.quantile(means, [0.025, 0.975])
        bootstrap += low <= TRUTH <= high
        mean = table.mean(axis=0)
        items_alone += abs(mean.mean() - TRUTH) <= 1.96 * mean.std(ddof=1) / np.sqrt(stories)
    assert bootstrap / rounds < 0.92
    assert items_alone / rounds < 0.8


def test_right_or_wrong_items_in_stories_of_unequal_size_are_covered():
    """The path that the report takes: items in, a weighted difference of two models out."""
    rng = np.random.default_rng(3)
    story = np.array([f"test-{k}" for k in range(120) for _ in range(1 + k % 4)])
    number = np.unique(story, return_inverse=True)[1]
    item = np.array([f"{name}/{k}" for k, name in enumerate(story)])
    marked = np.zeros(len(item), dtype=bool)

    def answers(level, hard):
        chances = np.clip(level + hard[number] + rng.normal(0, 0.04), 0, 1)
        return Items(item, story, (rng.random(len(item)) < chances).astype(float), marked)

    hits = []
    for _ in range(700):
        one = {seed: answers(0.65, rng.normal(0, 0.1, 120)) for seed in range(SEEDS)}
        hard = rng.normal(0, 0.1, 120)
        two = {seed: answers(0.55, hard) for seed in range(SEEDS)}
        mean = combine([Term(1.0, one), Term(-0.5, two)], constant=-0.3)
        hits.append(covered(mean, 0.65 - 0.5 * 0.55 - 0.3))
    assert 0.93 <= np.mean(hits) <= 0.98


def make_items(scores, per_story=2):
    names = [f"test-{k // per_story}/{k % per_story}" for k in range(len(scores))]
    story = np.array([name.split("/")[0] for name in names])
    return Items(np.array(names), story, np.array(scores, dtype=float), np.zeros(len(scores), dtype=bool))


@given(st.data())
def test_the_estimate_is_the_mean_difference_within_seeds(data):
    scores = st.lists(st.floats(0, 1), min_size=6, max_size=6)
    one = {seed: make_items(data.draw(scores)) for seed in range(3)}
    two = {seed: make_items(data.draw(scores)) for seed in range(3)}
    mean = combine([Term(1.0, one), Term(-1.0, two)])
    pairs = [(one[seed].score - two[seed].score).mean() for seed in range(3)]
    assert mean.value == pytest.approx(np.mean(pairs), abs=1e-12)
    # No narrower than the seeds alone, and no narrower than the stories alone.
    assert mean.error >= np.std(pairs, ddof=1) / np.sqrt(3) - 1e-9
    assert (mean.seeds, mean.stories) == (3, 3)


def test_pairing_removes_what_both_share():
    rng = np.random.default_rng(4)
    hard = rng.normal(0, 0.3, 50)
    one = {seed: make_items(0.6 + hard + rng.normal(0, 0.01, 50)) for seed in range(3)}
    two = {seed: make_items(0.5 + hard + rng.normal(0, 0.01, 50)) for seed in range(3)}
    alone, paired = combine([Term(1.0, one)]), combine([Term(1.0, one), Term(-1.0, two)])
    assert paired.error < alone.error / 5
    assert paired.p_above() < 0.001


def test_seeds_that_one_side_lacks_and_items_with_nothing_to_score_do_not_count():
    one = {seed: make_items([1.0, 0.0, 1.0, 1.0]) for seed in (0, 1, 2)}
    two = {seed: make_items([0.0, np.nan, 0.0, 1.0]) for seed in (1, 2, 7)}
    mean = combine([Term(1.0, one), Term(-1.0, two)])
    assert mean.seeds == 2
    assert mean.value == pytest.approx(0.75 - 1 / 3)
    assert combine([Term(1.0, one), Term(1.0, {9: two[1]})]) is None


def test_what_does_not_vary_has_no_width_and_one_value_no_interval():
    assert over_seeds([0.25, 0.25, 0.25]).interval() == (0.25, 0.25)
    assert over_seeds([0.25, 0.25]).p_above() == 0
    assert over_seeds([0.0, 0.0]).p_above() == 1
    assert over_seeds([0.25]).half() == np.inf
    assert over_seeds([0.25]).p_above() == 1
    assert over_seeds([]) is None


@given(st.floats(-1, 1), st.floats(0.01, 1), st.floats(1, 50))
def test_p_below_a_twentieth_is_an_interval_above_nothing(value, error, df):
    mean = Mean(value, error, df, 5, 5)
    if abs(mean.interval()[0]) > 1e-9:
        assert (mean.p_above() < 0.05) == (mean.interval()[0] > 0)


@pytest.mark.parametrize(
    ("df", "quantile"), [(1, 12.7062047), (2, 4.3026527), (4, 2.7764451), (30, 2.0422725), (1e6, 1.9599664)]
)
def test_student_s_quantiles_are_those_of_the_tables(df, quantile):
    assert t_quantile(0.975, df) == pytest.approx(quantile, abs=1e-6)


@given(st.floats(-20, 20), st.floats(1, 200))
def test_student_s_distribution_is_symmetric_and_its_quantile_its_inverse(t, df):
    assert t_probability(t, df) + t_probability(-t, df) == pytest.approx(1, abs=1e-10)
    if abs(t) < 5:
        assert t_quantile(t_probability(t, df), df) == pytest.approx(t, abs=1e-5)


@given(st.lists(st.floats(0, 0.2), min_size=1, max_size=12), st.floats(0.001, 0.5))
@example([0.04, 0.045], 0.05)  # the smaller one is not rejected, so neither is the other
def test_holm_rejects_what_the_step_down_procedure_rejects(p, alpha):
    """Literally: from the smallest on, reject while p <= alpha / (how many are left)."""
    left, rejected = sorted(range(len(p)), key=lambda i: p[i]), set()
    while left and p[left[0]] <= alpha / len(left):
        rejected.add(left.pop(0))
    adjusted = holm(p)
    near = [i for i in range(len(p)) if abs(adjusted[i] - alpha) < 1e-12]  # rounding may go either way
    assert {i for i in range(len(p)) if adjusted[i] <= alpha} | set(near) == rejected | set(near)
