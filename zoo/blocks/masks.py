"""Visibility rules: which keys may a query see?  A small algebra; ``&`` combines.

Shapes: B batch, T query length, S key length.

Rules speak of *slots*, the indices of a token in its sequence, not of the positions that a position scheme
encodes: left padding and packing renumber positions, but what came earlier stays earlier.  With a cache the
queries are the last T of S slots.  Rules say what is visible; ``attend`` alone decides how it is computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, reduce

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Rule:
    """A set of visible (query, key) pairs.

    ``total`` promises that every query sees at least one key, so that no row of the softmax is empty.
    """

    @property
    def total(self) -> bool:
        return True

    def visible(self, queries: Tensor, keys: Tensor) -> Tensor:
        """The defining tensor, (T, S) or (B, T, S), bool; ``queries`` (T,) and ``keys`` (S,) are slots."""
        raise NotImplementedError

    def dense(self, queries: int, keys: int, device: torch.device | str = "cpu") -> Tensor:
        """The rule for the last ``queries`` of ``keys`` slots, (T, S) or (B, T, S), bool."""
        first = max(0, keys - queries)
        return self.visible(
            torch.arange(first, first + queries, device=device), torch.arange(keys, device=device)
        )

    def __and__(self, other: Rule) -> Rule:
        """Visible under both.  ``Everything`` is the neutral element."""
        if isinstance(other, Everything):
            return self
        if isinstance(self, Everything):
            return other
        return And(parts(self) + parts(other))


def parts(rule: Rule) -> tuple[Rule, ...]:
    """The rules that ``rule`` is the meeting of."""
    return rule.rules if isinstance(rule, And) else (rule,)


@dataclass(frozen=True)
class Everything(Rule):
    """Every key: BERT, T5's encoder, cross-attention."""

    def visible(self, queries: Tensor, keys: Tensor) -> Tensor:
        return torch.ones(len(queries), len(keys), dtype=torch.bool, device=keys.device)


EVERYTHING = Everything()


@dataclass(frozen=True)
class Past(Rule):
    """Keys at or before the query: -inf strictly *above* the diagonal (Vaswani et al. 2017, 3.2.3)."""

    def visible(self, queries: Tensor, keys: Tensor) -> Tensor:
        return keys <= queries[:, None]


@dataclass(frozen=True)
class Window(Rule):
    """Keys less than ``size`` slots away, on either side (Longformer, Beltagy et al. 2020)."""

    size: int

    def visible(self, queries: Tensor, keys: Tensor) -> Tensor:
        return (keys - queries[:, None]).abs() < self.size


@dataclass(frozen=True)
class Strided(Rule):
    """The last ``stride`` slots and every ``stride``-th slot (Child et al. 2019, "strided")."""

    stride: int

    def visible(self, queries: Tensor, keys: Tensor) -> Tensor:
        distance = (keys - queries[:, None]).abs()
        return (distance < self.stride) | (distance % self.stride == 0)


@dataclass(frozen=True)
class BlockSparse(Rule):
    """Keys of the query's own block of ``size`` slots, and the last key of each block (Child et al., "fixed")."""

    size: int

    def visible(self, queries: Tensor, keys: Tensor) -> Tensor:
        return (keys // self.size == queries[:, None] // self.size) | (keys % self.size == self.size - 1)


@dataclass(frozen=True, eq=False)
class Prefix(Rule):
    """The past, and a prefix of ``lengths`` (B or 1,) slots that everyone sees (prefix LM, Raffel et al. 2020, 3.2.1).

    ``lengths`` None: still to be ``stated``; until then the rule cannot be asked.
    """

    lengths: Tensor | None = None

    def visible(self, queries: Tensor, keys: Tensor) -> Tensor:
        assert self.lengths is not None
        return (keys <= queries[:, None]) | (keys < self.lengths[:, None, None])


@dataclass(frozen=True, eq=False)
class SameDocument(Rule):
    """Keys of the query's own document, for packed sequences; ``documents`` (B, S) numbers them by slot."""

    documents: Tensor

    def visible(self, queries: Tensor, keys: Tensor) -> Tensor:
        return self.documents[:, queries, None] == self.documents[:, None, keys]


@dataclass(frozen=True, eq=False)
class NotPadding(Rule):
    """Keys that are real tokens; ``real`` (B, S), bool.  A row of nothing but padding sees nothing."""

    real: Tensor

    @property
    def total(self) -> bool:
        return False

    def visible(self, queries: Tensor, keys: Tensor) -> Tensor:
        return self.real[:, None, keys].expand(-1, len(queries), -1)


@dataclass(frozen=True)
class And(Rule):
    """Visible under every one of ``rules``."""

    rules: tuple[Rule, ...]

    @property
    def total(self) -> bool:
        # Each total rule lets a slot see itself (or, in cross-attention, everything), so their meeting does too.
        return all(rule.total for rule in self.rules)

    def visible(self, queries: Tensor, keys: Tensor) -> Tensor:
        return reduce(torch.logical_and, (rule.visible(queries, keys) for rule in self.rules))


def sees_prefix(rule: Rule) -> bool:
    """Whether a prefix is part of ``rule``."""
    return any(isinstance(part, Prefix) for part in parts(rule))


def stated(rule: Rule, prefix: Tensor | None) -> Rule:
    """``rule`` where the first ``prefix`` (B or 1,) slots are given; a rule without a prefix stays as it is.

    Raises:
        ValueError: the rule has a prefix and nobody says how long it is.
    """
    if not sees_prefix(rule):
        return rule
    if prefix is None:
        raise ValueError(
            "this stack sees a prefix both ways: say how many slots of each row it has (prefix=...)"
        )
    return reduce(
        Rule.__and__, (Prefix(prefix) if isinstance(part, Prefix) else part for part in parts(rule))
    )


def is_static(rule: Rule) -> bool:
    """Whether the rule depends on slots alone, not on the batch; such a rule is hashable."""
    return all(isinstance(part, Everything | Past | Window | Strided | BlockSparse) for part in parts(rule))


@lru_cache(maxsize=64)
def _static_additive(rule: Rule, queries: int, keys: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    with torch.inference_mode(False):  # it is kept, and autograd refuses what inference mode made
        return _to_additive(rule.dense(queries, keys, device), dtype)


def _to_additive(visible: Tensor, dtype: torch.dtype) -> Tensor:
    return torch.zeros(visible.shape, dtype=dtype, device=visible.device).masked_fill_(~visible, -torch.inf)


def additive(rule: Rule, queries: int, keys: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """0 where visible and -inf elsewhere, (T, S) or (B, 1, T, S); built once where the batch does not matter."""
    if is_static(rule):
        return _static_additive(rule, queries, keys, dtype, device)
    mask = _to_additive(rule.dense(queries, keys, device), dtype)
    return mask if mask.dim() == 2 else mask.unsqueeze(1)
