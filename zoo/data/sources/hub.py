"""Data sets of the Hugging Face hub, and local folders in the same layout."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from itertools import islice
from pathlib import Path

from zoo.data.sources.rows import Row, text_of
from zoo.data.sources.source import SPLITS, check_shares, check_split, deal, digest, reason, share
from zoo.errors import UserError


class Hub:
    """The rows of a `datasets` data set, the text in each row's `field` being a document.

    `splits` says what the data set calls train, validation and test (or slices: "train[:1%]", unless
    streamed). A split it does not name is cut from the train rows by the hash of (seed, text). `limit` keeps
    the first so many rows of each of the data set's splits.

    Raises `UserError` when the hub cannot be reached, or has no such data set, split or field.
    """

    name = "hub"

    def __init__(
        self,
        *,
        name: str,
        config: str | None = None,
        revision: str | None = None,
        seed: int = 0,
        field: str = "text",
        splits: Mapping[str, str | None] | None = None,
        validation: float = 0.05,
        test: float = 0.05,
        streaming: bool = False,
        limit: int | None = None,
    ) -> None:
        check_shares(validation, test)
        self.dataset, self.config, self.revision, self.seed, self.field = name, config, revision, seed, field
        self.splits = {"train": "train"} | {ours: theirs for ours, theirs in (splits or {}).items() if theirs}
        if unknown := set(self.splits) - set(SPLITS):
            raise UserError(
                f"data.splits names {', '.join(sorted(unknown))}: its keys are {', '.join(SPLITS)}"
            )
        self.validation = 0.0 if "validation" in self.splits else validation
        self.test = 0.0 if "test" in self.splits else test
        self.streaming, self.limit = streaming, limit

    def fingerprint(self) -> str:
        """A hash of the settings and the data: the bytes of a local folder, or what names the hub's files."""
        shares = (self.validation, self.test)
        settings = (self.config, self.seed, self.field, sorted(self.splits.items()), shares, self.limit)
        return digest(self.name, settings, self._contents)

    def documents(self, split: str) -> Iterator[str]:
        """The documents of `split`, in the data set's order."""
        return (text for text, _ in self._dealt(split))

    def rows(self, split: str) -> Iterator[Row]:
        """The rows of `split` with all their fields, for tasks."""
        return (row for _, row in self._dealt(split))

    @cached_property
    def _contents(self) -> str:
        folder = Path(self.dataset).expanduser()
        if folder.is_dir():
            files = sorted(path for path in folder.rglob("*") if path.is_file())
            hashes = [hashlib.sha256(path.read_bytes()).hexdigest() for path in files]
            return digest([path.relative_to(folder).as_posix() for path in files], hashes)
        import datasets

        with self._explained():
            builder = datasets.load_dataset_builder(self.dataset, self.config, revision=self.revision)
            return digest(self.dataset, builder.hash, str(builder.info.version))

    def _dealt(self, split: str) -> Iterator[tuple[str, Row]]:
        check_split(split)
        if split != "train" and split in self.splits:
            yield from self._read(self.splits[split])
            return
        for text, row in self._read(self.splits["train"]):
            if deal(share(self.seed, text), self.validation, self.test) == split:
                yield text, row

    def _read(self, theirs: str) -> Iterator[tuple[str, Row]]:
        import datasets

        with self._explained():
            data = datasets.load_dataset(
                self.dataset, self.config, split=theirs, revision=self.revision, streaming=self.streaming
            )
            for row in islice(data, self.limit):
                if text := text_of(row, self.field, self.dataset):
                    yield text, row

    @contextmanager
    def _explained(self) -> Iterator[None]:
        from datasets.exceptions import DatasetsError

        try:
            yield
        except ConnectionError as error:
            raise UserError(
                f"the hub cannot be reached for {self.dataset}: check the connection, or name a local folder"
            ) from error
        except (OSError, ValueError, DatasetsError) as error:
            raise UserError(
                f"cannot read {self.dataset} ({reason(error)}): mend data.name, config, revision or splits"
            ) from error
