"""The building blocks: plain modules that know no configuration, no trainer and no architecture's name."""

from zoo.blocks.attend import attend
from zoo.blocks.attention import Attention
from zoo.blocks.block import Block, Surroundings
from zoo.blocks.embeddings import Embedding
from zoo.blocks.feed_forward import FeedForward
from zoo.blocks.heads import LMHead, MLMHead, NextSentenceHead
from zoo.blocks.norms import LayerNorm, RMSNorm
from zoo.blocks.positions import ALiBi, Learned, NoPosition, RelativeBias, Rotary, Sinusoidal
from zoo.blocks.stack import Stack

__all__ = [
    "ALiBi", "Attention", "Block", "Embedding", "FeedForward", "LMHead", "LayerNorm", "Learned", "MLMHead",
    "NextSentenceHead", "NoPosition", "RMSNorm", "RelativeBias", "Rotary", "Sinusoidal", "Stack", "Surroundings",
    "attend",
]  # fmt: skip
