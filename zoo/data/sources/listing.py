"""Which files a path stands for, and which split each belongs to by its name."""

from __future__ import annotations

import logging
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from zoo.data.sources import opening
from zoo.data.sources.rows import FORMATS, format_of
from zoo.errors import UserError

logger = logging.getLogger(__name__)

_SPLITS = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "val", "dev"),
    "test": ("test", "testing"),
}
_ABOUT_THE_DATA = {"readme", "license", "licence", "source", "changelog", "notice"}


class File(NamedTuple):
    """A file on disk or in an archive."""

    path: Path  # on disk
    member: str  # its name in the archive at `path`; "" where `path` is the file itself
    name: str  # below the path that the user gave
    format: str


def find(path: str, format: str | None) -> list[File]:
    """Every file with data at `path` (file, folder or glob pattern), archives opened, by name.

    `format` is that of all files; None reads it off their suffixes. Raises `UserError` when there is none.
    """
    root = Path(path).expanduser()
    if root.is_dir():
        on_disk = {p.relative_to(root).as_posix(): p for p in root.rglob("*") if p.is_file()}
    elif root.exists():
        on_disk = {root.name: root}
    else:
        on_disk = _matches(root)
    if not on_disk:
        raise UserError(f"there is no file at {path}: set data.path to a file, a folder or a glob pattern")
    found = [(p, member, name) for top, p in sorted(on_disk.items()) for member, name in _inside(top, p)]
    if len(found) > 1:
        found = [entry for entry in found if _is_data(entry[2])]
    files = [File(*entry, kind) for entry in found if (kind := format or format_of(opening.bare(entry[2])))]
    if not files:
        suffixes = sorted({PurePosixPath(opening.bare(name)).suffix or "none" for _, _, name in found})
        raise UserError(
            f"{path} has no file of a known kind (only {', '.join(suffixes)}, not {', '.join(FORMATS)}): "
            "say what the files are with data.format=txt, jsonl, csv, tsv or parquet"
        )
    if len(files) < len(found):
        logger.warning("%s: %d files of unknown kinds are not read", path, len(found) - len(files))
    return files


def by_split(files: list[File], path: str) -> dict[str, list[File]]:
    """The files of each split that has its own; all of them as "train" where names do not tell."""
    named: dict[str, list[File]] = {}
    for file in files:
        if split := _split_of(file.name):
            named.setdefault(split, []).append(file)
    if "train" not in named or len(named) == 1:
        return {"train": files}
    if rest := len(files) - sum(map(len, named.values())):
        logger.warning("%s: %d files belong to no split by their names and are not read", path, rest)
    return named


def _matches(pattern: Path) -> dict[str, Path]:
    """The files that a glob pattern matches, by their names below the folder that is no pattern."""
    fixed = list(takewhile(lambda part: not any(c in part for c in "*?["), pattern.parts))
    base, rest = Path(*fixed), "/".join(pattern.parts[len(fixed) :])
    return {p.relative_to(base).as_posix(): p for p in base.glob(rest) if p.is_file()} if rest else {}


def _inside(name: str, path: Path) -> list[tuple[str, str]]:
    """Each file in `path`: its name in the archive, and below what the user named."""
    if not opening.is_archive(path):
        return [("", name)]
    return [(member, f"{name}/{member}") for member in opening.names(path)]


def _is_data(name: str) -> bool:
    parts = PurePosixPath(name).parts
    hidden = any(part.startswith((".", "__MACOSX")) for part in parts)
    return not hidden and parts[-1].split(".")[0].lower() not in _ABOUT_THE_DATA


def _split_of(name: str) -> str | None:
    """The split that a part of the path is called after: train.txt, train-00000-of-00002.parquet, test/a."""
    for part in reversed(PurePosixPath(name).parts):
        word = part.replace("_", "-").replace(".", "-").split("-")[0].lower()
        for split, names in _SPLITS.items():
            if word in names:
                return split
    return None
