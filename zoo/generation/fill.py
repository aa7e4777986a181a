"""Filling masked positions with a model that sees both ways, and what passes for writing with it.

Shapes: B rows, T tokens per row, M places that are asked for, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from zoo.generation.padding import unless_all
from zoo.generation.sampling import GREEDY, Sampling
from zoo.models import Transformer


@dataclass(frozen=True)
class Blanks:
    """The ids that filling turns on: what is to be filled, what is never seen, and (V,) bool what is never filled
    in."""

    mask: int
    pad: int
    banned: Tensor


def logits_at(model: Transformer, tokens: Tensor, blanks: Blanks, places: Tensor) -> Tensor:
    """What ``model`` would put at ``places``, (B, T) bool with M of them true: logits (M, V), what is banned ruled out.

    The vocabulary is projected there only: most of the work where few masks are left.
    """
    states = model(tokens, rule=unless_all(tokens != blanks.pad))
    logits = model.logits(states[places]).masked_fill(blanks.banned, -torch.inf)
    logits[:, blanks.mask] = -torch.inf  # no answer, banned or not: filling with it would never end
    return logits


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
    filled, certainty = tokens.clone(), torch.full(tokens.shape, torch.inf, device=tokens.device)
    for step in range(1, iterations + 1):
        open_now = filled == blanks.mask
        logits = logits_at(model, filled, blanks, open_now)
        choice = sampling.pick(logits, generator)
        probability = logits.float().softmax(-1).gather(-1, choice[:, None]).squeeze(-1)
        filled[open_now], certainty[open_now] = choice, probability
        again = (counts * (iterations - step)) // iterations
        if not bool(again.any()):
            break
        rank = certainty.masked_fill(~holes, torch.inf).argsort(1).argsort(1)
        filled = filled.masked_fill(rank < again[:, None], blanks.mask)
    return filled


@torch.inference_mode()
def fill_in_turns(
    model: Transformer,
    tokens: Tensor,
    blanks: Blanks,
    turns: Tensor,
    *,
    sampling: Sampling = GREEDY,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Fill the masks of (B, T) in the order of their ``turns`` (B, T), those of one turn at once, each seeing what was
    filled in before and the masks to come; what is filled in stays.  A row costs nothing in a turn that is not its."""
    filled, masked = tokens.clone(), tokens == blanks.mask
    for turn in turns[masked].unique().tolist():
        now = masked & (turns == turn)
        rows = now.any(1)
        logits = logits_at(model, filled[rows], blanks, now[rows])
        filled[now] = sampling.pick(logits, generator)
    return filled


def fill_left_to_right(
    model: Transformer,
    tokens: Tensor,
    blanks: Blanks,
    *,
    sampling: Sampling = GREEDY,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Fill the masks of (B, T) one after another from the left."""
    turns = (tokens == blanks.mask).cumsum(1)
    return fill_in_turns(model, tokens, blanks, turns, sampling=sampling, generator=generator)


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
