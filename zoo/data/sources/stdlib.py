"""The standard library of the running Python: a real corpus that is always there."""

from __future__ import annotations

import platform
import sysconfig
import tokenize
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from zoo.data.sources.source import check_shares, check_split, deal, digest, share
from zoo.errors import UserError

_NOT_THE_LIBRARY = {"site-packages", "dist-packages", "__pycache__"}
_TESTS = {"test", "tests", "idle_test"}


class Stdlib:
    """The modules of the standard library, each a document, dealt to splits by the hash of (seed, module).

    The text depends on the Python version, and so does the fingerprint. Tests are left out unless
    `include_tests`: they repeat themselves, and some are broken on purpose.

    Raises `UserError` when the library is not there as .py files.
    """

    name = "stdlib"

    def __init__(
        self, *, seed: int = 0, validation: float = 0.05, test: float = 0.05, include_tests: bool = False
    ) -> None:
        check_shares(validation, test)
        self.seed, self.validation, self.test, self.include_tests = seed, validation, test, include_tests

    @cached_property
    def modules(self) -> dict[str, str]:
        """The text of each module by its path under the library, in an order drawn by the seed.

        Drawn, because what reads the first so many bytes should see all of the library, not the letters a to
        i.
        """
        root = Path(sysconfig.get_path("stdlib"))
        paths = [(path.relative_to(root).as_posix(), path) for path in root.rglob("*.py")]
        kept = [(name, path) for name, path in paths if self._wants(name)]
        if not kept:
            raise UserError(
                f"this Python has no standard library as .py files in {root}: use data=files or data=world"
            )
        kept.sort(key=lambda item: digest(self.seed, "order", item[0]))
        texts = ((name, _text(path)) for name, path in kept)
        return {name: text for name, text in texts if text}

    def fingerprint(self) -> str:
        """A hash of the Python version, the settings and the text."""
        settings = (self.seed, self.validation, self.test, self.include_tests)
        return digest(self.name, platform.python_version(), settings, sorted(self.modules.items()))

    def documents(self, split: str) -> Iterator[str]:
        """The modules of `split`."""
        check_split(split)
        for name, text in self.modules.items():
            if deal(share(self.seed, name), self.validation, self.test) == split:
                yield text

    def _wants(self, name: str) -> bool:
        parts = set(name.split("/"))
        return not parts & _NOT_THE_LIBRARY and (self.include_tests or not parts & _TESTS)


def _text(path: Path) -> str:
    """The text of a module in the encoding it declares; "" where that fails (some tests, by design)."""
    try:
        with tokenize.open(path) as file:
            return file.read()
    except (SyntaxError, UnicodeDecodeError):
        return ""
