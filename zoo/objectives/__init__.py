"""Pre-training objectives: pure functions of (tokens, random generator), and the loss."""

from zoo.objectives.batch import Batch, Rows
from zoo.objectives.causal_lm import CausalLM
from zoo.objectives.masked_diffusion import MaskedDiffusion
from zoo.objectives.masked_lm import MaskedLM
from zoo.objectives.prefix_lm import PrefixLM
from zoo.objectives.span_corruption import SpanCorruption
from zoo.objectives.text_infilling import TextInfilling

__all__ = [
    "Batch", "CausalLM", "MaskedDiffusion", "MaskedLM", "PrefixLM", "Rows", "SpanCorruption", "TextInfilling",
]  # fmt: skip
