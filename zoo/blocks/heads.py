"""Heads: from states to logits.

Shapes: N any leading shape, B batch, T length, D model width, E embedding width (D, but where it is factorised),
V vocabulary.

A vocabulary head gives the operands of its last product, (features, matrix, bias): the loss takes them as they are
and never needs all logits at once.  A tied head takes the embedding's matrix when it is called, so that the one matrix
has one name, one gradient and one place in a checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from zoo.blocks.feed_forward import ACTIVATIONS

Operands = tuple[Tensor, Tensor, Tensor | None]  # features (N, E), matrix (V, E), bias (V,)


class LMHead(nn.Module):
    """States (N, D) times the vocabulary matrix (V, D).

    Args:
        d_model, vocab, width: D, V and E.
        tied: use the embedding's matrix (Press & Wolf 2017), after a projection to E where that is another width; else
            an own one.
        scaled: multiply the states by D^-0.5 first, as T5 does with its tied head (Raffel et al. 2020).
    """

    def __init__(
        self, *, d_model: int, vocab: int, width: int | None = None, tied: bool = True, scaled: bool = False
    ) -> None:
        super().__init__()
        width = width or d_model
        narrower = tied and width != d_model
        self.project = nn.Linear(d_model, width, bias=False) if narrower else nn.Identity()
        self.scale = d_model**-0.5 if scaled else 1.0
        self.weight = None if tied else nn.Parameter(torch.empty(vocab, d_model))

    def forward(self, states: Tensor, embedding: Tensor) -> Operands:
        states = states if self.scale == 1.0 else states * self.scale
        return self.project(states), embedding if self.weight is None else self.weight, None


class MLMHead(nn.Module):
    """BERT's: norm(activation(states W + b)), then the tied matrix and a bias per token (Devlin et al. 2019).

    W is (D, E), and without b where ``bias`` is false.
    """

    def __init__(
        self,
        *,
        d_model: int,
        vocab: int,
        width: int | None = None,
        norm: Callable[..., nn.Module],
        activation: str = "gelu",
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.transform = nn.Linear(d_model, width or d_model, bias=bias)
        self.activation = ACTIVATIONS[activation]
        self.norm = norm(d_model=width or d_model)
        self.bias = nn.Parameter(torch.zeros(vocab))

    def forward(self, states: Tensor, embedding: Tensor) -> Operands:
        return self.norm(self.activation(self.transform(states))), embedding, self.bias


class NextSentenceHead(nn.Module):
    """From the states (B, T, D), the first token's: is the second sentence the next one?  Logits (B, 2).

    Class 0 means "is next", class 1 "is from another document", as in BERT's release.  ``pooled`` adds BERT's
    dense layer with tanh before the classifier.
    """

    def __init__(self, *, d_model: int, pooled: bool = False) -> None:
        super().__init__()
        self.pooler = nn.Linear(d_model, d_model) if pooled else None
        self.classifier = nn.Linear(d_model, 2)

    def forward(self, states: Tensor) -> Tensor:
        first = states[:, 0]
        return self.classifier(first if self.pooler is None else torch.tanh(self.pooler(first)))
