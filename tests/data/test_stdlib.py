"""The standard library as a corpus."""

import ast
import platform
from pathlib import Path

import pytest

from zoo.data.sources import SPLITS, Stdlib
from zoo.errors import UserError


@pytest.fixture(scope="module")
def library():
    return Stdlib()


def test_modules_are_those_of_the_library(library):
    assert {"ast.py", "json/decoder.py", "asyncio/tasks.py"} <= set(library.modules)
    assert not [name for name in library.modules if "site-packages" in name or "test" in name.split("/")]
    assert library.modules["ast.py"] == Path(ast.__file__).read_text(encoding="utf-8")
    assert sum(map(len, library.modules.values())) > 5_000_000


def test_every_module_is_in_one_split(library):
    made = {split: list(library.documents(split)) for split in SPLITS}
    assert sorted(text for part in made.values() for text in part) == sorted(library.modules.values())
    total = len(library.modules)
    assert 0.85 * total < len(made["train"]) < 0.95 * total
    assert min(len(made["validation"]), len(made["test"])) > 0.02 * total


def test_settings_and_python_are_in_the_fingerprint(library, monkeypatch):
    assert Stdlib().fingerprint() == library.fingerprint()
    others = [Stdlib(seed=1), Stdlib(validation=0.1), Stdlib(test=0)]
    assert len({source.fingerprint() for source in (library, *others)}) == 4
    assert [list(Stdlib(seed=1).documents("test"))] != [list(library.documents("test"))]
    before = library.fingerprint()
    monkeypatch.setattr(platform, "python_version", lambda: "3.99.0")
    assert library.fingerprint() != before


def test_its_tests_and_odd_modules(monkeypatch, tmp_path):
    for name in ("a.py", "test/b.py", "idlelib/idle_test/c.py", "site-packages/d.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"# {name}\n")
    (tmp_path / "latin.py").write_bytes("# coding: latin-1\n# é\n".encode("latin-1"))
    (tmp_path / "broken.py").write_bytes(b"# coding: nonsense\n")
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path))
    assert set(Stdlib().modules) == {"a.py", "latin.py"}
    assert Stdlib().modules["latin.py"] == "# coding: latin-1\n# é\n"
    assert set(Stdlib(include_tests=True).modules) == {
        "a.py",
        "latin.py",
        "test/b.py",
        "idlelib/idle_test/c.py",
    }


def test_a_python_without_its_library_is_explained(monkeypatch, tmp_path):
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path))
    with pytest.raises(UserError, match="data=files or data=world"):
        list(Stdlib().documents("train"))
    with pytest.raises(UserError, match="leave text to train on"):
        Stdlib(validation=1)
