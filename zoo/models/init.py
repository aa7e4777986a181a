"""Initialisations, one function per published recipe; each walks a finished model.

D model width, K head width, L layers.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from zoo.blocks import Attention, Block, Embedding, FeedForward, LMHead, Stack
from zoo.blocks.positions import RelativeBias


def normal(model: nn.Module, *, std: float = 0.02) -> None:
    """Every matrix and table normal(0, ``std``), biases 0 (GPT, BERT)."""
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=std)
        if isinstance(module, LMHead) and module.weight is not None:
            nn.init.normal_(module.weight, std=std)
    _zero_biases(model)


def gpt2(model: nn.Module, *, std: float = 0.02) -> None:
    """``normal``, and what is added to the residual stream scaled by 1 / sqrt(number of such additions), so that
    the stream's variance does not grow with depth (Radford et al. 2019, 2.3)."""
    normal(model, std=std)
    for stack in model.modules():
        if isinstance(stack, Stack):
            outputs = [m.output for m in stack.modules() if isinstance(m, Attention | FeedForward)]
            additions = len(outputs) * stack.layers // len(stack.blocks)
            for output in outputs:
                nn.init.normal_(output.weight, std=std / math.sqrt(additions))


def matched(model: nn.Module, *, std: float | None = None) -> None:
    """``gpt2`` with variance 1 / D, so that every product keeps its input's variance, and attention that can already
    copy (after Trockman & Kolter 2023, who start its products near a multiple of the identity):

    - Its output matrix is its values' transposed, so that what is attended to is what is added.
    - Across stacks its keys' matrix equals its queries', so that like finds like: above all a decoder's sentinel its
      twin in the encoder.  Not within a stack: there everything is most like itself, and would look nowhere else.

    ``std`` of the matrices, where it is given.
    """
    gpt2(model, std=std or _width(model) ** -0.5)
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, Attention):
                values = _per_head(module.key_value.weight.chunk(2)[1], module, module.kv_heads)
                values = values.repeat_interleave(module.heads // module.kv_heads, dim=0)
                smaller = module.output.weight.std() / values.std()
                module.output.weight.copy_(smaller * values.flatten(0, 1).T)
            if isinstance(module, Block) and isinstance(module.cross, Attention):
                cross = module.cross
                queries = _per_head(cross.query.weight, cross, cross.heads)
                first = queries[:: cross.heads // cross.kv_heads]  # of the heads that share a head of keys
                cross.key_value.weight.chunk(2)[0].copy_(first.flatten(0, 1))


def _per_head(weight: Tensor, attention: Attention, heads: int) -> Tensor:
    """(heads · K, D) -> (heads, K, D)."""
    return weight.unflatten(0, (heads, attention.d_head))


def t5(model: nn.Module, *, std: float = 1.0) -> None:
    """Matrices normal with variance 1 / fan-in, queries 1 / (D K) since scores are not scaled (Mesh TensorFlow's
    rule, as in T5's released code); tables normal(0, ``std``)."""
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=std * module.in_features**-0.5)
    for module in model.modules():
        if isinstance(module, Attention):
            d_model = module.query.in_features
            nn.init.normal_(module.query.weight, std=std * (d_model * module.d_head) ** -0.5)
        elif isinstance(module, Embedding):
            nn.init.normal_(module.tokens.weight, std=std)
        elif isinstance(module, RelativeBias):
            nn.init.normal_(module.table.weight, std=std * _width(model) ** -0.5)
        elif isinstance(module, LMHead) and module.weight is not None:
            nn.init.normal_(module.weight, std=std)
    _zero_biases(model)


def xavier(model: nn.Module, *, std: float | None = None) -> None:
    """Glorot uniform matrices; tables normal with variance 1 / D (Vaswani et al.'s released code).

    ``std`` of the tables, where it is given.
    """
    for module in reversed(list(model.modules())):  # children first
        if isinstance(module, Attention):
            for half in module.key_value.weight.chunk(2):  # keys and values are a matrix each
                nn.init.xavier_uniform_(half)
        elif isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=std or module.embedding_dim**-0.5)
        elif isinstance(module, LMHead) and module.weight is not None:
            nn.init.normal_(module.weight, std=std or module.weight.shape[1] ** -0.5)
    _zero_biases(model)


def _width(model: nn.Module) -> int:
    return next(m.tokens.embedding_dim for m in model.modules() if isinstance(m, Embedding))


def _zero_biases(model: nn.Module) -> None:
    for module in model.modules():
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)
