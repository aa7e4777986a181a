"""Files as byte streams: plain, compressed, and inside archives, by suffix."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, cast

from zoo.data.sources.source import reason
from zoo.errors import UserError

_UNPACK: dict[str, Callable[[IO[bytes]], object]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_ARCHIVES = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")
# RuntimeError is what zipfile raises for a password it was not given.
_DAMAGE = (EOFError, OSError, RuntimeError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, tarfile.TarError)


def is_archive(path: Path) -> bool:
    """Whether `path` is, by its name, an archive: a file that holds files."""
    return path.name.lower().endswith(_ARCHIVES)


def bare(name: str) -> str:
    """`name` without the suffix of its compression: a.txt.gz -> a.txt."""
    path = PurePosixPath(name)
    return str(path.with_suffix("")) if path.suffix.lower() in _UNPACK else name


def names(path: Path) -> list[str]:
    """The names of the files in the archive `path`, in its order."""
    with readable(path):
        if path.suffix.lower() == ".zip":
            with zipfile.ZipFile(path) as archive:
                return [info.filename for info in archive.infolist() if not info.is_dir()]
        with tarfile.open(path) as tar:
            return [member.name for member in tar if member.isfile()]


def members(path: Path, wanted: Collection[str]) -> Iterator[tuple[str, IO[bytes]]]:
    """The `wanted` files of the archive `path`, name and decompressed bytes, in its order, in one pass.

    Each stream must be read before the next is asked for, all inside `readable`.
    """
    if path.suffix.lower() == ".zip":
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if info.filename in wanted:
                    yield info.filename, _unpacked(archive.open(info), info.filename)
        return
    with tarfile.open(path) as tar:
        for member in tar:
            if member.name in wanted and (stream := tar.extractfile(member)):
                yield member.name, _unpacked(stream, member.name)


@contextmanager
def plain(path: Path) -> Iterator[IO[bytes]]:
    """The decompressed bytes of the single file `path`."""
    with path.open("rb") as stream:
        yield _unpacked(stream, path.name)


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turns what a missing or damaged file raises while it is read into a `UserError`."""
    try:
        yield
    except _DAMAGE as error:
        raise UserError(f"cannot read {path} ({reason(error)}): check the file, or fetch it again") from error


def _unpacked(stream: IO[bytes], name: str) -> IO[bytes]:
    unpack = _UNPACK.get(PurePosixPath(name).suffix.lower())
    return cast("IO[bytes]", unpack(stream)) if unpack else stream
