"""How an example is laid out in tokens, the same for every architecture and reading."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from zoo.data.tokenizer import Tokenizer
from zoo.tasks.task import Example


class Source(NamedTuple):
    """An example's tokens; those of its text are ``text_at`` to before ``text_at + len(starts)``, and token i of these
    begins at character ``starts[i]`` and ends before ``ends[i]``."""

    tokens: list[int]
    text_at: int
    starts: list[int]
    ends: list[int]


class Layout:
    """``<cls> text <sep>``, ``<cls> text <sep> query <sep>`` or ``<cls> query <sep> text <sep>``.

    Args:
        tokenizer: the run's.
        longest: tokens of a source; the end of a longer text is not read.
        answer: tokens that a model may write or fill for an answer, the <eos> after it included.
    """

    def __init__(self, tokenizer: Tokenizer, *, longest: int, answer: int) -> None:
        self.tokenizer, self.longest, self.answer = tokenizer, longest, answer

    def sources(self, examples: Sequence[Example]) -> list[Source]:
        texts = self.tokenizer.encode_with_starts([example.text for example in examples])
        queries = self.tokenizer.encode_batch([example.query for example in examples])
        return [
            self._source(example, ids.tolist(), starts.tolist(), query)
            for example, (ids, starts), query in zip(examples, texts, queries, strict=True)
        ]

    def _source(self, example: Example, text: list[int], starts: list[int], query: list[int]) -> Source:
        cls, sep = self.tokenizer.cls, self.tokenizer.sep
        room = max(self.longest - 2 - (len(query) + 1 if query else 0), 0)
        later = [*np.unique(starts).tolist(), len(example.text)]  # the bytes of one character start together
        ends = [later[bisect_right(later, start)] if start < later[-1] else start for start in starts][:room]
        text, starts = text[:room], starts[:room]
        if not query:
            return Source([cls, *text, sep], 1, starts, ends)
        if example.query_first:
            return Source([cls, *query, sep, *text, sep], len(query) + 2, starts, ends)
        return Source([cls, *text, sep, *query, sep], 1, starts, ends)
