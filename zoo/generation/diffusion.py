"""Writing by masked diffusion's reverse process (Sahoo et al. 2024, 3.3).

Shapes: B rows, T tokens per row.
"""

from __future__ import annotations

import torch
from torch import Tensor

from zoo.generation.fill import Blanks, fill_in_turns
from zoo.generation.sampling import GREEDY, Sampling
from zoo.models import Transformer


def unmask(
    model: Transformer,
    tokens: Tensor,
    blanks: Blanks,
    *,
    iterations: int,
    sampling: Sampling = GREEDY,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Fill the masks of (B, T) in a random order; what is filled in stays.

    From time t to s, 1 / ``iterations`` earlier, a mask is revealed with probability (t - s) / t; at time 0 none is
    left.  So each has one of ``iterations`` turns, all as likely.  The model knows no time and a turn that nobody has
    costs nothing: with many more of them than masks nearly every mask is revealed alone, seeing all before it, at the
    price of one forward pass each.
    """
    turns = torch.randint(iterations, tokens.shape, generator=generator, device=tokens.device)
    return fill_in_turns(model, tokens, blanks, turns, sampling=sampling, generator=generator)
