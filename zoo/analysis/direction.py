"""Attention direction, measured: how much the token in slot j moves the state in slot i.

Influence is the relative change of output i when token j is replaced by another one, averaged over a few
replacements drawn from the texts.  A replacement is what a change of the input is in language, needs no gradient, and
costs a few dozen rows per text; a gradient says what an infinitesimal step between words would do, which no text takes.
What cannot be seen comes out as exactly 0: changed and unchanged text run through the same kernels, at the same place
in a batch of the same shape, so equal inputs give equal bits.

Each row of a matrix is divided by its sum before texts are averaged: every output then counts the same, and says what
share of what moves it comes from where.

What is read is what was read in pre-training: a decoder <eos> text, of which the first half counts as given, where that
makes a difference to it; an encoder <cls> text <sep>; an encoder-decoder the text with spans cut out, in the same
places in all texts.  The matrices leave out the frame: <bos>, <cls>, <sep>, and <eos> at either end.

Shapes: N texts, C slots changed (inputs), U slots watched (outputs), n tokens of a text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from zoo.analysis.rows import row
from zoo.data.tokenizer import Tokenizer
from zoo.errors import UserError
from zoo.generation.asking import Way, usual
from zoo.generation.write import check_length
from zoo.models import Transformer
from zoo.models.evaluating import evaluating
from zoo.objectives.span_corruption import corrupt, noise_mask, shift_right

_DENSITY, _MEAN_SPAN = 0.15, 3.0  # of what is cut out of an encoder-decoder's text (Raffel et al. 2020)
Read = Callable[[Tensor], list[Tensor]]  # tokens (C, T) -> states (C, U, D), one for each matrix


@dataclass(frozen=True)
class Direction:
    """Of one kind of attention, ``encoder``, ``decoder`` or ``cross`` (the decoder's outputs, the encoder's inputs).

    per_text: (N, U, C), the relative change of output i by input j;  places: (U,), the input that is output i's own:
    the diagonal.  In cross-attention that is the sentinel whose span is being written.
    """

    per_text: Tensor
    places: Tensor

    @property
    def mean(self) -> Tensor:
        """(U, C): the share of output i's influence that comes from input j, mean over texts; rows sum to 1."""
        sums = self.per_text.sum(-1, keepdim=True)
        return (self.per_text / sums.clamp(min=torch.finfo(sums.dtype).tiny)).mean(0)

    def fractions(self) -> dict[str, float]:
        """``above_diagonal``: from inputs to the right of an output's own, ``below_diagonal``: to the left,
        ``diagonal``: its own; together 1."""
        mean, offset = self.mean, torch.arange(self.per_text.shape[-1]) - self.places[:, None]
        parts = {"above_diagonal": offset > 0, "below_diagonal": offset < 0, "diagonal": offset == 0}
        return {name: float(mean[part].sum() / mean.sum()) for name, part in parts.items()}


def direction(
    model: Transformer,
    tokenizer: Tokenizer,
    texts: Sequence[str],
    *,
    way: Way | None = None,
    length: int = 32,
    replacements: int = 4,
    seed: int = 0,
) -> dict[str, Direction]:
    """The matrices of the stacks that ``model`` has, from the first ``length`` tokens of each text, without shorter
    texts.  ``way``: in which the model was trained to be asked; it says what an encoder-decoder reads and writes.

    Raises:
        UserError: no text is long enough, all its tokens are the same, or there are not as many learned positions.
    """
    encoded = tokenizer.encode_batch(list(texts))
    kept = np.array([ids[:length] for ids in encoded if len(ids) >= length], dtype=np.int64)
    if len(kept) == 0:
        raise UserError(f"no text has {length} tokens: measure direction on longer texts or a smaller length")
    if length < 2 or len(np.unique(kept)) < 2:
        raise UserError("direction needs texts with at least two different tokens: give other texts")
    rng = np.random.default_rng(seed)
    measured = _one_stack if model.encoder is None or model.decoder is None else _two_stacks
    replacing = _Replacing(kept.reshape(-1), replacements, rng)
    with evaluating(model):
        return measured(model, tokenizer, kept, replacing, way or usual(model))


