"""What a source is, and how documents are dealt to splits."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Protocol

from zoo.errors import UserError

SPLITS = ("train", "validation", "test")


class Source(Protocol):
    """Text in three splits; a pure function of its settings and the contents it reads."""

    name: str

    def fingerprint(self) -> str:
        """A hash of the settings and contents: equal fingerprints mean equal documents in every split."""

    def documents(self, split: str) -> Iterator[str]:
        """The documents of `split`, one of "train", "validation" and "test", always in the same order."""


def digest(*parts: object) -> str:
    """A hash of `parts` that is the same on every machine and in every process."""
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:24]


def share(*parts: object) -> float:
    """A number in [0, 1) drawn by the hash of `parts`."""
    return int(digest(*parts)[:13], 16) / 16**13


def deal(draw: float, validation: float, test: float) -> str:
    """The split of a document that drew `draw` in [0, 1)."""
    if draw < test:
        return "test"
    return "validation" if draw < test + validation else "train"


def reason(error: BaseException) -> str:
    """What `error` says, on one line."""
    return " ".join(str(error).split()) or type(error).__name__


def check_shares(validation: float, test: float) -> None:
    """Raises `UserError` unless some of the text is left for training."""
    if min(validation, test) < 0 or validation + test >= 1:
        raise UserError(
            f"data.validation={validation} and data.test={test} must be shares that leave text to train on"
        )


def check_split(split: str) -> None:
    """Raises `ValueError` for anything but the three names."""
    if split not in SPLITS:
        raise ValueError(f"no split {split!r}: it is one of {', '.join(SPLITS)}")
