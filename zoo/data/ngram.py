"""N-gram baselines that see what the networks see: a 5-gram one way, a two-sided trigram both ways.

Shape letters: N tokens of a stream, P positions, V vocabulary, G distinct n-grams of a length, C contexts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class _Order:
    """The n-grams of one length n, by ascending key: V * (number of the first n - 1 words) + last word.

    keys (G,) int64; discounted (G,), max(c - D(c), 0) / c(context); backoff (C,), the probability left to the
    order below in each context, which are the (n-1)-grams: 1 for one that nothing was seen to follow.
    """

    keys: np.ndarray
    discounted: np.ndarray
    backoff: np.ndarray


class KneserNey:
    """Interpolated modified Kneser-Ney smoothing (Chen & Goodman 1998, TR-10-98, section 3).

    The stream is one text: what stands before the end of a document is context like any other. The first
    tokens are predicted from the fewer that precede them. Below the 1-grams stands a uniform distribution.
    """

    def __init__(self, order: int = 5) -> None:
        if order < 1:
            raise ValueError(f"order {order}: it must be 1 or more")
        self.order = order

    def fit(self, tokens: np.ndarray, vocab_size: int) -> KneserNey:
        """Count `tokens` (N,), all below `vocab_size`. Returns self."""
        self.vocab_size = vocab_size
        words = np.asarray(tokens, dtype=np.int64)
        keys, counts = [np.arange(vocab_size)], [np.bincount(words, minlength=vocab_size)]
        number = words  # of the n-gram that starts at each position, n being 1 here
        for n in range(1, self.order):
            distinct, first, longer, count = np.unique(
                number[:-1] * vocab_size + words[n:],
                return_index=True,
                return_inverse=True,
                return_counts=True,
            )
            # Below the highest order, what counts is how many different words an n-gram was seen to follow:
            # each distinct (n+1)-gram is one for the n-gram that starts a word later.
            counts[-1] = np.bincount(number[first + 1], minlength=len(keys[-1]))
            keys.append(distinct)
            counts.append(count)
            number = longer
        contexts = [1, *map(len, keys)]
        self._orders = [_smooth(*table, vocab_size) for table in zip(keys, counts, contexts, strict=False)]
        return self

    def log_probabilities(self, tokens: np.ndarray) -> np.ndarray:
        """log p (N,) in nats of each of `tokens` (N,), given up to order - 1 tokens before it."""
        words = np.asarray(tokens, dtype=np.int64)
        p = np.full(len(words), 1 / self.vocab_size)
        number = np.zeros(len(words) + 1, dtype=np.int64)  # of the n words from each position on, -1: unseen
        for n, order in enumerate(self._orders):
            context, below = number[: max(len(words) - n, 0)], p[n:]
            number = _find(order.keys, context * self.vocab_size + words[n:])
            seen = np.where(number >= 0, _take(order.discounted, number), 0.0)
            p[n:] = np.where(context >= 0, seen + _take(order.backoff, context) * below, below)
        return np.asarray(np.log(p))

    def loss(self, tokens: np.ndarray, positions: np.ndarray | None = None) -> float:
        """Mean nats per token of `tokens` (N,), over all or over `positions` (P,); nan over none."""
        losses = -self.log_probabilities(tokens)
        chosen = losses if positions is None else losses[positions]
        return float(chosen.mean()) if len(chosen) else float("nan")

    def probabilities(self, context: Sequence[int] | np.ndarray) -> np.ndarray:
        """p (V,) of every token after `context`, of which the last order - 1 tokens count."""
        return self._next(self._state(context))

    def sample(
        self, prefix: Sequence[int] | np.ndarray, n: int, rng: np.random.Generator, stop: int | None = None
    ) -> np.ndarray:
        """Up to `n` tokens (int64) after `prefix`; fewer where `stop` is drawn, which is then the last."""
        state, drawn = self._state(prefix), np.empty(n, dtype=np.int64)
        for i in range(n):
            cumulative = np.cumsum(self._next(state))
            drawn[i] = np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right")
            if drawn[i] == stop:
                return drawn[: i + 1]
            state = self._advance(state, int(drawn[i]))
        return drawn

    def _state(self, context: Sequence[int] | np.ndarray) -> list[int]:
        """The number of the last n words of `context` among the n-grams for n = 0, 1, ...; -1: never seen."""
        state = [0]
        for word in context[max(len(context) - self.order + 1, 0) :]:
            state = self._advance(state, int(word))
        return state

    def _advance(self, state: list[int], word: int) -> list[int]:
        keys = zip(self._orders[:-1], state, strict=False)
        return [
            0,
            *(int(_find(order.keys, np.array(number * self.vocab_size + word))) for order, number in keys),
        ]

    def _next(self, state: list[int]) -> np.ndarray:
        p = np.full(self.vocab_size, 1 / self.vocab_size)
        for order, context in zip(self._orders, state, strict=False):
            if context < 0:
                break
            first = context * self.vocab_size
            begin, end = np.searchsorted(order.keys, (first, first + self.vocab_size))
            p *= order.backoff[context]
            p[order.keys[begin:end] - first] += order.discounted[begin:end]
        return p


def _smooth(keys: np.ndarray, counts: np.ndarray, contexts: int, vocab_size: int) -> _Order:
    context = keys // vocab_size
    discount = np.minimum(_discounts(counts)[np.minimum(counts, 3)], counts)
    total = np.bincount(context, weights=counts, minlength=contexts)
    left = np.bincount(context, weights=discount, minlength=contexts)
    backoff = np.divide(left, total, out=np.ones(contexts), where=total > 0)
    return _Order(keys, (counts - discount) / np.maximum(total, 1)[context], backoff)


def _discounts(counts: np.ndarray) -> np.ndarray:
    """D(0), D(1), D(2), D(3 and more) from the counts of counts (Chen & Goodman 1998, equation 26)."""
    n = np.bincount(np.minimum(counts, 5), minlength=6)
    discounts = [0.0]
    for c in (1, 2, 3):
        # Small or odd samples have no estimate, or one outside (0, c]; c / 2 is what KenLM falls back on.
        y = n[1] / (n[1] + 2 * n[2]) if n[1] else 0.0
        estimate = c - (c + 1) * y * n[c + 1] / n[c] if n[c] else 0.0
        discounts.append(estimate if 0 < estimate <= c else c / 2)
    return np.array(discounts)


class TwoSidedTrigram:
    """The most frequent token between two neighbours; else the surer of the most frequent ones beside either.

    Ties go to the smaller id.
    """

    def fit(self, tokens: np.ndarray, vocab_size: int) -> TwoSidedTrigram:
        """Count `tokens` (N,), all below `vocab_size`. Returns self."""
        words = np.asarray(tokens, dtype=np.int64)
        self.vocab_size = vocab_size
        self._between = _best(words[:-2] * vocab_size + words[2:], words[1:-1], vocab_size)
        self._after = _best(words[:-1], words[1:], vocab_size)
        self._before = _best(words[1:], words[:-1], vocab_size)
        self._anywhere = int(np.argmax(np.bincount(words, minlength=vocab_size)))
        return self

    def predict(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """The token (P,) between each `left` (P,) and `right` (P,), where -1 is a neighbour not known."""
        left, right = np.asarray(left, dtype=np.int64), np.asarray(right, dtype=np.int64)
        after, sure_after = self._after.look_up(left)
        before, sure_before = self._before.look_up(right)
        both = np.where((left < 0) | (right < 0), -1, left * self.vocab_size + right)
        between, _ = self._between.look_up(both)
        beside = np.where(sure_after >= sure_before, after, before)
        return np.select([between >= 0, beside >= 0], [between, beside], self._anywhere)

    def accuracy(self, tokens: np.ndarray, positions: np.ndarray, hidden: np.ndarray | None = None) -> float:
        """The share of `positions` (P,) in `tokens` (N,) predicted right, not seeing `hidden` (N,) ones."""
        words = np.asarray(tokens, dtype=np.int64)
        known = np.where(hidden, -1, words) if hidden is not None else words
        padded = np.concatenate([[-1], known, [-1]])
        positions = np.asarray(positions)
        guesses = self.predict(padded[positions], padded[positions + 2])
        return float(np.mean(guesses == words[positions])) if len(positions) else float("nan")


@dataclass(frozen=True)
class _Best:
    """The context keys (C,), ascending, the most frequent word (C,) in each, and its share (C,)."""

    keys: np.ndarray
    words: np.ndarray
    shares: np.ndarray

    def look_up(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The word and share of each key; -1 and -1 where it was never seen."""
        found = _find(self.keys, keys)
        return np.where(found >= 0, _take(self.words, found), -1), np.where(
            found >= 0, _take(self.shares, found), -1.0
        )


def _best(contexts: np.ndarray, words: np.ndarray, vocab_size: int) -> _Best:
    keys, number, total = np.unique(contexts, return_inverse=True, return_counts=True)
    pairs, counts = np.unique(number * vocab_size + words, return_counts=True)
    context, word = np.divmod(pairs, vocab_size)
    order = np.lexsort((word, -counts, context))
    first = order[
        np.searchsorted(context, np.arange(len(keys)))
    ]  # each context has its place among the sorted
    return _Best(keys, word[first], counts[first] / total)


def _find(keys: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Where each of `wanted` stands in the ascending `keys`; -1: nowhere."""
    if not len(keys):
        return np.full(np.shape(wanted), -1)
    at = np.searchsorted(keys, wanted)
    return np.where(np.take(keys, at, mode="clip") == wanted, at, -1)


def _take(values: np.ndarray, at: np.ndarray) -> np.ndarray:
    """`values[at]`, and something or other, not to be used, where `at` is outside."""
    return np.take(values, at, mode="clip") if len(values) else np.zeros(np.shape(at))
