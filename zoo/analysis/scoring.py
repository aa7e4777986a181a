"""How likely a model finds what is hidden: one chain rule for each way of being asked (``zoo.generation.asking``).

on:      log p(answer | <eos> left), token by token.  Nothing on the right is seen; <eos> left is the prefix of a
         decoder that sees one both ways.  Over all answers of n tokens the probabilities add up to 1.
spans:   left <extra_id_0> right <eos> is read; <extra_id_0> is written, then the answer and a stop: <eos> or another
         sentinel, whichever.  Over all answers of any length the probabilities add up to 1.
whole:   left <mask> right <eos> is read; left is written, then the answer and all of right <eos>, which says where the
         answer ends.  Over all answers of any length the probabilities add up to at most 1.
fill:    <cls> left <mask> x n right <sep>; the masks are predicted from left to right, each seeing the truth in those
         before it and masks behind it.  Over all answers of n tokens, a number that it is told, the probabilities add
         up to 1.

All probabilities are of the model's own softmax over the whole vocabulary.
Shapes: B rows, T tokens read, Q questions (places whose token is asked for), V vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch

from zoo.analysis.items import Gap
from zoo.data.tokenizer import Tokenizer
from zoo.errors import UserError
from zoo.generation.asking import Way, question, stops
from zoo.generation.padding import padded
from zoo.generation.write import longest
from zoo.models import Transformer
from zoo.models.evaluating import evaluating

_STOP = -1  # wanted: that the answer ends here


@dataclass(frozen=True)
class Score:
    """Of one gap: ``bits``, -log2 p(answer), of which ``stop_bits`` say where it ends (0 where it is not asked); and
    ``right`` of its ``tokens`` tokens that the model held likeliest of all text tokens, seeing the truth before
    each."""

    bits: float
    stop_bits: float
    right: int
    tokens: int


class _Row(NamedTuple):
    """What the stack or stacks read, and the tokens ``wanted`` from the states in slot ``first`` and those after, of
    which the first ``answers`` are the gap's and the others say where it ends."""

    gap: int
    inputs: list[int]
    targets: list[int]
    first: int
    wanted: list[int]
    answers: int


def score(
    model: Transformer,
    tokenizer: Tokenizer,
    gaps: Sequence[Gap],
    *,
    way: Way | None = None,
    batch_tokens: int = 8192,
) -> list[Score]:
    """How likely ``model`` finds the answer of each gap.

    Args:
        way: in which it was trained to be asked, if it writes; None: ``usual``.
        batch_tokens: of a batch, padding included.

    Raises:
        UserError: the model can neither write nor fill, a gap is empty, or a text has more tokens than there are
            learned positions.
    """
    if not all(gap.answer for gap in gaps):
        raise UserError("nothing is hidden in one of the gaps: there is no answer to score")
    rows = [row for index, gap in enumerate(gaps) for row in _rows(model, tokenizer, index, gap, way)]
    bits, stop_bits, right = [0.0] * len(gaps), [0.0] * len(gaps), [0] * len(gaps)
    with evaluating(model):
        for batch in batches([len(row.inputs) + len(row.targets) for row in rows], batch_tokens):
            asked = [rows[i] for i in batch]
            costs, hits = _ask(model, tokenizer, asked)
            numbered = ((row.gap, k < row.answers) for row in asked for k in range(len(row.wanted)))
            for (gap, in_answer), cost, hit in zip(numbered, costs, hits, strict=True):
                bits[gap] += cost
                if in_answer:
                    right[gap] += hit
                else:
                    stop_bits[gap] += cost
    return [Score(bits[i], stop_bits[i], right[i], len(gap.answer)) for i, gap in enumerate(gaps)]


def _rows(
    model: Transformer, tokenizer: Tokenizer, index: int, gap: Gap, way: Way | None = None
) -> list[_Row]:
    left, answer, right = gap
    if "fill" in model.capabilities:
        n = len(answer)
        return [
            _Row(
                index,
                [tokenizer.cls, *left, *answer[:k], *[tokenizer.mask] * (n - k), *right, tokenizer.sep],
                [],
                1 + len(left) + k,
                [answer[k]],
                1,
            )
            for k in range(n)
        ]
    if "write" not in model.capabilities:
        raise UserError("this model can neither write nor fill, so it gives no text a probability")
    given, begun, ends, rest = question(model, tokenizer, left, right, way)
    wanted = [*answer, *([_STOP] if ends else rest)]
    written = [*begun, *wanted[:-1]]
    if model.encoder is None:
        return [_Row(index, given + written, [], len(given) + len(begun) - 1, wanted, len(answer))]
    return [_Row(index, given, written, len(begun) - 1, wanted, len(answer))]


def _ask(model: Transformer, tokenizer: Tokenizer, rows: Sequence[_Row]) -> tuple[list[float], list[bool]]:
    """For every wanted token of every row in turn: its cost in bits, and whether it was the guess."""
    device = model.embedding.tokens.weight.device
    inputs, rule = padded([row.inputs for row in rows], tokenizer.pad, device)
    targets = None
    if model.encoder is not None and model.decoder is not None:
        targets, _ = padded(
            [row.targets for row in rows], tokenizer.pad, device
        )  # a decoder sees none behind it
    for stack, read in ((model.encoder, inputs), (model.decoder, inputs if targets is None else targets)):
        if stack is not None and read.shape[1] > longest(stack):
            raise UserError(
                f"a text of {read.shape[1]} tokens does not fit in the {longest(stack)} positions that this model "
                f"has learned: cut the texts"
            )
    # All up to the first question is given.
    given = torch.tensor([row.first + 1 for row in rows], device=device)
    states = model(inputs, targets, rule=rule, memory_rule=rule, prefix=given)
    places = [(n, row.first + k) for n, row in enumerate(rows) for k in range(len(row.wanted))]
    wanted = torch.tensor([token for row in rows for token in row.wanted], device=device)
    which, where = torch.tensor(places, device=device).T
    logits = model.logits(states[which, where])
    logs = logits.to(torch.promote_types(logits.dtype, torch.float32)).log_softmax(-1)
    ending = logs[:, stops(tokenizer)].logsumexp(-1)
    chosen = logs.gather(1, wanted.clamp(min=0)[:, None]).squeeze(1)
    costs = torch.where(wanted == _STOP, ending, chosen) / -math.log(2)
    special = torch.from_numpy(tokenizer.is_special).to(device)
    # A vocabulary may have been rounded up: what lies behind the tokenizer's last token is no text either.
    special = torch.cat([special, special.new_ones(logs.shape[1] - len(special))])
    guesses = logs.masked_fill(special, -torch.inf).argmax(-1)
    return costs.tolist(), (guesses == wanted).tolist()


def batches(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """The indices of ``lengths``, rows of like length together, at most ``tokens`` in a batch when padded."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and lengths[index] * (len(batch) + 1) > tokens:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
