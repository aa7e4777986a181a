"""Multi-head attention: self or cross, with as many key/value heads as asked for.

Shapes: B batch, T query length, S key length, H heads, G key/value heads, D model width, K head width.
"""

from __future__ import annotations

from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from zoo.blocks.attend import attend
from zoo.blocks.masks import EVERYTHING, Rule
from zoo.blocks.norms import RMSNorm
from zoo.blocks.positions import rotate


class KeyValueCache(Protocol):
    """What a layer remembers while generating; ``zoo.generation.cache`` has the two kinds."""

    def extend(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Take the new slots' keys and values (B, G, T, K), give all slots' (B, G, S, K)."""

    def recall(self) -> tuple[Tensor, Tensor] | None:
        """What cross-attention computed before from the same memory, if anything."""


class Attention(nn.Module):
    """Softmax attention (Vaswani et al. 2017, 3.2).

    ``kv_heads`` = ``heads`` is multi-head, 1 is multi-query (Shazeer 2019), between is grouped-query attention
    (Ainslie et al. 2023).  Causality is not a property of this class but of the rule it is called with.

    Args:
        d_model: D.
        heads: H.
        kv_heads: G, a divisor of H; None means H.
        d_head: K; None means D / H.
        qk_norm: normalise queries and keys per head before they meet (Dehghani et al. 2023).
        scale: of the scores; None means 1 / sqrt(K).  T5 has 1.
        bias: whether the four projections have bias terms.
        dropout: of the attention weights.
    """

    def __init__(
        self,
        *,
        d_model: int,
        heads: int,
        kv_heads: int | None = None,
        d_head: int | None = None,
        qk_norm: bool = False,
        scale: float | None = None,
        bias: bool = True,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.heads, self.kv_heads = heads, kv_heads or heads
        self.d_head = d_head or d_model // heads
        self.scale, self.dropout = scale, dropout
        self.query = nn.Linear(d_model, heads * self.d_head, bias=bias)
        self.key_value = nn.Linear(d_model, 2 * self.kv_heads * self.d_head, bias=bias)
        self.output = nn.Linear(heads * self.d_head, d_model, bias=bias)
        self.query_norm = RMSNorm(d_model=self.d_head) if qk_norm else None
        self.key_norm = RMSNorm(d_model=self.d_head) if qk_norm else None

    def forward(
        self,
        x: Tensor,
        *,
        memory: Tensor | None = None,
        rule: Rule = EVERYTHING,
        rotation: tuple[Tensor, Tensor] | None = None,
        bias: Tensor | None = None,
        cache: KeyValueCache | None = None,
    ) -> Tensor:
        """Each of ``x`` (B, T, D) reads from ``x`` itself or from ``memory`` (B, S, D).  Returns (B, T, D).

        Args:
            rule: which keys each query sees.
            rotation: cosine and sine for queries and new keys (rotary positions), self-attention only.
            bias: added to the scores, (B or 1, H, T, S).
            cache: the keys and values of earlier calls; this call's are added to it.
        """
        remembered = cache.recall() if cache is not None and memory is not None else None
        q, k, v = self._project(x, memory, remembered)
        if self.query_norm is not None:
            q = self.query_norm(q)
        if remembered is None:
            k = k if self.key_norm is None else self.key_norm(k)
        if rotation is not None:
            q, k = rotate(q, rotation), rotate(k, rotation)
        if cache is not None and remembered is None:
            k, v = cache.extend(k, v)
        dropout = self.dropout if self.training else 0.0
        mixed = attend(q, k, v, rule, bias, scale=self.scale, dropout=dropout)
        return self.output(mixed.transpose(1, 2).flatten(2))

    def _project(
        self, x: Tensor, memory: Tensor | None, remembered: tuple[Tensor, Tensor] | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Queries (B, H, T, K) of ``x``, keys and values (B, G, S, K) of ``memory``, or of ``x`` itself."""
        groups = [self.heads, self.kv_heads, self.kv_heads]
        if memory is None and x.shape[1] > 1:
            # With more than a row or two, one product costs less than two even with its matrices to be joined.
            weight = torch.cat((self.query.weight, self.key_value.weight))
            bias = None if self.query.bias is None else torch.cat((self.query.bias, self.key_value.bias))
            q, k, v = self._split(F.linear(x, weight, bias), sum(groups)).split(groups, dim=1)
            return q, k, v
        q = self._split(self.query(x), self.heads)
        k, v = remembered or self._split(
            self.key_value(x if memory is None else memory), sum(groups[1:])
        ).chunk(2, dim=1)
        return q, k, v

    def _split(self, x: Tensor, heads: int) -> Tensor:
        """(B, T, heads · K) -> (B, heads, T, K)."""
        return x.unflatten(-1, (heads, self.d_head)).transpose(1, 2)
