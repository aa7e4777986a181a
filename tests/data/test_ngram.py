"""The baselines against plain implementations written from the formulas."""

import math
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zoo.data.ngram import KneserNey, TwoSidedTrigram

V = 5
STREAMS = st.lists(st.integers(0, V - 1), min_size=1, max_size=120).map(np.array)


class PlainKneserNey:
    """Interpolated modified Kneser-Ney in dictionaries, one probability at a time."""

    def __init__(self, words, order):
        self.count = [Counter() for _ in range(order + 1)]
        self.count[order] = Counter(tuple(words[i : i + order]) for i in range(len(words) - order + 1))
        for n in range(1, order):
            longer = {tuple(words[i : i + n + 1]) for i in range(len(words) - n)}
            self.count[n] = Counter(gram[1:] for gram in longer)
        self.followers = [defaultdict(dict) for _ in range(order + 1)]
        for n in range(1, order + 1):
            for gram, c in self.count[n].items():
                self.followers[n][gram[:-1]][gram[-1]] = c
        self.d = [self.discounts(counts.values()) for counts in self.count]
        self.order = order

    @staticmethod
    def discounts(counts):
        n = Counter(counts)
        result = {0: 0.0}
        for c in (1, 2, 3):
            y = n[1] / (n[1] + 2 * n[2]) if n[1] else 0
            d = c - (c + 1) * y * n[c + 1] / n[c] if n[c] else 0
            result[c] = d if 0 < d <= c else c / 2
        return result

    def p(self, word, context):
        n = len(context) + 1
        below = self.p(word, context[1:]) if context else 1 / V
        seen = self.followers[n][context]
        if not seen:
            return below
        total, d = sum(seen.values()), self.d[n]
        c = seen.get(word, 0)
        left = sum(d[min(count, 3)] for count in seen.values())
        return (c - d[min(c, 3)] + left * below) / total


@given(train=STREAMS, text=STREAMS, order=st.integers(1, 5))
def test_kneser_ney_is_the_formula(train, text, order):
    model, plain = KneserNey(order).fit(train, V), PlainKneserNey(train.tolist(), order)
    words = text.tolist()
    expected = [plain.p(w, tuple(words[max(i - order + 1, 0) : i])) for i, w in enumerate(words)]
    np.testing.assert_allclose(np.exp(model.log_probabilities(text)), expected, rtol=1e-9)


@given(train=STREAMS, context=st.lists(st.integers(0, V - 1), max_size=8), order=st.integers(1, 5))
def test_probabilities_sum_to_one_and_are_those_of_the_loss(train, context, order):
    model = KneserNey(order).fit(train, V)
    p = model.probabilities(context)
    assert p.shape == (V,)
    assert p.sum() == pytest.approx(1)
    assert (p > 0).all()
    for word in range(V):
        text = np.array([*context, word])
        assert model.loss(text, np.array([len(context)])) == pytest.approx(-math.log(p[word]))


def test_structure_is_learned():
    rng = np.random.default_rng(0)
    words = [0, 1]
    for _ in range(20_000):  # each word follows from the two before it, or in one case of five is the next
        words.append((words[-1] * 7 + words[-2] + int(rng.random() < 0.2)) % 13)
    train, held_out = np.array(words[:18_000], dtype=np.uint16), np.array(words[18_000:], dtype=np.uint16)
    losses = [KneserNey(n).fit(train, 13).loss(held_out) for n in (1, 2, 3)]
    assert min(losses[:2]) > 2.5  # log 13 = 2.56: fewer than two words tell nothing
    assert losses[2] == pytest.approx(-(0.8 * math.log(0.8) + 0.2 * math.log(0.2)), abs=0.1)


def test_samples_follow_the_probabilities_and_stop():
    train = np.array([0, 1, 2, 0, 1, 3, 0, 1, 2, 4] * 5)
    model = KneserNey(3).fit(train, V)
    rng = np.random.default_rng(0)
    drawn = np.array([model.sample([0, 1], 1, rng)[0] for _ in range(4000)])
    np.testing.assert_allclose(np.bincount(drawn, minlength=V) / 4000, model.probabilities([0, 1]), atol=0.03)
    stopped = model.sample([], 500, rng, stop=4)
    assert stopped[-1] == 4
    assert (stopped[:-1] != 4).all()
    assert len(model.sample([4], 7, rng)) == 7


def brute_force(words, left, right):
    """The most frequent word between the neighbours, else the one of highest share beside one of them."""
    middle = Counter(
        words[i] for i in range(1, len(words) - 1) if (words[i - 1], words[i + 1]) == (left, right)
    )
    after = Counter(words[i] for i in range(1, len(words)) if words[i - 1] == left)
    before = Counter(words[i] for i in range(len(words) - 1) if words[i + 1] == right)

    def best(counter):
        return min(counter, key=lambda w: (-counter[w], w))

    if left >= 0 and right >= 0 and middle:
        return best(middle)
    sides = [
        (counter[best(counter)] / counter.total(), best(counter)) for counter in (after, before) if counter
    ]
    if sides:
        return max(sides, key=lambda side: side[0])[1]
    return best(Counter(words))


@given(train=STREAMS)
def test_two_sided_trigram_is_the_most_frequent(train):
    model = TwoSidedTrigram().fit(train, V + 1)  # V itself is a word never seen
    left, right = (grid.ravel() for grid in np.meshgrid(np.arange(-1, V + 1), np.arange(-1, V + 1)))
    expected = [brute_force(train.tolist(), a, b) for a, b in zip(left, right, strict=True)]
    assert model.predict(left, right).tolist() == expected


@given(train=STREAMS, text=STREAMS, data=st.data())
def test_accuracy_does_not_see_hidden_neighbours(train, text, data):
    model = TwoSidedTrigram().fit(train, V)
    hidden = np.array(data.draw(st.lists(st.booleans(), min_size=len(text), max_size=len(text))))
    seen = [-1, *np.where(hidden, -1, text).tolist(), -1]
    right = [brute_force(train.tolist(), seen[i], seen[i + 2]) == w for i, w in enumerate(text)]
    assert model.accuracy(text, np.arange(len(text)), hidden) == pytest.approx(np.mean(right))
    whole = [-1, *text.tolist(), -1]
    right = [brute_force(train.tolist(), whole[i], whole[i + 2]) == w for i, w in enumerate(text)]
    assert model.accuracy(text, np.arange(len(text))) == pytest.approx(np.mean(right))
