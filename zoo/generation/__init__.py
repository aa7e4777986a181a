"""Generation: caches, sampling, writing and filling."""

from zoo.generation.sampling import GREEDY, Sampling
from zoo.generation.text import generate

__all__ = ["GREEDY", "Sampling", "generate"]
