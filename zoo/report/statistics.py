"""Intervals for means over seeds and stories, and Holm's correction.

Every model of a comparison answers the same items, and seeds are paired: a difference varies with the seed (another
initialisation), with the story (which makes all its items easier for one side), and with both. Seeds and stories are
crossed random factors, and the interval has to hold the difference for seeds and stories not drawn.

Shape letters: S seeds, C clusters (stories).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from zoo.report.read import Items


@dataclass(frozen=True)
class Mean:
    """An estimate, its standard error, the degrees of freedom of that, and over how many seeds and stories.

    With one seed the error is that of the items alone, and too small: ``seeds`` says so.
    """

    value: float
    error: float
    df: float
    seeds: int
    stories: int

    def half(self, level: float = 0.95) -> float:
        """Half the width of the two-sided interval; infinite where nothing varies that could be measured."""
        if math.isinf(self.error) or self.error == 0:
            return self.error
        return t_quantile(0.5 + level / 2, self.df) * self.error

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        half = self.half(level)
        return self.value - half, self.value + half

    def p_above(self) -> float:
        """How surprising so large a value were if the truth were not above 0: twice the one-sided p, at most 1.

        Twice, so that p < 0.05 is the same as a 95 % interval above 0.
        """
        if self.error == 0:
            return 0.0 if self.value > 0 else 1.0
        if math.isinf(self.error):
            return 1.0
        return min(1.0, 2 * (1 - t_probability(self.value / self.error, self.df)))

    def __neg__(self) -> Mean:
        return Mean(-self.value, self.error, self.df, self.seeds, self.stories)


def crossed(table: np.ndarray) -> Mean:
    """The mean of ``table`` (S, C), whose rows and columns were both drawn from many.

    The mean's variance is estimated by mean squares as (rows + columns - rest) / (S C), never below either of its
    parts, with Satterthwaite's degrees of freedom (Searle, Casella & McCulloch, Variance Components, 1992, ch. 4;
    Satterthwaite 1946). A bootstrap over five seeds is too narrow: it loses a fifth of the seeds' variance, and
    Student's wider quantile. tests/report/test_statistics.py simulates both.
    """
    rows, columns = table.shape
    value = float(table.mean())
    if rows == 1:
        if columns == 1:
            return Mean(value, math.inf, 1, 1, 1)
        return Mean(value, float(table.std(ddof=1)) / math.sqrt(columns), columns - 1, 1, columns)
    by_row, by_column = table.mean(axis=1), table.mean(axis=0)
    row = columns * float(by_row.var(ddof=1))
    if columns == 1:
        return Mean(value, math.sqrt(row / rows), rows - 1, rows, 1)
    column = rows * float(by_column.var(ddof=1))
    rest_df = (rows - 1) * (columns - 1)
    rest = float(((table - by_row[:, None] - by_column[None] + value) ** 2).sum()) / rest_df
    total = row + column - rest
    if total > max(row, column):
        spread = row**2 / (rows - 1) + column**2 / (columns - 1) + rest**2 / rest_df
    else:
        total, df = max((row, rows - 1), (column, columns - 1))
        spread = total**2 / df
    if total <= 1e-24:  # rounding: nothing varies
        return Mean(value, 0.0, rows - 1, rows, columns)
    return Mean(value, math.sqrt(total / (rows * columns)), total**2 / spread, rows, columns)


@dataclass(frozen=True)
class Term:
    """``weight`` x the mean score of one group of runs on one task: its items by seed."""

    weight: float
    items: Mapping[int, Items]


def combine(terms: Sequence[Term], constant: float = 0.0) -> Mean | None:
    """constant + the weighted sum of mean scores, paired by seed and by story; None without a seed that all have.

    A mean over items is a ratio of sums over stories, so that each story enters with what it moves the sum (its
    influence): stories of unequal size, tasks that share stories, and items with nothing to score need no special case.
    """
    seeds = sorted(set.intersection(*(set(term.items) for term in terms))) if terms else []
    if not seeds:
        return None
    stories = np.unique(np.concatenate([term.items[seed].story for term in terms for seed in seeds]))
    value, influence = constant, np.zeros((len(seeds), len(stories)))
    for term in terms:
        scored = [_scored(term.items[seed]) for seed in seeds]
        if not all(len(score) for _, score in scored):
            return None
        mean = float(np.mean([score.mean() for _, score in scored]))
        value += term.weight * mean
        for row, (story, score) in zip(influence, scored, strict=True):
            np.add.at(row, np.searchsorted(stories, story), term.weight * (score - mean) / len(score))
    return crossed(value + len(stories) * influence)


def _scored(items: Items) -> tuple[np.ndarray, np.ndarray]:
    known = ~np.isnan(items.score)
    return items.story[known], items.score[known]


def over_seeds(values: Sequence[float]) -> Mean | None:
    """The mean of one value per seed, where there are no items to look into."""
    return crossed(np.array(values, dtype=float)[:, None]) if len(values) else None


def holm(p: Sequence[float]) -> list[float]:
    """Adjusted p-values: the chance of any false rejection among all stays below the level (Holm 1979)."""
    adjusted, largest = [0.0] * len(p), 0.0
    for rank, i in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        largest = max(largest, min(1.0, (len(p) - rank) * p[i]))
        adjusted[i] = largest
    return adjusted


def t_probability(t: float, df: float) -> float:
    """P(T <= t) of Student's distribution, by the continued fraction of the incomplete beta function.

    (Abramowitz & Stegun 26.7.1; Lentz's method as in Numerical Recipes, 6.4.) Right to about 1e-12.
    """
    tail = 0.5 * _incomplete_beta(df / (df + t * t), df / 2, 0.5)
    return 1 - tail if t > 0 else tail


def t_quantile(probability: float, df: float) -> float:
    """The t below which Student's distribution has ``probability``, by bisection."""
    low, high = -1e6, 1e6
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if t_probability(middle, df) < probability else (low, middle)
    return (low + high) / 2


def _incomplete_beta(x: float, a: float, b: float) -> float:
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(1 - x, b, a)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    tiny = 1e-300
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1) or tiny)
    fraction = d
    for m in range(1, 500):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / (1 + numerator * d or tiny)
            c = 1 + numerator / c or tiny
            fraction *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return front * fraction / a
