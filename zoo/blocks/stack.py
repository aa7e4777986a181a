"""A stack of blocks with its position scheme: an encoder or a decoder, by the rule it is given.

Shapes: B batch, T length, S slots (T and those in the cache), D model width.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from zoo.blocks.block import Surroundings
from zoo.blocks.masks import EVERYTHING, Rule, sees_prefix, stated
from zoo.blocks.positions import NoPosition


class Stack(nn.Module):
    """``layers`` blocks, read by the same rule.

    Args:
        block: makes one block.
        layers: how many.
        sees: the rule of its self-attention; ``Past()`` makes a decoder, ``Everything()`` an encoder,
            ``Prefix()`` a decoder that sees what it is given both ways.
        position: the position scheme; None means none.
        input_norm: normalises embedding plus positions (BERT).
        final_norm: normalises what leaves the last block (every pre-norm stack).
        shared: use one block ``layers`` times (ALBERT, Lan et al. 2020).
        dropout, output_dropout: of what enters and (T5) of what leaves the stack.
    """

    def __init__(
        self,
        *,
        block: Callable[[], nn.Module],
        layers: int,
        sees: Rule,
        position: NoPosition | None = None,
        input_norm: nn.Module | None = None,
        final_norm: nn.Module | None = None,
        shared: bool = False,
        dropout: float = 0.0,
        output_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.sees = sees
        self.layers = layers
        self.position = position or NoPosition()
        self.blocks = nn.ModuleList(block() for _ in range(1 if shared else layers))
        self.input_norm = input_norm or nn.Identity()
        self.final_norm = final_norm or nn.Identity()
        self.dropout, self.output_dropout = nn.Dropout(dropout), nn.Dropout(output_dropout)

    def forward(
        self,
        x: Tensor,
        *,
        rule: Rule = EVERYTHING,
        prefix: Tensor | None = None,
        positions: Tensor | None = None,
        memory: Tensor | None = None,
        memory_rule: Rule = EVERYTHING,
        cache: Any = None,
    ) -> Tensor:
        """Embeddings (B, T, D) -> states (B, T, D).

        Args:
            rule: what the batch adds to ``sees``: padding, documents.
            prefix: (B or 1,) slots at each row's start that are given, not written; only ``Prefix()`` asks for it.
            positions: (B or 1, S) of all slots, the cache's first; None numbers them from 0.
            memory, memory_rule: the encoder's states (B, M, D) and which of them are seen.
            cache: one entry per layer, ``cache.length`` slots so far; see ``zoo.generation.cache``.

        Raises:
            ValueError: a prefix is to be seen both ways and is not stated, or is read into a cache in pieces.
        """
        length = x.shape[1]
        slots = length + (cache.length if cache is not None else 0)
        sees = stated(self.sees, prefix)
        if cache is not None and prefix is not None and sees_prefix(sees) and int(prefix.max()) > slots:
            raise ValueError(
                "a prefix seen both ways is read at once: its first slots cannot see what is not there"
            )
        if positions is None:
            positions = torch.arange(slots, device=x.device)[None]
        new = positions[:, -length:]
        added = self.position.embed(new)
        x = self.dropout(self.input_norm(x if added is None else x + added.to(x.dtype)))
        bias = self.position.bias(new, positions)
        around = Surroundings(
            rule=sees & rule,
            memory=memory,
            memory_rule=memory_rule,
            rotation=self.position.rotation(new),
            bias=None if bias is None else bias.to(x.dtype),
        )
        for layer in range(self.layers):
            block = self.blocks[layer % len(self.blocks)]
            x = block(x, around, cache[layer] if cache is not None else None)
        return self.output_dropout(self.final_norm(x))
