"""A stack of blocks with its position scheme: an encoder or a decoder, by the rule it is given.

Shapes: B batch, T length, S slots (T and those in the cache), D model width, E embedding width (mostly D).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from zoo.blocks.block import Surroundings
from zoo.blocks.masks import EVERYTHING, Everything, Rule, sees_prefix, stated
from zoo.blocks.positions import NoPosition


class Stack(nn.Module):
    """``layers`` blocks that read one text.

    Args:
        block: makes one block.
        layers: how many.
        sees: the rule of its self-attention; ``Past()`` makes a decoder, ``Everything()`` an encoder,
            ``Prefix()`` a decoder that sees what it is given both ways.
        variants: what single layers hide besides, in turn: (Everything(), Window(n)) makes every second layer a local
            one (GPT-3, ModernBERT).
        position: the position scheme; None means none.
        local_position: the scheme by which layers whose variant hides something turn and bias; None: ``position``'s.
        input_norm: normalises embedding plus positions (BERT), E wide.
        projection: from E to D (ALBERT); None where they are the same.
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
        variants: Sequence[Rule] = (EVERYTHING,),
        position: NoPosition | None = None,
        local_position: NoPosition | None = None,
        input_norm: nn.Module | None = None,
        projection: nn.Module | None = None,
        final_norm: nn.Module | None = None,
        shared: bool = False,
        dropout: float = 0.0,
        output_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.sees, self.variants = sees, tuple(variants)
        self.layers = layers
        self.position = position or NoPosition()
        self.local_position = local_position
        self.blocks = nn.ModuleList(block() for _ in range(1 if shared else layers))
        self.input_norm = input_norm or nn.Identity()
        self.projection = projection or nn.Identity()
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
        """Embeddings (B, T, E) -> states (B, T, D).

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
        x = self.projection(x)
        schemes = [self._scheme(variant) for variant in self.variants]
        hooks = {scheme: self._hooks(scheme, new, positions, x.dtype) for scheme in schemes}
        kinds = [
            Surroundings(rule=sees & variant & rule, memory=memory, memory_rule=memory_rule, **hooks[scheme])
            for variant, scheme in zip(self.variants, schemes, strict=True)
        ]
        for layer in range(self.layers):
            block, around = self.blocks[layer % len(self.blocks)], kinds[layer % len(kinds)]
            x = block(x, around, cache[layer] if cache is not None else None)
        return self.output_dropout(self.final_norm(x))

    def _scheme(self, variant: Rule) -> NoPosition:
        own = None if isinstance(variant, Everything) else self.local_position
        return own or self.position

    @staticmethod
    def _hooks(scheme: NoPosition, new: Tensor, positions: Tensor, dtype: torch.dtype) -> dict[str, Any]:
        bias = scheme.bias(new, positions)
        return {"rotation": scheme.rotation(new), "bias": None if bias is None else bias.to(dtype)}
