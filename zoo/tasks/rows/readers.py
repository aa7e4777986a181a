"""Rows from files of shapes that task data come in.  Each reader has ``rows(split)``, as `Files` and `Hub` have.

``path``: a file, folder or glob pattern, plain, packed or in an archive, whose files are train, validation and test by
their names; or a mapping from these splits to such paths.  A split without a file is cut from train by the hash of
(seed, row), ``validation`` and ``test`` being its share.  Raises `UserError` where a file is not what it should be.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Protocol

from zoo.data.sources import SPLITS, Files, Hub
from zoo.data.sources.source import check_shares, check_split, deal, share
from zoo.errors import UserError

Row = dict[str, Any]
Path = str | Mapping[str, str]


class Rows(Protocol):
    """What tasks are made of: rows with named fields, in three splits."""

    def rows(self, split: str) -> Iterator[Row]: ...


def value(row: Row, field: str) -> Any:
    """What is in a field; "translation.de" is the field "de" of the field "translation"."""
    if field in row:
        return row[field]
    first, _, rest = field.partition(".")
    if rest and isinstance(row.get(first), dict):
        return value(row[first], rest)
    raise UserError(
        f"a row has no field {field!r} (but {', '.join(map(str, row)) or 'none'}): name one of these"
    )


class Cut:
    """The rows of each split: read from its own files, or cut from train.

    Args:
        read: the rows of a split's own files, none if it has none.
        key: rows with the same one stay in the same split.
    """

    def __init__(self, read: Callable[[str], Iterator[Row]], key: Callable[[Row], object], seed: int,
                 validation: float, test: float) -> None:  # fmt: skip
        check_shares(validation, test)
        self.read, self.key, self.seed, self.shares = (
            read,
            key,
            seed,
            {"validation": validation, "test": test},
        )

    def rows(self, split: str) -> Iterator[Row]:
        check_split(split)
        shares = {
            one: 0.0 if any(True for _ in self.read(one)) else part for one, part in self.shares.items()
        }
        if split != "train" and not shares[split]:
            yield from self.read(split)
            return
        for row in self.read("train"):
            draw = share(self.seed, self.key(row))
            if deal(draw, shares["validation"], shares["test"]) == split:
                yield row


def _texts(path: Path, documents: str, encoding: str) -> Callable[[str], Iterator[str]]:
    """The documents of the files of each split."""

    def open_one(one: str) -> Files:
        return Files(path=one, format="txt", documents=documents, encoding=encoding, validation=0, test=0)

    if isinstance(path, str):
        return open_one(path).documents
    if unknown := set(path) - set(SPLITS):
        raise UserError(f"path names {', '.join(sorted(unknown))}: its keys are {', '.join(SPLITS)}")
    each = {split: open_one(one) for split, one in path.items()}
    return lambda split: each[split].documents("train") if split in each else iter(())


class Columns:
    """Lines of columns without a header, such as sentence pairs: ``columns`` names them; more columns are left out."""

    def __init__(self, *, path: Path, columns: Sequence[str], separator: str = "\t", encoding: str = "utf-8",
                 seed: int = 0, validation: float = 0.05, test: float = 0.05) -> None:  # fmt: skip
        texts = _texts(path, "lines", encoding)

        def read(split: str) -> Iterator[Row]:
            for line in texts(split):
                parts = line.split(separator)
                if len(parts) < len(columns):
                    raise UserError(
                        f"a line has fewer than {len(columns)} columns: mend it, or name fewer ({line[:60]!r})"
                    )
                yield dict(zip(columns, parts, strict=False))

        self.rows = Cut(read, lambda row: row[columns[0]], seed, validation, test).rows


class Conll:
    """A token and its tag on each line (the first and last column, unless told), an empty line between sentences.

    Fields: "tokens" and "tags", lists.
    """

    def __init__(self, *, path: Path, token: int = 0, tag: int = -1, encoding: str = "utf-8",
                 seed: int = 0, validation: float = 0.05, test: float = 0.05) -> None:  # fmt: skip
        texts = _texts(path, "blank_lines", encoding)

        def read(split: str) -> Iterator[Row]:
            for block in texts(split):
                lines = [line.split() for line in block.splitlines() if line.strip()]
                if lines[0][0] == "-DOCSTART-":
                    continue
                if any(
                    not -len(line) <= column < len(line) or len(line) < 2
                    for line in lines
                    for column in (token, tag)
                ):
                    raise UserError(
                        f"a line has no token and tag in columns {token} and {tag}: mend it ({block[:60]!r})"
                    )
                yield {"tokens": [line[token] for line in lines], "tags": [line[tag] for line in lines]}

        self.rows = Cut(read, lambda row: row["tokens"], seed, validation, test).rows


class Squad:
    """SQuAD's JSON, articles of paragraphs of questions. Fields: id, title, context, question, answers."""

    def __init__(self, *, path: Path, seed: int = 0, validation: float = 0.1, test: float = 0.1) -> None:
        texts = _texts(path, "file", "utf-8")

        def read(split: str) -> Iterator[Row]:
            for text in texts(split):
                try:
                    yield from _questions(json.loads(text))
                except (json.JSONDecodeError, KeyError, TypeError) as error:
                    raise UserError(
                        f"a file is not JSON in SQuAD's format ({error!r}): check data, paragraphs, qas"
                    ) from error

        self.rows = Cut(read, lambda row: row["context"], seed, validation, test).rows


