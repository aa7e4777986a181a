"""How a model that writes is asked for what is missing between two texts: as it was asked in pre-training.

on      it reads what stands before and goes on; what stands after is not seen (causal LM, prefix LM)
spans   it reads both sides with a sentinel between them, and writes the sentinel and what it stands for (T5)
whole   it reads both sides with a <mask> between them, and writes all of the text again (BART)

Whichever the way, an encoder-decoder writes in its decoder after a start token; a decoder alone goes on in the same
row, after a start token too where it was trained so (spans, whole).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from zoo.data.tokenizer import Tokenizer
from zoo.errors import UserError
from zoo.models import Transformer

Way = Literal["on", "spans", "whole"]


class Question(NamedTuple):
    """What is read (``given``), what is written already (``begun``), and what comes after the answer: one of ``ends``
    (empty: nothing is said of its end), or the tokens ``rest`` one after the other."""

    given: list[int]
    begun: list[int]
    ends: list[int]
    rest: list[int]


def usual(model: Transformer) -> Way:
    """How models of its assembly are mostly trained: a decoder writes on, an encoder-decoder span by span."""
    return "on" if model.encoder is None else "spans"


def question(
    model: Transformer,
    tokenizer: Tokenizer,
    left: Sequence[int],
    right: Sequence[int],
    way: Way | None = None,
) -> Question:
    """What stands between ``left`` and ``right``?

    Raises:
        UserError: the way is spans, and the tokenizer has no sentinel.
    """
    way = way or usual(model)
    start = [] if way == "on" and model.encoder is None else [tokenizer.bos]
    if way == "on":
        return Question([tokenizer.eos, *left], start, [], [])
    if way == "spans":
        hole = first_sentinel(tokenizer)
        return Question([*left, hole, *right, tokenizer.eos], [*start, hole], stops(tokenizer), [])
    rest = [*right, tokenizer.eos]
    return Question([*left, tokenizer.mask, *rest], [*start, *left], [], rest)


def first_sentinel(tokenizer: Tokenizer) -> int:
    """Raises UserError where there is none."""
    if not tokenizer.sentinels:
        raise UserError(
            "the tokenizer has no <extra_id_0> to stand for what is hidden: set tokenizer.sentinels"
        )
    return tokenizer.sentinels[0]


def stops(tokenizer: Tokenizer) -> list[int]:
    """What ends the answer to the first sentinel."""
    return [tokenizer.eos, *tokenizer.sentinels[1:]]
