"""Imports point one way down the house's list, and the plan never meets torch."""

import ast
from itertools import pairwise
from pathlib import Path

import pytest

ZOO = Path(__file__).parents[1] / "zoo"

# Each part may import those before it.  `data` stands beside `models`; both know nothing of each other.
ALLOWED = {
    "errors": set(),
    "plan": {"errors"},
    "config": set(),
    "door": {"errors", "config"},
    "blocks": set(),
    "models": {"blocks", "plan"},
    "data": {"errors"},
    "objectives": {"blocks", "models", "data", "plan", "errors"},
    "generation": {"blocks", "models", "data", "errors"},
    "interop": {"blocks", "models", "plan", "config", "errors"},
    "analysis": {"blocks", "models", "data", "plan", "objectives", "generation", "errors"},
    "tasks": {"blocks", "models", "data", "objectives", "generation", "analysis", "errors"},
    "report": {"errors"},
    "training": {
        "tasks",
        "analysis",
        "blocks",
        "models",
        "data",
        "plan",
        "objectives",
        "generation",
        "errors",
    },
    "api": {"models", "data", "plan", "generation", "training", "config", "door", "errors"},
    "convert": {"api", "interop", "data", "training", "errors"},
    "cli": {"door", "config", "plan", "training", "errors"},
    "__init__": {"api"},
}


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


FILES = sorted(ZOO.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ZOO)))
def test_a_part_imports_only_what_stands_before_it(path):
    part = path.relative_to(ZOO).parts[0].removesuffix(".py")
    found = {
        name.split(".")[1] if "." in name else "door"  # `from zoo import door`
        for name in imports(path)
        if name.split(".")[0] == "zoo"
    }
    assert found <= ALLOWED[part] | {part}


@pytest.mark.parametrize("part", ["plan", "config", "door", "errors"])
def test_what_refuses_imports_nothing_heavy(part):
    files = [path for path in FILES if path.relative_to(ZOO).parts[0].removesuffix(".py") == part]
    heavy = {"torch", "lightning", "numpy", "tokenizers", "datasets", "wandb", "rich"}
    assert not {name.split(".")[0] for path in files for name in imports(path)} & heavy


def test_blocks_and_models_know_no_configuration_objects_and_no_trainer():
    files = [
        path for path in FILES if path.relative_to(ZOO).parts[0] in ("blocks", "objectives", "generation")
    ]
    assert not {name.split(".")[0] for path in files for name in imports(path)} & {
        "omegaconf",
        "hydra",
        "lightning",
    }


def test_the_trio_s_files_are_one_recipe_and_three_assemblies():
    """What the README shows: the files differ in the stacks, the objective and the name, and in nothing else."""
    texts = [
        (ZOO.parent / "conf" / "arch" / f"{arch}.yaml").read_text().splitlines()
        for arch in ("gpt", "bert", "t5")
    ]
    for one, two in pairwise([*texts, texts[0]]):
        differing = set(one) ^ set(two)
        assert all(
            line.strip().split(":")[0] in ("name", "encoder", "decoder", "- override /objective")
            for line in differing
        )
    readme = (ZOO.parent / "README.md").read_text()
    for text in texts:
        for line in text:
            if line.strip().startswith(("encoder", "decoder")):
                assert f"`{line.strip()}`" in readme