def _questions(contents: Any) -> Iterator[Row]:
    for article in contents["data"]:
        for paragraph in article["paragraphs"]:
            for qa in paragraph["qas"]:
                answers = qa.get("answers", [])
                yield {
                    "id": qa["id"], "title": article.get("title", ""), "context": paragraph["context"],
                    "question": qa["question"],
                    "answers": {
                        "text": [answer["text"] for answer in answers],
                        "answer_start": [answer["answer_start"] for answer in answers],
                    },
                }  # fmt: skip


class Json:
    """One JSON file: {split: [row, ...]}, or a list of rows; ``columns`` names the parts of rows that are lists.

    ``splits``: what the file calls ours.
    """

    def __init__(self, *, path: str, columns: Sequence[str] = (), splits: Mapping[str, str] | None = None,
                 seed: int = 0, validation: float = 0.05, test: float = 0.05) -> None:  # fmt: skip
        texts, names = _texts(path, "file", "utf-8"), {split: split for split in SPLITS} | dict(splits or {})

        def read(split: str) -> Iterator[Row]:
            for text in texts("train"):
                try:
                    contents = json.loads(text)
                except json.JSONDecodeError as error:
                    raise UserError(f"{path} is not JSON ({error}): mend it") from error
                if not isinstance(contents, dict):
                    contents = {names["train"]: contents}
                for row in contents.get(names[split], []):
                    yield row if isinstance(row, dict) else dict(zip(columns, row, strict=False))

        self.rows = Cut(read, repr, seed, validation, test).rows


class Folders:
    """Text files of which each is, or each folder holds, one class: ``paths`` says where each class lies.

    ``documents``: file, blank_lines or lines.  Fields: "text" and "label".
    """

    def __init__(self, *, paths: Mapping[str, str], documents: str = "lines", encoding: str = "utf-8", seed: int = 0,
                 validation: float = 0.1, test: float = 0.1) -> None:  # fmt: skip
        texts = {label: _texts(path, documents, encoding) for label, path in paths.items()}

        def read(split: str) -> Iterator[Row]:
            return (
                {"text": text.strip(), "label": label} for label, of in texts.items() for text in of(split)
            )

        self.rows = Cut(read, lambda row: row["text"], seed, validation, test).rows


class HubRows(Hub):
    """A hub data set of which no field need be text.  ``field``: what rows are dealt by; "": the whole row."""

    def _read(self, theirs: str) -> Iterator[tuple[str, Row]]:
        import datasets

        with self._explained():
            data = datasets.load_dataset(
                self.dataset, self.config, split=theirs, revision=self.revision, streaming=self.streaming
            )
            for row in islice(data, self.limit):
                yield str(value(row, self.field) if self.field else row), row
