"""The user's own files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import IO

import numpy as np

from zoo.data.sources import listing, opening
from zoo.data.sources.listing import File
from zoo.data.sources.rows import DOCUMENTS, FORMATS, Row, rows_of, text_of
from zoo.data.sources.source import check_shares, check_split, deal, digest, share
from zoo.errors import UserError


class Files:
    """Documents from .txt, .jsonl, .csv, .tsv and .parquet files, plain, .gz, .bz2, .xz, in .zip or .tar.*.

    `path` is a file, a folder (with all below it) or a glob pattern. A text file is one document, or has one
    in each paragraph or line (`documents`: file, blank_lines, lines); of the others, `field` of each row is
    one.

    Where files, or the folders they are in, are called train, validation (valid, val, dev) or test, these are
    the splits. A split that has no file is cut from the train text. `split_by="document"` deals out documents
    by the hash of (seed, text), `validation` and `test` being shares of their number, so that equal documents
    stay together. `split_by="end"` cuts by position: the last share of the characters is the test text, the
    one before it the validation text. Fewer than three documents are always cut by position.

    Raises `UserError` when there is nothing to read, or it is not what its name says.
    """

    name = "files"

    def __init__(
        self,
        *,
        path: str,
        seed: int = 0,
        field: str = "text",
        documents: str = "file",
        split_by: str = "document",
        validation: float = 0.05,
        test: float = 0.05,
        encoding: str = "utf-8",
        format: str | None = None,
    ) -> None:
        check_shares(validation, test)
        _one_of("documents", documents, DOCUMENTS)
        _one_of("split_by", split_by, ("document", "end"))
        if format is not None:
            _one_of("format", format, FORMATS.values())
        try:
            "".encode(encoding)
        except LookupError as error:
            raise UserError(
                f"data.encoding={encoding} is unknown: set one such as utf-8 or latin-1"
            ) from error
        self.path, self.seed, self.field, self.documents_are = path, seed, field, documents
        self.split_by, self.validation, self.test = split_by, validation, test
        self.encoding, self.format = encoding, format

    def fingerprint(self) -> str:
        """A hash of the settings and of every file's name and bytes; where the files lie does not matter."""
        files = listing.find(self.path, self.format)
        contents = [(file.name, file.format) for file in files]
        hashes = [_hash(path) for path in dict.fromkeys(file.path for file in files)]
        settings = (
            self.seed,
            self.field,
            self.documents_are,
            self.split_by,
            self.validation,
            self.test,
            self.encoding,
        )
        return digest(self.name, settings, contents, hashes)

    def documents(self, split: str) -> Iterator[str]:
        """The documents of `split`, in the order of the files."""
        if self._by_position and self._is_cut(split):
            return self._between(*self._span(split))
        return (text for text, _ in self._dealt(split))

    def rows(self, split: str) -> Iterator[Row]:
        """The rows of `split` with all their fields, for tasks. `UserError` where it is cut by position."""
        if self._by_position and self._is_cut(split):
            raise UserError(
                f"{self.path} is cut by position, not by rows: give three rows and data.split_by=document"
            )
        return (row for _, row in self._dealt(split))

    @cached_property
    def _files(self) -> dict[str, list[File]]:
        return listing.by_split(listing.find(self.path, self.format), self.path)

    @cached_property
    def _shares(self) -> tuple[float, float]:
        """The shares of validation and test to be cut from the train files."""
        return (
            0.0 if "validation" in self._files else self.validation,
            0.0 if "test" in self._files else self.test,
        )

    def _is_cut(self, split: str) -> bool:
        """Whether `split` is what the cuts leave or take, not a file's whole text."""
        check_split(split)
        return any(self._shares) and (split == "train" or split not in self._files)

    @cached_property
    def _draws(self) -> np.ndarray:
        """What each document of the train files draws, in [0, 1), ascending."""
        draws = np.sort([share(self.seed, text) for text, _ in self._read(self._files["train"])])
        if not len(draws):
            raise UserError(f"{self.path} holds no text: give a file with text in it")
        return draws

    @property
    def _by_position(self) -> bool:
        return self.split_by == "end" or len(self._draws) < 3

    def _dealt(self, split: str) -> Iterator[tuple[str, Row]]:
        if not self._is_cut(split):
            yield from self._read(self._files.get(split, []))
            return
        # By rank among the draws, so that of thirteen books one is for validation, not none or three by
        # chance.
        n_validation, n_test = (
            max(1, round(part * len(self._draws))) if part else 0 for part in self._shares
        )
        below_test, below = self._draws[n_test], self._draws[min(n_test + n_validation, len(self._draws) - 1)]
        for text, row in self._read(self._files["train"]):
            if deal(share(self.seed, text), below - below_test, below_test) == split:
                yield text, row

    def _span(self, split: str) -> tuple[int, int]:
        """The first character of `split` in the train text, and the one behind its last."""
        total = sum(len(text) for text, _ in self._read(self._files["train"]))
        validation, test = self._shares
        cuts = (0, int(total * (1 - validation - test)), int(total * (1 - test)), total)
        at = ("train", "validation", "test").index(split)
        return cuts[at], cuts[at + 1]

    def _between(self, start: int, end: int) -> Iterator[str]:
        at = 0
        for text, _ in self._read(self._files["train"]):
            if part := text[max(start - at, 0) : max(end - at, 0)]:
                yield part
            at += len(text)

    def _read(self, files: list[File]) -> Iterator[tuple[str, Row]]:
        """Every text that is not empty, and its row."""
        for path, group in groupby(files, key=lambda file: file.path):
            with opening.readable(path):
                for stream, file in _streams(path, {file.member: file for file in group}):
                    for row in rows_of(
                        stream, file.name, file.format, self.encoding, self.documents_are, self.field
                    ):
                        if text := text_of(row, self.field, file.name):
                            yield text, row


def _streams(path: Path, files: dict[str, File]) -> Iterator[tuple[IO[bytes], File]]:
    if opening.is_archive(path):
        yield from ((stream, files[member]) for member, stream in opening.members(path, files))
    else:
        with opening.plain(path) as stream:
            yield stream, files[""]


def _hash(path: Path) -> str:
    with opening.readable(path), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _one_of(setting: str, value: str, allowed: Iterable[str]) -> None:
    names = list(dict.fromkeys(allowed))
    if value not in names:
        raise UserError(f"data.{setting}={value} is unknown: set one of {', '.join(names)}")
