"""Encoding a split's documents into arrays on disk, a batch at a time."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from zoo.data import sentences
from zoo.data.tokenizer import Tokenizer

Progress = Callable[[str], None]

# Documents are cut into pieces of about this many characters, where sentences start, so that all cores have work, and
# encoded in batches of this many: while it works the library holds some 100 bytes a token.
_PIECE = 100_000
_BATCH = 4_000_000


class _Piece(NamedTuple):
    text: str
    marks: list[int]  # the characters of `text` at which sentences start
    first: bool  # of its document
    last: bool


ARRAYS = ("tokens", "documents", "sentences")


def file_of(folder: Path, split: str, array: str) -> Path:
    """Where `array` (one of `ARRAYS`) of `split` lies."""
    return folder / f"{split}.{array}"


def write(
    folder: Path, split: str, documents: Iterable[str], tokenizer: Tokenizer, progress: Progress
) -> None:
    """Encode `documents` and write the arrays of `split` into `folder`, holding a batch at a time."""
    dtype = token_dtype(tokenizer.vocab_size)
    total = 0
    with (
        file_of(folder, split, "tokens").open("wb") as tokens,
        file_of(folder, split, "documents").open("wb") as document_starts,
        file_of(folder, split, "sentences").open("wb") as sentence_starts,
    ):
        for batch in _batches(_pieces(documents)):
            encoded = tokenizer.encode_with_starts([piece.text for piece in batch])
            for piece, (ids, characters) in zip(batch, encoded, strict=True):
                if piece.first:
                    _put(document_starts, np.array([total], dtype=np.int64))
                # From the characters, not by encoding sentence after sentence, so that the ids are those of the
                # whole text for every kind of tokenizer. A token across a start belongs to the sentence before.
                starts = np.unique(np.searchsorted(characters, piece.marks))
                _put(sentence_starts, starts[(starts < len(ids)) | (starts == 0) & piece.first] + total)
                row = np.append(ids, tokenizer.eos) if piece.last else ids
                _put(tokens, row.astype(dtype))
                total += len(row)
            progress(f"{split}: {total:,} tokens")
        _put(document_starts, np.array([total], dtype=np.int64))


def token_dtype(vocab_size: int) -> np.dtype:
    """The smallest of uint16 and uint32 that holds every id."""
    return np.dtype(np.uint16 if vocab_size <= 2**16 else np.uint32)


def _pieces(documents: Iterable[str]) -> Iterator[_Piece]:
    for document in documents:
        marks = sentences.starts(document)
        cuts: list[int] = []
        for mark in marks:
            if not cuts or mark - cuts[-1] >= _PIECE:
                cuts.append(mark)
        for start, end in pairwise([*cuts, len(document)]):
            inside = [mark - start for mark in marks[bisect_left(marks, start) : bisect_left(marks, end)]]
            yield _Piece(document[start:end], inside, start == 0, end == len(document))


def _batches(pieces: Iterable[_Piece]) -> Iterator[list[_Piece]]:
    batch: list[_Piece] = []
    size = 0
    for piece in pieces:
        batch.append(piece)
        size += len(piece.text)
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _put(file: BinaryIO, array: np.ndarray) -> None:
    file.write(np.ascontiguousarray(array).tobytes())
