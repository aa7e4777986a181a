"""Writing left to right, with caches and in batches: a decoder continues its prompt, an encoder-decoder answers it.

Shapes: B prompts, T longest prompt, U tokens written.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from zoo.blocks import Stack
from zoo.blocks.masks import EVERYTHING, Rule
from zoo.blocks.positions import Learned
from zoo.errors import UserError
from zoo.generation.cache import Cache
from zoo.generation.layout import laid_out_for_writing
from zoo.generation.padding import left_padded, padded, unless_all
from zoo.generation.sampling import GREEDY, Sampling
from zoo.models import Transformer


@torch.inference_mode()
def write(
    model: Transformer,
    prompts: Sequence[Sequence[int]],
    *,
    max_new_tokens: int,
    stop: Sequence[int],
    pad: int,
    bos: int,
    begun: Sequence[Sequence[int]] | None = None,
    sampling: Sampling = GREEDY,
    generator: torch.Generator | None = None,
) -> list[list[int]]:
    """What ``model`` writes after each prompt, without the token that stopped it.

    Args:
        stop: tokens that end a text.
        pad: fills up shorter prompts; never seen.
        bos: what an encoder-decoder's decoder starts with; its prompts go to the encoder.
        begun: for each prompt, what is written already, a start token included: in the decoder of an encoder-decoder,
            else behind the prompt.

    Raises:
        UserError: the text would be longer than the model's learned positions.
    """
    assert model.decoder is not None
    device = model.embedding.tokens.weight.device
    cache = Cache(model.decoder.layers)
    memory: Tensor | None = None
    memory_rule: Rule = EVERYTHING
    if model.encoder is None:
        rows = prompts if begun is None else [[*p, *b] for p, b in zip(prompts, begun, strict=True)]
        tokens, real = left_padded(rows, pad, device)
    else:
        encoded, memory_rule = padded(prompts, pad, device)
        check_length(model.encoder, encoded.shape[1])
        memory = model.encode(encoded, rule=memory_rule)
        tokens, real = left_padded(begun or [[bos]] * len(prompts), pad, device)
    check_length(model.decoder, tokens.shape[1] + max_new_tokens)
    given = tokens.new_tensor([tokens.shape[1]])  # what is written comes after
    # One flag per slot that will ever be: what is written is real.
    flags = torch.cat([real, real.new_ones(len(prompts), max_new_tokens)], dim=1)
    rule = unless_all(flags)
    positions = (flags.cumsum(1) - 1).clamp(min=0)
    ends = torch.tensor(list(stop), device=device)
    finished = torch.zeros(len(prompts), dtype=torch.bool, device=device)
    written: list[Tensor] = []
    slots = tokens.shape[1]
    with laid_out_for_writing(model) as logits:
        for _ in range(max_new_tokens):
            states = model.decode(
                tokens,
                memory=memory,
                memory_rule=memory_rule,
                rule=rule,
                prefix=given,
                positions=positions[:, :slots],
                cache=cache,
            )
            tokens = sampling.pick(logits(states[:, -1]), generator)[:, None]
            written.append(tokens[:, 0])
            slots += 1
            if len(stop):
                finished |= torch.isin(tokens[:, 0], ends)
                if finished.all():
                    break
    new = torch.stack(written, dim=1).tolist() if written else [[] for _ in prompts]
    return [_until(row, set(stop)) for row in new]


def _until(row: list[int], stop: set[int]) -> list[int]:
    return row[: next((i for i, token in enumerate(row) if token in stop), len(row))]


def longest(stack: Stack) -> float:
    """Tokens that ``stack`` has positions for: a learned table ends, everything else goes on."""
    return stack.position.table.num_embeddings if isinstance(stack.position, Learned) else float("inf")


def check_length(stack: Stack, length: int) -> None:
    """Raises UserError where ``length`` tokens are more than ``stack`` has positions for."""
    if length > longest(stack):
        raise UserError(
            f"the text would be {length} tokens long, but this model has learned {longest(stack)} positions; "
            f"ask for fewer new tokens or give a shorter prompt"
        )
