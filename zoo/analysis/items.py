"""Texts with something hidden: the same for every model, since they depend on the texts alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from zoo.data.tokenizer import Tokenizer
from zoo.errors import UserError


@dataclass(frozen=True)
class Item:
    """Characters ``start`` to before ``end`` of ``text`` are hidden.

    ``item``: its identity; items of one text share what stands before the last ``/``.
    """

    item: str
    text: str
    start: int
    end: int

    @property
    def hidden(self) -> str:
        return self.text[self.start : self.end]


class Gap(NamedTuple):
    """Token ids before, in and after what is hidden."""

    left: list[int]
    answer: list[int]
    right: list[int]


def beginning(tokenizer: Tokenizer, text: str, tokens: int) -> str:
    """The first words of ``text``, of at most ``tokens`` tokens."""
    ids, starts = tokenizer.encode_with_starts([text])[0]
    if len(ids) <= tokens:
        return text
    cut = int(starts[tokens])
    whole = (
        cut if text[cut].isspace() else max((m.start() for m in re.finditer(r"\s", text[:cut])), default=0)
    )
    return text[: whole or cut].rstrip()


def cloze_items(texts: Mapping[str, str], *, per_text: int = 4, letters: int = 4) -> list[Item]:
    """From each text, by its name, ``per_text`` words of at least ``letters`` letters, evenly spaced among these."""
    items = []
    for name, text in texts.items():
        words = list(re.finditer(rf"[^\W\d_]{{{letters},}}", text))
        count = min(per_text, len(words))
        for k in range(count):
            word = words[(2 * k + 1) * len(words) // (2 * count)]
            items.append(Item(f"{name}/{k}", text, *word.span()))
    return items


def continuation_items(texts: Mapping[str, str], *, per_text: int = 1, words: int = 12) -> list[Item]:
    """From each text, by its name, ``per_text`` runs of ``words`` words, evenly spaced, the last at its end.

    A text with fewer than ``words`` + ``per_text`` words gives none: before each run there has to be a prefix.
    """
    items = []
    for name, text in texts.items():
        found = list(re.finditer(r"\S+", text))
        last = len(found) - words  # the word at which the last run starts
        for k in range(per_text if last >= per_text else 0):
            first = (k + 1) * last // per_text
            items.append(Item(f"{name}/{k}", text, found[first].start(), found[first + words - 1].end()))
    return items


def gaps(tokenizer: Tokenizer, items: Sequence[Item]) -> list[Gap]:
    """The items as tokens: hidden is every token with a character of what is hidden.

    The tokens are those of the whole text, so a tokenizer that joins a word to the space before it hides both.

    Raises:
        UserError: an item hides nothing.
    """
    for item in items:
        if not 0 <= item.start < item.end <= len(item.text):
            raise UserError(
                f"item {item.item} hides characters {item.start} to {item.end} of {len(item.text)}: give it some"
            )
    encoded = tokenizer.encode_with_starts([item.text for item in items])
    return [_gap(ids, starts, item) for (ids, starts), item in zip(encoded, items, strict=True)]


def _gap(ids: np.ndarray, starts: np.ndarray, item: Item) -> Gap:
    # Several tokens start at the same character where one is made of several bytes: take the first of them.
    holding = starts[max(int(np.searchsorted(starts, item.start, side="right")) - 1, 0)]
    first = int(np.searchsorted(starts, holding))
    last = max(int(np.searchsorted(starts, item.end)), first + 1)
    return Gap(ids[:first].tolist(), ids[first:last].tolist(), ids[last:].tolist())