@dataclass(frozen=True)
class _Replacing:
    """Draws ``count`` replacements from ``pool``, the tokens of all texts."""

    pool: np.ndarray
    count: int
    rng: np.random.Generator

    def draw(self, tokens: np.ndarray) -> np.ndarray:
        """For ``tokens`` (C,), (count, C) others, none the same as the one it replaces."""
        drawn = self.rng.choice(self.pool, size=(self.count, len(tokens)))
        while (same := drawn == tokens).any():
            drawn[same] = self.rng.choice(self.pool, size=int(same.sum()))
        return drawn

    def influence(self, read: Read, tokens: Tensor, slots: Tensor) -> list[Tensor]:
        """Change each of ``slots`` (C,) of ``tokens`` (T,) in turn -> (U, C) for each of what ``read`` gives."""
        others = torch.from_numpy(self.draw(tokens[slots].cpu().numpy())).to(tokens.device)
        rows = torch.arange(len(slots), device=tokens.device)
        unchanged = tokens.repeat(len(slots), 1)
        before = read(unchanged)
        moved = [torch.zeros(states.shape[:2], dtype=torch.float64) for states in before]
        for other in others:
            changed = unchanged.clone()
            changed[rows, slots] = other
            for total, new, old in zip(moved, read(changed), before, strict=True):
                size = old.norm(dim=-1).clamp(min=torch.finfo(old.dtype).tiny)
                total += ((new - old).norm(dim=-1) / size).double().cpu()
        return [total.T / self.count for total in moved]


