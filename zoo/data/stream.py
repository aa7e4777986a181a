"""`prepare`: a source and a kind of tokenizer become token streams, once; later runs map them from the cache.

Shape letters: N tokens, M documents, K sentences.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from filelock import FileLock

from zoo.data import encode
from zoo.data.encode import Progress
from zoo.data.sources.source import SPLITS, Source
from zoo.data.tokenizer import Tokenizer
from zoo.data.vocabularies import Kind
from zoo.errors import UserError

logger = logging.getLogger(__name__)

FORMAT = 1  # raise it when the same source and settings give other arrays
_MANIFEST = "manifest.json"
_TOKENIZER = "tokenizer.json"


@dataclass(frozen=True)
class Stream:
    """The documents of a split, concatenated, each followed by eos.

    tokens (N,) uint16 or uint32; documents (M + 1,) int64, where each document starts, and N; sentences (K,)
    int64, where sentences or lines start, document starts included.
    """

    tokens: np.ndarray
    documents: np.ndarray
    sentences: np.ndarray

    def __len__(self) -> int:
        return len(self.tokens)

    def document_of(self, positions: np.ndarray) -> np.ndarray:
        """The number of the document that each position lies in; any shape in, the same shape out, int64."""
        return np.searchsorted(self.documents, positions, side="right") - 1


@dataclass(frozen=True)
class Corpus:
    """A source's three splits as tokens; `fingerprint` names source, tokenizer and format together."""

    tokenizer: Tokenizer
    train: Stream
    validation: Stream
    test: Stream
    fingerprint: str


def default_cache() -> Path:
    """$ZOO_CACHE, or ~/.cache/zoo."""
    return Path(os.environ.get("ZOO_CACHE") or Path.home() / ".cache" / "zoo")


def prepare(
    source: Source, kind: Kind, *, cache: str | Path | None = None, progress: Progress | None = None
) -> Corpus:
    """The tokens of `source` under a tokenizer of `kind`, from the cache where it has them whole.

    Any number of processes may ask for the same at once: one builds, the others wait for it. A damaged entry
    is built again with a warning. `progress` is called with a line of text now and then.

    Raises `UserError` when the train split has no text, or the source or the tokenizer cannot be read.
    """
    report = progress or logger.info
    root = default_cache() if cache is None else Path(cache)
    key = hashlib.sha256(f"{source.fingerprint()}/{kind.fingerprint()}/{FORMAT}".encode()).hexdigest()[:24]
    folder = root / key
    try:
        root.mkdir(parents=True, exist_ok=True)
        with FileLock(root / f"{key}.lock"):
            damage = _damage(folder) if folder.exists() else "missing"
            if damage:
                if folder.exists():
                    logger.warning("the cache %s is damaged (%s) and is built again", folder, damage)
                _build(folder, source, kind, report)
            return _load(folder, key)
    except OSError as error:
        raise UserError(
            f"cannot use the cache {root} ({error}): free some space, or set ZOO_CACHE to another folder"
        ) from error


def _build(folder: Path, source: Source, kind: Kind, report: Progress) -> None:
    """Write the entry under another name and rename it: a folder of the right name is a finished one."""
    for left in folder.parent.glob(f"{folder.name}.*/"):  # by a process that was killed: the lock is ours
        shutil.rmtree(left, ignore_errors=True)
    building = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
    try:
        report(f"{source.name}: preparing the tokenizer")
        tokenizer = kind.fit(source.documents("train"))
        tokenizer.save(building / _TOKENIZER)
        for split in SPLITS:
            encode.write(building, split, source.documents(split), tokenizer, report)
        if not encode.file_of(building, "train", "tokens").stat().st_size:
            raise UserError(
                f"{source.name} has no text to train on: give it more, or hold out a smaller share"
            )
        manifest = {path.name: [path.stat().st_size, _checksum(path)] for path in sorted(building.iterdir())}
        (building / _MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        building.rename(folder)
    finally:
        shutil.rmtree(building, ignore_errors=True)


def _damage(folder: Path) -> str | None:
    """What is wrong with a cache entry, or None."""
    try:
        manifest = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
        expected = {encode.file_of(folder, split, array).name for split in SPLITS for array in encode.ARRAYS}
        if set(manifest) != expected | {_TOKENIZER}:
            return f"{_MANIFEST} lists other files"
        for name, (size, checksum) in manifest.items():
            path = folder / name
            if path.stat().st_size != size or _checksum(path) != checksum:
                return f"{name} has changed"
    except (OSError, ValueError, TypeError) as error:
        return str(error)
    return None


def _load(folder: Path, key: str) -> Corpus:
    tokenizer = Tokenizer.load(folder / _TOKENIZER)
    train, validation, test = (_read(folder, split, tokenizer.vocab_size) for split in SPLITS)
    return Corpus(tokenizer, train, validation, test, key)


def _read(folder: Path, split: str, vocab_size: int) -> Stream:
    """Memory-map what `encode.write` wrote."""
    dtypes = (encode.token_dtype(vocab_size), np.dtype(np.int64), np.dtype(np.int64))
    return Stream(
        *(
            _map(encode.file_of(folder, split, array), dtype)
            for array, dtype in zip(encode.ARRAYS, dtypes, strict=True)
        )
    )


def _map(path: Path, dtype: np.dtype) -> np.ndarray:
    if path.stat().st_size == 0:  # an empty file cannot be mapped
        return np.zeros(0, dtype=dtype)
    return np.memmap(path, dtype=dtype, mode="r")


def _checksum(path: Path) -> int:
    checksum = 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            checksum = zlib.crc32(block, checksum)
    return checksum
