"""Tasks from rows, by the names of their fields.

``rows``: where they come from, such as `zoo.tasks.rows.Conll` or `zoo.data.sources.Files`; None: from ``source``, the
run's own data.  ``train``, ``validation``, ``test``: how many items of each split, drawn by hash; None: all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from zoo.data.sources.source import share
from zoo.errors import UserError
from zoo.tasks import kinds
from zoo.tasks.kinds import Made, Make
from zoo.tasks.rows.readers import Row, Rows, value
from zoo.tasks.task import Example, Span


def classify(
    *,
    source: Any = None,
    rows: Rows | None = None,
    text: str = "text",
    label: str = "label",
    query: str | None = None,
    classes: Sequence[str] = (),
    train: int | None = None,
    validation: int | None = None,
    test: int | None = None,
) -> Made:
    """``label``: a field with a word, or a number that counts ``classes`` from 0.  ``query``: a second text, if any."""

    def items(row: Row) -> Iterator[Example]:
        asked = _text(row, query) if query else ""
        yield Example("", _text(row, text), query=asked, answers=(_class(value(row, label), classes),))

    make = _make(source, rows, items, train=train, validation=validation, test=test)
    return kinds.classify("classify", make, classes=classes)


def tag(
    *,
    source: Any = None,
    rows: Rows | None = None,
    tokens: str = "tokens",
    tags: str = "tags",
    names: Sequence[str] = (),
    train: int | None = None,
    validation: int | None = None,
    test: int | None = None,
) -> Made:
    """``tokens``: a list of words; ``tags``: of as many BIO tags, or of numbers that count ``names`` from 0."""

    def items(row: Row) -> Iterator[Example]:
        words, marks = value(row, tokens), [_class(one, names) for one in value(row, tags)]
        if len(words) != len(marks):
            raise UserError(f"a row has {len(words)} {tokens} but {len(marks)} {tags}: mend it")
        if words:
            yield Example("", " ".join(words), spans=spans(words, marks))

    make = _make(source, rows, items, train=train, validation=validation, test=test)
    return kinds.tag("tag", make, classes=sorted({name[2:] for name in names if name != "O"}))


def extract(
    *,
    source: Any = None,
    rows: Rows | None = None,
    context: str = "context",
    question: str = "question",
    answers: str = "answers",
    train: int | None = None,
    validation: int | None = None,
    test: int | None = None,
) -> Made:
    """``answers``: SQuAD's texts with where they start, or plain words of the context.

    A question without an answer is passed over.
    """

    def items(row: Row) -> Iterator[Example]:
        read, right = _text(row, context), _answers(value(row, answers))
        if right:
            at = [_found(read, *one) for one in right]
            yield Example("", read, query=_text(row, question), answers=tuple(dict.fromkeys(said for said, _ in right)),
                          spans=(Span(at[0], at[0] + len(right[0][0])),))  # fmt: skip

    make = _make(source, rows, items, train=train, validation=validation, test=test)
    return kinds.extract("extract", make)


def generate(
    *,
    source: Any = None,
    rows: Rows | None = None,
    text: str = "text",
    answer: str = "answer",
    query: str | None = None,
    metric: str = "rougeL",
    train: int | None = None,
    validation: int | None = None,
    test: int | None = None,
) -> Made:
    """``answer``: a text, or a list of texts that are right.

    ``metric``: the headline: exact, rouge1, rouge2, rougeL, bleu or chrf.
    """

    def items(row: Row) -> Iterator[Example]:
        right = value(row, answer)
        right = (right,) if isinstance(right, str) else tuple(right)
        yield Example("", _text(row, text), query=_text(row, query) if query else "", answers=right)

    make = _make(source, rows, items, train=train, validation=validation, test=test)
    return kinds.generate("generate", make, metric=metric)


def reply(
    *,
    source: Any = None,
    rows: Rows | None = None,
    turns: str = "dialog",
    metric: str = "rougeL",
    train: int | None = None,
    validation: int | None = None,
    test: int | None = None,
) -> Made:
    """``turns``: a list of what was said in turn; any but the first is an answer, the one before it the query."""

    def items(row: Row) -> Iterator[Example]:
        said = [turn.strip() for turn in value(row, turns)]
        for i in range(1, len(said)):
            yield Example(
                "", "\n".join(f"- {turn}" for turn in said[: i - 1]), query=said[i - 1], answers=(said[i],)
            )

    make = _make(source, rows, items, train=train, validation=validation, test=test)
    return kinds.generate("reply", make, metric=metric)


def _make(
    source: Any, rows: Rows | None, items: Callable[[Row], Iterable[Example]], **counts: int | None
) -> Make:
    """Items drawn by hash, not in order; those that share a text share what stands before the last / of their name."""
    given = source if rows is None else rows
    if not hasattr(given, "rows"):
        name = getattr(given, "name", "this source")
        raise UserError(
            f"{name} has no rows with fields: use data=files or data=hub, or give the task's own rows"
        )

    def make(split: str) -> list[Example]:
        numbers: dict[str, int] = {}
        made = []
        for number, row in enumerate(given.rows(split)):
            for j, example in enumerate(items(row)):
                group = numbers.setdefault(example.text or f"row {number}", number)
                made.append(replace(example, item=f"{split}/{group}/{number}.{j}"))
        if not made:
            raise UserError(f"there are no rows for {split}: give it a file, or a share of train above 0")
        return sorted(made, key=lambda example: share("items", example.item))[: counts[split]]

    return make


def _text(row: Row, field: str) -> str:
    found = value(row, field)
    if not isinstance(found, str):
        raise UserError(f"field {field!r} holds {type(found).__name__}, not text: name one of text")
    return found


def _class(label: object, classes: Sequence[str]) -> str:
    if not classes or isinstance(label, str):
        return str(label)
    if not isinstance(label, int) or not 0 <= label < len(classes):
        raise UserError(
            f"label {label!r} is none of the {len(classes)} classes: name them all, in their order"
        )
    return classes[label]


def _answers(given: Any) -> list[tuple[str, int]]:
    """(words, where they start or -1 if that is not said) of each answer."""
    if isinstance(given, str):
        return [(given, -1)]
    if isinstance(given, dict):
        return list(zip(given["text"], given["answer_start"], strict=True))
    return [(one, -1) if isinstance(one, str) else (one["text"], one["answer_start"]) for one in given]


def _found(text: str, answer: str, start: int) -> int:
    at = start if start >= 0 and text.startswith(answer, start) else text.find(answer)
    if at < 0:
        raise UserError(f"the answer {answer!r} does not stand in its text ({text[:60]!r}): mend the row")
    return at


def spans(words: Sequence[str], tags: Sequence[str]) -> tuple[Span, ...]:
    """Entities of BIO tags over " ".join(words); an I- that goes on with nothing begins one, as conlleval has it.

    B begins, I goes on; E and L end, S and U stand alone (IOBES, BILOU).
    """
    found: list[Span] = []
    at, open_ = 0, False
    for word, tag in zip(words, tags, strict=True):
        mark, _, label = tag.partition("-")
        goes_on = open_ and mark in "IEL" and found[-1].label == label
        if goes_on:
            found[-1] = found[-1]._replace(end=at + len(word))
        elif mark != "O":
            found.append(Span(at, at + len(word), label))
        open_ = mark in "BI"
        at += len(word) + 1
    return tuple(found)
