"""What the readings of a model's states share: the states of a batch.

Shapes: B examples, T tokens per row, D model width.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from zoo.blocks.masks import Rule
from zoo.generation.padding import padded
from zoo.models import Transformer
from zoo.tasks.layout import Layout, Source
from zoo.tasks.task import Example


def read(
    model: Transformer, layout: Layout, examples: Sequence[Example]
) -> tuple[list[Source], Tensor, Rule]:
    """The sources, the states (B, T, D) of their tokens, and the rule that hides padding."""
    sources = layout.sources(examples)
    device = model.embedding.tokens.weight.device
    tokens, rule = padded([source.tokens for source in sources], layout.tokenizer.pad, device)
    return sources, model.states(tokens, rule=rule), rule
