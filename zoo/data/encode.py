"""Encoding a split's documents into arrays on disk, a batch at a time.

Shape letters: T tokens of a document, S sentences in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

import numpy as np

from zoo.data import sentences
from zoo.data.tokenizer import Tokenizer

Progress = Callable[[str], None]

# Documents are encoded in batches of about this many characters (the library holds some 100 bytes a token
# while it works), and longer documents in pieces of this many, cut where sentences start, which also lets it
# use all cores.
_BATCH = 4_000_000
_PIECE = 100_000


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
        for batch in _batches(documents):
            for ids, cuts in _encode(batch, tokenizer):
                _put(tokens, np.append(ids, tokenizer.eos).astype(dtype))
                _put(document_starts, np.array([total], dtype=np.int64))
                _put(sentence_starts, cuts + total)
                total += len(ids) + 1
            progress(f"{split}: {total:,} tokens")
        _put(document_starts, np.array([total], dtype=np.int64))


def token_dtype(vocab_size: int) -> np.dtype:
    """The smallest of uint16 and uint32 that holds every id."""
    return np.dtype(np.uint16 if vocab_size <= 2**16 else np.uint32)


def _batches(documents: Iterable[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for document in documents:
        if not document:
            continue
        batch.append(document)
        size += len(document)
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _encode(batch: list[str], tokenizer: Tokenizer) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Per document its ids (T,) and the positions (S,) where sentences start, int64, the first being 0."""
    starts = [sentences.starts(document) for document in batch]
    cuts = [_cut(document, marks) for document, marks in zip(batch, starts, strict=True)]
    pieces = [d[a:b] for d, at in zip(batch, cuts, strict=True) for a, b in pairwise(at)]
    encoded = iter(tokenizer.encode_with_starts(pieces))
    for marks, at in zip(starts, cuts, strict=True):
        parts = [next(encoded) for _ in at[1:]]
        ids = np.concatenate([part_ids for part_ids, _ in parts])
        characters = np.concatenate([chars + offset for (_, chars), offset in zip(parts, at, strict=False)])
        # From the characters, not by encoding sentence after sentence, so that the ids are those of the whole
        # text for every kind of tokenizer. A token across a start belongs to the sentence before.
        found = np.searchsorted(characters, marks)
        yield ids, np.unique(found[found < max(len(ids), 1)])


def _cut(document: str, marks: list[int]) -> list[int]:
    """0, sentence starts at least `_PIECE` characters apart, and the length of `document`."""
    cuts = [0]
    for mark in marks:
        if mark - cuts[-1] >= _PIECE:
            cuts.append(mark)
    return [*cuts, len(document)]


def _put(file: BinaryIO, array: np.ndarray) -> None:
    file.write(np.ascontiguousarray(array).tobytes())