def _one_stack(
    model: Transformer, tokenizer: Tokenizer, texts: np.ndarray, replacing: _Replacing, way: Way
) -> dict[str, Direction]:
    n, device = texts.shape[1], model.embedding.tokens.weight.device
    before, after = ([tokenizer.eos], []) if model.encoder is None else ([tokenizer.cls], [tokenizer.sep])
    stack = model.encoder or model.decoder
    assert stack is not None
    check_length(stack, n + len(before) + len(after))
    slots = torch.arange(n, device=device) + len(before)
    given = torch.tensor([len(before) + n // 2], device=device)

    def read(tokens: Tensor) -> list[Tensor]:
        return [model(tokens, prefix=given)[:, slots]]

    found = [
        replacing.influence(read, torch.tensor([*before, *text, *after], device=device), slots)
        for text in texts.tolist()
    ]
    name = "decoder" if model.encoder is None else "encoder"
    return {name: Direction(torch.stack([one for (one,) in found]), torch.arange(n))}


def _two_stacks(
    model: Transformer, tokenizer: Tokenizer, texts: np.ndarray, replacing: _Replacing, way: Way
) -> dict[str, Direction]:
    assert model.encoder is not None
    assert model.decoder is not None
    device = model.embedding.tokens.weight.device
    ways = {"spans": _spans, "whole": _whole, "on": _on}
    inputs, count, written, own = ways[way](tokenizer, texts, replacing.rng)
    check_length(model.encoder, inputs.shape[1])
    check_length(model.decoder, written.shape[1])
    watched = torch.arange(count, device=device)
    writing = torch.arange(1, written.shape[1], device=device)  # without <bos>
    found: dict[str, list[Tensor]] = {"encoder": [], "decoder": [], "cross": []}
    for asked, answer in zip(
        torch.from_numpy(inputs).to(device), torch.from_numpy(written).to(device), strict=True
    ):

        def read_on_the_left(tokens: Tensor, answer: Tensor = answer) -> list[Tensor]:
            memory = model.encode(tokens)
            states = model.decode(answer.expand(len(tokens), -1), memory=memory)
            return [memory[:, watched], states[:, writing]]

        def read_on_the_right(tokens: Tensor, asked: Tensor = asked) -> list[Tensor]:
            memory = model.encode(asked[None]).expand(len(tokens), -1, -1)
            return [model.decode(tokens, memory=memory)[:, writing]]

        encoder, cross = replacing.influence(read_on_the_left, asked, watched)
        (decoder,) = replacing.influence(read_on_the_right, answer, writing)
        for name, one in (("encoder", encoder), ("decoder", decoder), ("cross", cross)):
            found[name].append(one)
    places = {
        "encoder": torch.arange(len(watched)),
        "decoder": torch.arange(len(writing)),
        "cross": torch.from_numpy(own)[1:],
    }
    return {name: Direction(torch.stack(ones), places[name]) for name, ones in found.items()}


class _Asked(NamedTuple):
    """What an encoder-decoder reads and writes: ``inputs`` (N, T), of which the first ``watched`` are changed,
    ``written`` (N, U), which starts with <bos>, and for each of its slots (U,) its ``own`` in the inputs."""

    inputs: np.ndarray
    watched: int
    written: np.ndarray
    own: np.ndarray


def _spans(tokenizer: Tokenizer, texts: np.ndarray, rng: np.random.Generator) -> _Asked:
    """Texts with spans cut out, and the spans; own is the sentinel whose span is being written."""
    sentinels = np.array(tokenizer.sentinels)
    noise = noise_mask(1, texts.shape[1], rng, density=_DENSITY, mean_span=_MEAN_SPAN)
    if len(sentinels) < (spans := int((np.diff(noise[0].astype(int), prepend=0) == 1).sum())):
        raise UserError(f"the tokenizer has {len(sentinels)} sentinels of the {spans} that this length needs")
    inputs, targets = corrupt(texts, noise.repeat(len(texts), 0), sentinels, tokenizer.eos)
    written = shift_right(targets, tokenizer.bos)
    return _Asked(inputs, inputs.shape[1] - 1, written, _holes(inputs[0], written[0], sentinels))


def _whole(tokenizer: Tokenizer, texts: np.ndarray, rng: np.random.Generator) -> _Asked:
    """Texts, written again; own is the token that comes next."""
    inputs = np.pad(texts, ((0, 0), (0, 1)), constant_values=tokenizer.eos)
    return _Asked(inputs, texts.shape[1], shift_right(inputs, tokenizer.bos), np.arange(inputs.shape[1]))


def _on(tokenizer: Tokenizer, texts: np.ndarray, rng: np.random.Generator) -> _Asked:
    """The first halves of texts, and the second; no slot of the first is nearer than its last."""
    half = texts.shape[1] // 2
    inputs = np.pad(texts[:, :half], ((0, 0), (1, 0)), constant_values=tokenizer.eos)
    written = np.pad(texts[:, half:], ((0, 0), (1, 0)), constant_values=tokenizer.bos)
    return _Asked(inputs, half + 1, written, np.full(written.shape[1], half))


def _holes(inputs: np.ndarray, written: np.ndarray, sentinels: np.ndarray) -> np.ndarray:
    """The slot in ``inputs`` (T,) of the last sentinel at or before each slot of ``written`` (U,), which starts with
    <bos>."""
    slots = np.flatnonzero(np.isin(inputs, sentinels))
    return slots[np.maximum(np.isin(written, sentinels).cumsum() - 1, 0)]


def matrices(found: dict[str, Direction]) -> dict[str, list[list[float]]]:
    """The mean matrices, as ``direction.json`` keeps them."""
    return {name: one.mean.tolist() for name, one in found.items()}


def rows(found: dict[str, Direction], options: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    """``found`` as rows of ``results.json``."""
    return [
        row("direction", name, metric, value, len(one.per_text), options)
        for name, one in found.items()
        for metric, value in one.fractions().items()
    ]
