"""One layer: a mixer, optionally cross-attention, and a feed-forward network, each with residual and norm.

Shapes: B batch, T length, S memory length, H heads, D model width.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from zoo.blocks.masks import EVERYTHING, Rule


@dataclass(frozen=True)
class Surroundings:
    """What all blocks of a stack share in one forward pass, computed once.

    rule: which slots see which in self-attention;  memory: the encoder's states (B, S, D) and ``memory_rule``
    which of them are seen;  rotation, bias: the position scheme's part (see ``positions``).
    """

    rule: Rule
    memory: Tensor | None = None
    memory_rule: Rule = EVERYTHING
    rotation: tuple[Tensor, Tensor] | None = None
    bias: Tensor | None = None


class Block(nn.Module):
    """A transformer layer (Vaswani et al. 2017, 3.1).

    Args:
        d_model: D.
        mixer: makes the self-attention, called with ``d_model``.
        feed_forward: makes the feed-forward network, called with ``d_model``.
        norm: makes a norm, called with ``d_model``.
        placement: "pre" is x + f(norm(x)) (GPT-2, T5), "post" is norm(x + f(x)) (2017, BERT).
        crosses: whether there is cross-attention to a memory, made by ``mixer`` too.
        dropout: of each sub-layer's output.
    """

    def __init__(
        self,
        *,
        d_model: int,
        mixer: Callable[..., nn.Module],
        feed_forward: Callable[..., nn.Module],
        norm: Callable[..., nn.Module],
        placement: str = "pre",
        crosses: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.pre = placement == "pre"
        self.attention = mixer(d_model=d_model)
        self.attention_norm = norm(d_model=d_model)
        self.cross = mixer(d_model=d_model) if crosses else None
        self.cross_norm = norm(d_model=d_model) if crosses else None
        self.feed_forward = feed_forward(d_model=d_model)
        self.feed_forward_norm = norm(d_model=d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, around: Surroundings, cache: Any = None) -> Tensor:
        """(B, T, D) -> (B, T, D); ``cache`` has ``own`` and ``cross``, a ``KeyValueCache`` each."""
        x = self._residual(
            x,
            self.attention_norm,
            lambda h: self.attention(
                h,
                rule=around.rule,
                rotation=around.rotation,
                bias=around.bias,
                cache=cache.own if cache else None,
            ),
        )
        if self.cross is not None and self.cross_norm is not None:
            cross = self.cross
            x = self._residual(
                x,
                self.cross_norm,
                lambda h: cross(
                    h, memory=around.memory, rule=around.memory_rule, cache=cache.cross if cache else None
                ),
            )
        return self._residual(x, self.feed_forward_norm, self.feed_forward)

    def _residual(self, x: Tensor, norm: nn.Module, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        if self.pre:
            return x + self.dropout(sublayer(norm(x)))
        return norm(x + self.dropout(sublayer(x)))
