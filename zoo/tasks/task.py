"""What a task is: examples, and a score for each answer.  How a model reads one is not its business (``readings``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias


class Span(NamedTuple):
    """Characters ``start`` to before ``end`` of a text.  ``marked``: what it is, only later context settles."""

    start: int
    end: int
    label: str = ""
    marked: bool = False


@dataclass(frozen=True)
class Example:
    """One item.

    Args:
        item: its identity, the same in every run; items from one story share what stands before the last ``/``.
        text: what is read.
        query: a question, or the second sentence of a pair; empty for none.
        query_first: the query stands before the text, not after it.
        answers: what is right: the class; the answer's words; reference texts, any of which will do.
        spans: where it stands in ``text``: every entity with its type; the answer.
        marked: only later context settles it.
    """

    item: str
    text: str
    query: str = ""
    query_first: bool = False
    answers: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    marked: bool = False


# A class, an answer or a written text; of tagging, the entities found.
Prediction: TypeAlias = "str | tuple[Span, ...]"


class Task(Protocol):
    """Examples and a metric.  ``kind`` says what an answer is:

    classify: one of ``classes``; tag: spans of ``text``, each with one of ``classes``; extract: words of ``text``;
    generate: a text.
    """

    name: str
    kind: str
    classes: tuple[str, ...]
    metric: str  # the headline among what ``scores`` gives

    def examples(self, split: str) -> list[Example]:
        """The items of "train", "validation" or "test", the same in every run."""
        ...

    def scores(
        self, examples: Sequence[Example], predictions: Sequence[Prediction]
    ) -> dict[str, list[float]]:
        """Each metric for each item, between 0 and 1, larger is better; NaN where an item has nothing to score."""
        ...

    def baseline(self, examples: Sequence[Example]) -> list[Prediction]:
        """What can be said without reading: the majority, a copy, nothing.  It scores 0 in the table."""
        ...

    def oracle(self, examples: Sequence[Example]) -> list[Prediction]:
        """What a perfect reader of the text would say.  It scores 1 in the table."""
        ...
