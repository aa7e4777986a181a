"""The configuration files of sources and tokenizers say what the classes take, and their defaults."""

import inspect
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import yaml

CONF = Path(__file__).parents[2] / "conf"
FILES = [f"data/{name}" for name in ("stdlib", "files", "hub")]
FILES += [f"tokenizer/{name}" for name in ("bpe", "bytes", "characters", "file")]


@pytest.mark.parametrize("name", FILES)
def test_settings_are_the_constructors(name):
    config = yaml.safe_load((CONF / f"{name}.yaml").read_text(encoding="utf-8"))
    config.pop("_convert_", None)
    module, _, kind = config.pop("_target_").rpartition(".")
    parameters = inspect.signature(getattr(import_module(module), kind)).parameters
    assert set(config) == set(parameters)
    for key, value in config.items():
        default = parameters[key].default
        if default is inspect.Parameter.empty:
            assert value == "???"
        elif key not in {"splits", "vocab_size"}:
            assert value == default


@pytest.mark.parametrize("name", ["world", *FILES])
def test_every_line_says_what_it_is_for(name):
    text = (CONF / f"{name if '/' in name else 'data/' + name}.yaml").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith(("_target_", "  "))]
    assert all("# " in line for line in lines)


def test_nothing_heavy_is_imported():
    heavy = "torch", "lightning", "hydra", "omegaconf", "datasets", "pyarrow", "pandas"
    code = (
        "import sys, zoo.data.sources, zoo.data.stream, zoo.data.vocabularies, zoo.data.ngram;"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    root = Path(__file__).parents[2]
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
