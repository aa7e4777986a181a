"""Rows of unequal length in one batch.  Shapes: B rows, T longest row."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from zoo.blocks.masks import EVERYTHING, NotPadding, Rule


def left_padded(rows: Sequence[Sequence[int]], pad: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """(B, T) ids and which of them are real; rows end in the same slot, so that all write their next token at once."""
    width = max(len(row) for row in rows)
    tokens = torch.tensor([[pad] * (width - len(row)) + list(row) for row in rows], device=device)
    real = torch.tensor([[False] * (width - len(row)) + [True] * len(row) for row in rows], device=device)
    return tokens, real


def padded(rows: Sequence[Sequence[int]], pad: int, device: torch.device) -> tuple[Tensor, Rule]:
    """(B, T) ids, filled up on the right, and the rule that hides the filling."""
    tokens, real = left_padded([list(reversed(row)) for row in rows], pad, device)
    return tokens.flip(1), unless_all(real.flip(1))


def unless_all(real: Tensor) -> Rule:
    """The padding rule where there is padding: without any, the faster kernels apply."""
    return EVERYTHING if bool(real.all()) else NotPadding(real)
