"""The loss: a sum over the tokens that count, divided once by how many there are in the whole optimiser step.

Where an objective weights its labels, it is divided by the sum of the weights: the number of tokens they stand for.

Shapes: B rows, M positions in the loss, D model width, V vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from zoo.blocks.masks import EVERYTHING, NotPadding, Rule, SameDocument
from zoo.models import Transformer
from zoo.objectives.batch import Batch
from zoo.objectives.layout import laid_out


@dataclass(frozen=True)
class Sums:
    """Over a batch: the loss in nats of ``count`` tokens, whose weights (1 each where the batch has none) sum to
    ``weight``, right guesses among the ``text`` tokens of these (which text token stands here? sentinels and other
    special tokens are neither asked for nor guessed, as n-gram baselines do not), and the loss, right guesses and
    number of sentence pairs."""

    loss: Tensor
    right: Tensor
    text: Tensor
    count: int
    weight: Tensor | int
    pair_loss: Tensor
    pair_right: Tensor
    pairs: int


def sums(model: Transformer, batch: Batch, is_special: Tensor) -> Sums:
    """Run ``model`` on ``batch``.  The vocabulary is projected at the M positions that count only.

    ``is_special`` (V,) bool marks the tokens that accuracy leaves out.  Right guesses are counted without gradients
    only: training has no use for the cost of finding them.
    """
    batch = laid_out(batch, model)
    rule = _rule(batch)
    read = rule if batch.targets is not None else EVERYTHING
    states = model(
        batch.inputs, batch.targets, segments=batch.segments, rule=rule, memory_rule=read, prefix=batch.prefix
    )
    picked = states.flatten(0, 1)
    if batch.where is not None:
        picked = picked.index_select(0, batch.where)
    right, text = picked.new_zeros(()), picked.new_zeros(())
    if torch.is_grad_enabled():
        loss = model.loss(picked, batch.labels, batch.weights)
    else:
        logits = _wide(model.logits(picked))
        losses = F.cross_entropy(logits, batch.labels, reduction="none")
        loss = (losses if batch.weights is None else losses * batch.weights).sum()
        is_text = ~is_special[batch.labels]
        guesses = logits.masked_fill(is_special, -torch.inf).argmax(-1)
        right, text = (guesses == batch.labels).sum(), is_text.sum()
    pair_loss, pair_right, pairs = loss.new_zeros(()), loss.new_zeros(()), 0
    if batch.next_sentence is not None and model.next_sentence is not None:
        answers = _wide(model.next_sentence(states))
        pair_loss = F.cross_entropy(answers, batch.next_sentence, reduction="sum")
        pair_right, pairs = (answers.argmax(-1) == batch.next_sentence).sum(), len(answers)
    return Sums(loss, right, text, len(batch.labels), batch.weight, pair_loss, pair_right, pairs)


def _rule(batch: Batch) -> Rule:
    """What the batch hides: other documents, and from an encoder what lies behind its prefix."""
    if batch.documents is not None:
        return SameDocument(batch.documents)
    if batch.targets is not None and batch.prefix is not None:
        slots = torch.arange(batch.inputs.shape[1], device=batch.inputs.device)
        return NotPadding(slots < batch.prefix[:, None])
    return EVERYTHING


def _wide(logits: Tensor) -> Tensor:
    """In float32 at least: a softmax over thousands of tokens is not for bfloat16."""
    return logits.to(torch.promote_types(logits.dtype, torch.float32))


def update_loss(found: Sums, batch: Batch) -> Tensor:
    """This part's share of the step's loss: mean over tokens, plus mean over sentence pairs.

    The parts of all micro-batches and ranks add up to exactly the loss of one large batch; a mean of means does not
    where the parts have unequal numbers of tokens.
    """
    loss = found.loss / max(batch.update_labels, 1)
    return loss + found.pair_loss / batch.update_rows if found.pairs else loss
