"""Filling masked positions with a model that sees both ways, and what passes for writing with it.

Shapes: B rows, T tokens per row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from zoo.blocks.masks import EVERYTHING, NotPadding
from zoo.generation.sampling import GREEDY, Sampling
from zoo.models import Transformer


@dataclass(frozen=True)
class Blanks:
    """The ids that filling turns on: what is to be filled, what is never seen, and (V,) bool what is never filled
    in."""

    mask: int
    pad: int
    banned: Tensor


def _logits(model: Transformer, tokens: Tensor, blanks: Blanks) -> Tensor:
    """(B, T, V), what is banned ruled out."""
    real = tokens != blanks.pad
    states = model(tokens, rule=EVERYTHING if bool(real.all()) else NotPadding(real))
    return model.logits(states).masked_fill(blanks.banned, -torch.inf)


@torch.inference_mode()
def mask_predict(
    model: Transformer,
    tokens: Tensor,
    blanks: Blanks,
    *,
    iterations: int = 1,
    sampling: Sampling = GREEDY,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Mask-Predict (Ghazvininejad et al. 2019): fill every mask at once, hide the least certain again, repeat.

    Args:
        tokens: (B, T) with masks.
        iterations: with i of them, a share (i - t) / i of the masks is hidden again after step t.

    Returns:
        (B, T) without masks.
    """
    holes = tokens == blanks.mask
    counts = holes.sum(1)
    filled, certainty = tokens, torch.full(tokens.shape, torch.inf, device=tokens.device)
    for step in range(1, iterations + 1):
        open_now = filled == blanks.mask
        logits = _logits(model, filled, blanks)
        choice = sampling.pick(logits.flatten(0, 1), generator).view_as(tokens)
        probability = logits.softmax(-1).gather(-1, choice[..., None]).squeeze(-1)
        filled = torch.where(open_now, choice, filled)
        certainty = torch.where(open_now, probability, certainty)
        again = (counts * (iterations - step)) // iterations
        if not bool(again.any()):
            break
        rank = certainty.masked_fill(~holes, torch.inf).argsort(1).argsort(1)
        filled = filled.masked_fill(rank < again[:, None], blanks.mask)
    return filled


@torch.inference_mode()
def fill_left_to_right(
    model: Transformer,
    tokens: Tensor,
    blanks: Blanks,
    *,
    sampling: Sampling = GREEDY,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Fill the masks of (B, T) one after another from the left, each seeing those already filled and the masks to
    come."""
    filled = tokens.clone()
    while bool((filled == blanks.mask).any()):
        open_now = filled == blanks.mask
        rows = torch.nonzero(open_now.any(1)).squeeze(1)
        first = open_now[rows].int().argmax(1)
        logits = _logits(model, filled[rows], blanks)
        filled[rows, first] = sampling.pick(logits[torch.arange(len(rows)), first], generator)
    return filled


@torch.inference_mode()
def append_one_by_one(
    model: Transformer,
    prompts: Sequence[Sequence[int]],
    blanks: Blanks,
    *,
    max_new_tokens: int,
    cls: int,
    sep: int,
    sampling: Sampling = GREEDY,
    generator: torch.Generator | None = None,
) -> list[list[int]]:
    """Write with an encoder as if it were a decoder: <cls> text <mask> <sep>, fill the one mask, append the next.

    The encoder cannot reuse its work: each new token changes what every position sees.
    """
    rows = [list(prompt) for prompt in prompts]
    device = model.embedding.tokens.weight.device
    for _ in range(max_new_tokens):
        longest = max(len(row) for row in rows)
        tokens = torch.tensor(
            [[cls, *row, blanks.mask, sep, *[blanks.pad] * (longest - len(row))] for row in rows],
            device=device,
        )
        filled = fill_left_to_right(model, tokens, blanks, sampling=sampling, generator=generator)
        for index, row in enumerate(rows):
            row.append(int(filled[index, len(row) + 1]))
    return [row[len(prompt) :] for row, prompt in zip(rows, prompts, strict=True)]
