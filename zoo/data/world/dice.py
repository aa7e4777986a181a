"""Choices: seeded, the same on every machine, and countable."""

import math
import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """Draws from one seed. Only `random.Random.random` is used: its stream is the same on every machine and version."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed).random

    def pick(self, options: Sequence[T]) -> T:
        """One of them, all equally likely."""
        return options[int(self.random() * len(options))]

    def chance(self, p: float) -> bool:
        """True with probability p."""
        return self.random() < p

    def shuffled(self, options: Sequence[T]) -> list[T]:
        """All of them in a random order."""
        rest, out = list(options), []
        while rest:
            out.append(rest.pop(int(self.random() * len(rest))))
        return out


class CountingDice(Dice):
    """Dice that add up the information in what they draw: `bits` is the derivation entropy of one story."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.bits = 0.0

    def pick(self, options: Sequence[T]) -> T:
        """One of them; log2(n) bits."""
        self.bits += math.log2(len(options))
        return super().pick(options)

    def chance(self, p: float) -> bool:
        """True with probability p; -log2 of the probability of what came."""
        came = super().chance(p)
        if 0 < p < 1:
            self.bits -= math.log2(p if came else 1 - p)
        return came

    def shuffled(self, options: Sequence[T]) -> list[T]:
        """All of them; log2(n!) bits."""
        self.bits += math.lgamma(len(options) + 1) / math.log(2)
        return super().shuffled(options)
