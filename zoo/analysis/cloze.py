"""Cloze: one hidden word, each model seeing what it may see (Taylor 1953).

How each model is asked, and what its probability means, stands in ``scoring``.  What it says by itself: who writes on
from the left does so, greedily, for as many tokens as the word has; who fills, as many masks, greedily and from left to
right; who writes spans does so, greedily, until it stops; who writes the whole text, until the right side begins.  The
answer is right where it is the word.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from zoo.analysis.items import Gap, Item, gaps
from zoo.analysis.rows import row
from zoo.analysis.scoring import batches, score
from zoo.data.tokenizer import Tokenizer
from zoo.errors import UserError
from zoo.generation.asking import Way, question, usual
from zoo.generation.fill import Blanks, fill_left_to_right
from zoo.generation.padding import padded
from zoo.generation.write import write
from zoo.models import Transformer
from zoo.models.evaluating import evaluating


@dataclass(frozen=True)
class ClozeResult:
    """``prediction`` is ``right`` where it is ``answer``, of so many ``tokens``; ``bits``: -log2 of the answer's
    probability, of which ``stop_bits`` say where it ends."""

    item: str
    right: bool
    bits: float
    stop_bits: float
    prediction: str
    answer: str
    tokens: int

    @property
    def score(self) -> float:
        """1 or 0."""
        return float(self.right)


def cloze(
    model: Transformer,
    tokenizer: Tokenizer,
    items: Sequence[Item],
    *,
    way: Way | None = None,
    batch_tokens: int = 8192,
) -> list[ClozeResult]:
    """What ``model`` puts in place of each hidden word, and how likely it finds the word.  ``way``: as in ``score``.

    Raises:
        UserError: as ``score``.
    """
    hidden = gaps(tokenizer, items)
    scores = score(model, tokenizer, hidden, way=way, batch_tokens=batch_tokens)
    said = predict(model, tokenizer, hidden, way=way, batch_tokens=batch_tokens)
    results = []
    for item, gap, scored, ids in zip(items, hidden, scores, said, strict=True):
        prediction, answer = tokenizer.decode(ids).strip(), tokenizer.decode(gap.answer).strip()
        results.append(
            ClozeResult(
                item=item.item,
                right=prediction == answer,
                bits=scored.bits,
                stop_bits=scored.stop_bits,
                prediction=prediction,
                answer=answer,
                tokens=scored.tokens,
            )
        )
    return results


def predict(
    model: Transformer,
    tokenizer: Tokenizer,
    hidden: Sequence[Gap],
    *,
    way: Way | None = None,
    batch_tokens: int = 8192,
) -> list[list[int]]:
    """The tokens that ``model`` puts into each gap."""
    said: dict[int, list[int]] = {}
    with evaluating(model):
        for batch in batches([sum(map(len, gap)) + 2 for gap in hidden], batch_tokens):
            said.update(zip(batch, _predict(model, tokenizer, [hidden[i] for i in batch], way), strict=True))
    return [said[index] for index in range(len(hidden))]


def _predict(model: Transformer, tokenizer: Tokenizer, hidden: list[Gap], way: Way | None) -> list[list[int]]:
    most = max(len(gap.answer) for gap in hidden)
    if "fill" in model.capabilities:
        device = model.embedding.tokens.weight.device
        rows = [
            [tokenizer.cls, *gap.left, *[tokenizer.mask] * len(gap.answer), *gap.right, tokenizer.sep]
            for gap in hidden
        ]
        blanks = Blanks(tokenizer.mask, tokenizer.pad, torch.from_numpy(tokenizer.is_special).to(device))
        filled = fill_left_to_right(model, padded(rows, tokenizer.pad, device)[0], blanks).tolist()
        places = [(1 + len(gap.left), 1 + len(gap.left) + len(gap.answer)) for gap in hidden]
        return [one[start:end] for one, (start, end) in zip(filled, places, strict=True)]
    asked = [question(model, tokenizer, gap.left, gap.right, way) for gap in hidden]
    written = write(
        model,
        [one.given for one in asked],
        begun=[one.begun for one in asked],
        # A few more than the longest answer: one that has not ended by then is none of them.
        max_new_tokens=most + {"on": 0, "spans": 2, "whole": _KNOWN}[way or usual(model)],
        stop=asked[0].ends or [tokenizer.eos],
        pad=tokenizer.pad,
        bos=tokenizer.bos,
    )
    return [
        row if one.ends else row[: len(gap.answer)] if not one.rest else _before(row, one.rest[:_KNOWN])
        for row, one, gap in zip(written, asked, hidden, strict=True)
    ]


_KNOWN = 3  # so many tokens of the right side say that it begins


def _before(row: list[int], rest: list[int]) -> list[int]:
    """``row`` up to where ``rest`` begins in it; a row that ends first is what stands before an <eos>."""
    ends = (i for i in range(len(row)) if row[i : i + len(rest)] == rest[: len(row) - i])
    return row[: next(ends, len(row))]


def candidates(
    tokenizer: Tokenizer, items: Sequence[Item], *, count: int = 4, seed: int = 0
) -> list[list[str]]:
    """For each item its own word first, and up to ``count`` - 1 others, drawn from the words hidden in the other items
    that have as many tokens: what fills n masks says nothing of how many there should be."""
    drawn = random.Random(seed)
    lengths: dict[str, int] = {}
    for item, gap in zip(items, gaps(tokenizer, items), strict=True):
        lengths.setdefault(item.hidden, len(gap.answer))
    found = []
    for item in items:
        others = [word for word, n in lengths.items() if n == lengths[item.hidden] and word != item.hidden]
        found.append([item.hidden, *drawn.sample(others, min(count - 1, len(others)))])
    return found


def choose(
    model: Transformer,
    tokenizer: Tokenizer,
    items: Sequence[Item],
    words: Sequence[Sequence[str]],
    *,
    read_on: bool = False,
    way: Way | None = None,
    batch_tokens: int = 8192,
) -> list[int]:
    """Which of ``words[i]`` ``model`` finds likeliest in item i, the first of equals.

    ``read_on``: who writes on also weighs each word by how well the rest of the text follows: by Bayes' rule, what both
    sides say together.  Other models see the right side anyway.

    Raises:
        UserError: as ``score``, or an item has no words.
    """
    if not all(words):
        raise UserError("an item has no words to choose from")
    filled = [
        Item(
            item.item,
            item.text[: item.start] + word + item.text[item.end :],
            item.start,
            item.start + len(word),
        )
        for item, those in zip(items, words, strict=True)
        for word in those
    ]
    hidden = gaps(tokenizer, filled)
    if read_on and "write" in model.capabilities and (way or usual(model)) == "on":
        hidden = [Gap(gap.left, [*gap.answer, *gap.right], []) for gap in hidden]
    costs = iter(score(model, tokenizer, hidden, way=way, batch_tokens=batch_tokens))
    choices = []
    for those in words:
        bits = [next(costs).bits for _ in those]
        choices.append(bits.index(min(bits)))
    return choices


def rows(results: Sequence[ClozeResult], options: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    """``results`` as rows of ``results.json``: of all words, and (task ``one_token``) of those of a single token, where
    no model has to put a word together."""
    kinds = {"cloze": list(results), "one_token": [result for result in results if result.tokens == 1]}
    return [
        row("cloze", task, metric, sum(values) / len(values), len(values), options)
        for task, those in kinds.items()
        if those
        for metric, values in (
            ("accuracy", [result.score for result in those]),
            ("bits_per_word", [result.bits for result in those]),
            ("stop_bits_per_word", [result.stop_bits for result in those]),
        )
    ]
