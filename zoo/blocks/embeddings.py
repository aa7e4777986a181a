"""Token embeddings, with segments where a model has them.

Shapes: B batch, T length, V vocabulary, E embedding width (D, but where it is factorised).
"""

from __future__ import annotations

import math

from torch import Tensor, nn


class Embedding(nn.Module):
    """A look-up table, (B, T) -> (B, T, E).

    Args:
        vocab: V.
        width: E.
        segments: how many segment vectors there are (BERT: 2), added to the tokens'; 0 for none.
        scaled: multiply by sqrt(E) (Vaswani et al. 2017, 3.4).
    """

    def __init__(self, *, vocab: int, width: int, segments: int = 0, scaled: bool = False) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocab, width)
        self.segments = nn.Embedding(segments, width) if segments else None
        self.factor = math.sqrt(width) if scaled else 1.0

    def forward(self, tokens: Tensor, segments: Tensor | None = None) -> Tensor:
        x = self.tokens(tokens)
        if self.factor != 1.0:
            x = x * self.factor
        if self.segments is None:
            return x
        return x + (self.segments(segments) if segments is not None else self.segments.weight[0])
