"""From prompt to text, by whatever way the model has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import torch

from zoo.data.tokenizer import Tokenizer
from zoo.errors import UserError
from zoo.generation.asking import Way, first_sentinel, question, stops, usual
from zoo.generation.diffusion import unmask
from zoo.generation.fill import Blanks, append_one_by_one, fill_left_to_right, mask_predict
from zoo.generation.sampling import GREEDY, Sampling
from zoo.generation.write import check_length, write
from zoo.models import Transformer
from zoo.models.evaluating import evaluating

Writer = Callable[..., list[list[int]]]  # `write` with its model, ids and sampling given
FILLING = ("mask_predict", "left_to_right", "one_by_one", "diffusion")


def generate(
    model: Transformer,
    tokenizer: Tokenizer,
    prompts: Sequence[str],
    *,
    max_new_tokens: int = 64,
    sampling: Sampling = GREEDY,
    method: str | None = None,
    iterations: int = 10,
    seed: int = 0,
    way: Way | None = None,
) -> list[str]:
    """The text each prompt becomes, prompt included.

    Who writes on continues the prompt.  Who writes spans fills the prompt's own <extra_id_i>, or where there are none
    continues it span by span.  Who writes whole texts repairs a prompt that has a <mask>, and else goes on with it.
    An encoder fills the prompt's <mask>s; where there are none it gets ``max_new_tokens`` of them at the end
    (``mask_predict``, ``left_to_right``, ``diffusion``) or one at a time (``one_by_one``).

    ``way``: in which a model that writes was trained to be asked; None: ``asking.usual``.

    Raises:
        UserError: a method that the model does not have, or a prompt that it cannot take.
    """
    able = model.capabilities
    if method is not None and ("fill" not in able or method not in FILLING):
        offers = (
            f"method is one of {', '.join(FILLING)}"
            if "fill" in able
            else "this model has one way: leave method out"
        )
        raise UserError(f"method={method} cannot be used here: {offers}")
    for name, value in (("max_new_tokens", max_new_tokens), ("iterations", iterations)):
        if not isinstance(value, int) or value < 1:
            raise UserError(f"{name}={value} must be a whole number above 0")
    generator = torch.Generator(device=model.embedding.tokens.weight.device).manual_seed(seed)
    encoded = [tokenizer.encode(prompt, specials=True) for prompt in prompts]
    with evaluating(model):
        if "fill" in able:
            return _fill(model, tokenizer, encoded, max_new_tokens, sampling, method, iterations, generator)
        writer = partial(
            write, model, pad=tokenizer.pad, bos=tokenizer.bos, sampling=sampling, generator=generator
        )
        ways = {"on": _continue, "spans": _answer, "whole": _repair}
        return [
            tokenizer.decode(row)
            for row in ways[way or usual(model)](model, writer, tokenizer, encoded, max_new_tokens)
        ]


def _continue(
    model: Transformer, writer: Writer, tokenizer: Tokenizer, prompts: list[list[int]], max_new_tokens: int
) -> list[list[int]]:
    # Documents follow one another after an eos, so an empty prompt is the start of one.
    started = [prompt or [tokenizer.eos] for prompt in prompts]
    new = writer(started, max_new_tokens=max_new_tokens, stop=[tokenizer.eos])
    return [[*prompt, *row] for prompt, row in zip(prompts, new, strict=True)]


def _repair(
    model: Transformer, writer: Writer, tokenizer: Tokenizer, prompts: list[list[int]], max_new_tokens: int
) -> list[list[int]]:
    """A prompt with a <mask> is written again whole, another with what follows it."""
    holed = [tokenizer.mask in prompt for prompt in prompts]
    asked = [question(model, tokenizer, prompt, [], "whole") for prompt in prompts]
    new = writer(
        [
            [*prompt, tokenizer.eos] if hole else one.given
            for prompt, hole, one in zip(prompts, holed, asked, strict=True)
        ],
        begun=[[tokenizer.bos] if hole else one.begun for hole, one in zip(holed, asked, strict=True)],
        max_new_tokens=max(
            max_new_tokens, *(2 * len(p) for p, hole in zip(prompts, holed, strict=True) if hole), 0
        ),
        stop=[tokenizer.eos],
    )
    return [row if hole else [*prompt, *row] for prompt, hole, row in zip(prompts, holed, new, strict=True)]


def _answer(
    model: Transformer, writer: Writer, tokenizer: Tokenizer, prompts: list[list[int]], max_new_tokens: int
) -> list[list[int]]:
    """Prompts with sentinels are filled, the others continued, each kind in one batch."""
    sentinels = set(tokenizer.sentinels)
    made: dict[int, list[int]] = {}
    for way, holed in ((_fill_holes, True), (_span_by_span, False)):
        mine = [index for index, prompt in enumerate(prompts) if bool(sentinels & set(prompt)) == holed]
        if mine:
            texts = way(writer, tokenizer, [prompts[i] for i in mine], max_new_tokens)
            made.update(zip(mine, texts, strict=True))
    return [made[index] for index in range(len(prompts))]


def _fill_holes(
    writer: Writer, tokenizer: Tokenizer, prompts: list[list[int]], max_new_tokens: int
) -> list[list[int]]:
    asked = [[*prompt, tokenizer.eos] for prompt in prompts]
    begun = [[tokenizer.bos]] * len(asked)
    new = writer(asked, begun=begun, max_new_tokens=max_new_tokens, stop=[tokenizer.eos])
    sentinels = set(tokenizer.sentinels)
    return [fill_sentinels(prompt, row, sentinels) for prompt, row in zip(prompts, new, strict=True)]


def _span_by_span(
    writer: Writer, tokenizer: Tokenizer, prompts: list[list[int]], max_new_tokens: int
) -> list[list[int]]:
    """All text so far and a sentinel are read, what it stands for is written, and so on."""
    hole = first_sentinel(tokenizer)
    texts, ended = [list(prompt) for prompt in prompts], [False] * len(prompts)
    begun = [[tokenizer.bos, hole]] * len(prompts)
    left = max_new_tokens
    while left > 0 and not all(ended):
        asked = [[*text, hole, tokenizer.eos] for text in texts]
        new = writer(asked, begun=begun, max_new_tokens=min(left, 16), stop=stops(tokenizer))
        for index, span in enumerate(new):
            if not ended[index]:
                texts[index] += span
                ended[index] = not span
        left -= max(1, max(len(span) for span in new))
    return texts


def fill_sentinels(prompt: Sequence[int], written: Sequence[int], sentinels: set[int]) -> list[int]:
    """Put the spans of ``written`` (each after its sentinel) where the sentinels stand in ``prompt``."""
    spans: dict[int, list[int]] = {}
    current: list[int] = []
    for token in written:
        if token in sentinels:
            current = spans.setdefault(token, [])
        else:
            current.append(token)
    filled: list[int] = []
    for token in prompt:
        filled += spans.get(token, []) if token in sentinels else [token]
    return filled


def _fill(
    model: Transformer,
    tokenizer: Tokenizer,
    prompts: list[list[int]],
    max_new_tokens: int,
    sampling: Sampling,
    method: str | None,
    iterations: int,
    generator: torch.Generator,
) -> list[str]:
    device = model.embedding.tokens.weight.device
    blanks = Blanks(tokenizer.mask, tokenizer.pad, torch.from_numpy(tokenizer.is_special).to(device))
    assert model.encoder is not None
    if method == "one_by_one":
        if any(tokenizer.mask in prompt for prompt in prompts):
            raise UserError(
                "method=one_by_one writes at the end; use another method to fill the prompt's <mask>"
            )
        check_length(model.encoder, max(len(prompt) for prompt in prompts) + max_new_tokens + 2)
        new = append_one_by_one(
            model, prompts, blanks, max_new_tokens=max_new_tokens, cls=tokenizer.cls, sep=tokenizer.sep,
            sampling=sampling, generator=generator,
        )  # fmt: skip
        return [tokenizer.decode([*prompt, *row]) for prompt, row in zip(prompts, new, strict=True)]
    texts = [p if tokenizer.mask in p else [*p, *[tokenizer.mask] * max_new_tokens] for p in prompts]
    longest = max(len(text) for text in texts)
    rows = [[tokenizer.cls, *t, tokenizer.sep, *[tokenizer.pad] * (longest - len(t))] for t in texts]
    check_length(model.encoder, longest + 2)
    tokens = torch.tensor(rows, device=device)
    if method == "left_to_right":
        filled = fill_left_to_right(model, tokens, blanks, sampling=sampling, generator=generator)
    else:
        way = unmask if method == "diffusion" else mask_predict
        filled = way(model, tokens, blanks, iterations=iterations, sampling=sampling, generator=generator)
    return [tokenizer.decode(row) for row in filled.tolist()]
