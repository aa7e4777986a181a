"""The tasks on the standard library: right by the interpreter itself, and nothing given away."""

import ast
import builtins
import inspect
import json
import math
import symtable
from itertools import combinations
from pathlib import Path

import pytest
import yaml

from zoo.data.sources import Stdlib
from zoo.data.world import World
from zoo.errors import UserError
from zoo.tasks import stdlib as tasks

CONF = Path(__file__).parents[2] / "conf" / "task"
NAMES = ("package", "roles", "default_value", "next_line", "docstring")
SIZES = {"train": 300, "validation": 50, "test": 80}


@pytest.fixture(scope="module")
def source():
    """A tenth of the library, so that it is read in seconds."""
    library = Stdlib(validation=0.15, test=0.15)
    kept = {
        "json",
        "email",
        "xml",
        "unittest",
        "asyncio",
        "http",
        "logging",
        "urllib",
        "importlib",
        "tkinter",
    }
    library.modules = {name: text for name, text in library.modules.items() if name.split("/")[0] in kept}
    return library


@pytest.fixture(scope="module")
def made(source):
    return {name: getattr(tasks, name)(source=source, **SIZES) for name in NAMES}


def mean(values):
    return sum(v for v in values if not math.isnan(v)) / sum(not math.isnan(v) for v in values)


@pytest.mark.parametrize("name", NAMES)
def test_every_task_promises_what_a_task_does(made, source, name):
    task = made[name]
    again = getattr(tasks, name)(source=source, **SIZES)
    for split in SIZES:
        examples = task.examples(split)
        assert 10 < len(examples) <= SIZES[split]
        assert len({e.item for e in examples}) == len(examples)
        assert examples == again.examples(split)
        assert all(e.item.startswith(f"{split}/") for e in examples)
        assert all(len(tasks._WORD.findall(e.text)) <= 100 for e in examples)
    examples = task.examples("test")
    for give, low, high in ((task.oracle, 0.99, 1), (task.baseline, 0, 0.7)):
        scores = task.scores(examples, give(examples))
        assert low <= mean(scores[task.metric]) <= high
        assert all(math.isnan(v) or 0 <= v <= 1.000001 for values in scores.values() for v in values)


def test_splits_share_no_function_and_no_module(source):
    found = {split: tasks.functions(source, split) for split in SIZES}
    for a, b in combinations(found.values(), 2):
        assert not {f.module for f in a} & {f.module for f in b}
    assert not {f.text for f in found["train"]} & {f.text for f in found["validation"] + found["test"]}


@pytest.mark.parametrize("split", list(SIZES))
def test_nothing_is_given_away(made, split):
    for example in made["package"].examples(split):
        assert example.answers[0] not in example.text
    for name in ("next_line", "docstring"):
        for example in made[name].examples(split):
            assert example.answers[0] not in example.text
    for example in made["docstring"].examples(split):
        assert ast.get_docstring(ast.parse(example.text).body[0]) is None


def test_defaults_are_what_the_signature_says(made):
    checked = 0
    for example in made["default_value"].examples("train"):
        [span] = example.spans
        [answer] = example.answers
        assert example.text[span.start : span.end] == answer
        name = example.query.removeprefix("What is ").removesuffix(" by default?")
        try:
            value = ast.literal_eval(answer)
            tree = ast.parse(example.text).body[0]
        except (SyntaxError, ValueError):
            continue  # a name, or a function that is cut off
        tree.decorator_list, tree.body, tree.returns = [], [ast.Pass()], None
        for argument in ast.walk(tree.args):
            if isinstance(argument, ast.arg):
                argument.annotation = None
        names = {node.id for node in ast.walk(tree.args) if isinstance(node, ast.Name)}
        scope = dict.fromkeys(names - set(dir(builtins)))
        if any(isinstance(node, ast.Attribute | ast.Call) for node in ast.walk(tree.args)):
            continue
        exec(compile(ast.fix_missing_locations(ast.Module([tree], [])), "<test>", "exec"), scope)
        assert inspect.signature(scope[tree.name]).parameters[name].default == value
        checked += 1
    assert checked > 100


def test_roles_are_what_the_compiler_s_symbol_table_says(made):
    """Of functions without functions, lambdas and comprehensions inside, which have scopes of their own."""
    checked = 0
    inner = ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp | ast.ClassDef
    for example in made["roles"].examples("train"):
        tree = ast.parse(example.text)
        nodes = list(ast.walk(tree.body[0]))[1:]
        if any(isinstance(n, inner | ast.FunctionDef | ast.AsyncFunctionDef | ast.Nonlocal) for n in nodes):
            continue
        [table] = symtable.symtable(example.text, "<test>", "exec").get_children()
        names = {n.id for n in nodes if isinstance(n, ast.Name)} | {
            n.arg for n in nodes if isinstance(n, ast.arg)
        }
        head = sum(len(line) + 1 for line in example.text.split("\n")[: tree.body[0].body[0].lineno - 1])
        attributes = {n.attr for n in nodes if isinstance(n, ast.Attribute)}
        for span in example.spans:
            name = example.text[span.start : span.end]
            assert name.isidentifier()
            if span.label in ("argument", "variable", "global"):
                assert name in names
                if span.start < head:  # defaults and annotations are looked up outside
                    assert span.label in ("argument", "global")
                    continue
                symbol = table.lookup(name)
                local = symbol.is_local() and (symbol.is_assigned() or symbol.is_imported())
                role = "argument" if symbol.is_parameter() else "variable" if local else "global"
                assert span.label == role
            elif span.label == "attribute":
                assert name in attributes
        places = [(s.start, s.end) for s in example.spans]
        assert places == sorted(set(places))
        checked += 1
    assert checked > 100


def test_a_variable_read_before_it_is_bound_is_marked():
    text = "def f(xs):\n    é = [y.z for y in xs]\n    return g(é, key=y)"
    found = {
        (text[s.start : s.end], s.start): (s.label, s.marked)
        for s in tasks.identifiers(text, tasks.parsed(text))
    }
    assert list(found.values()) == [
        ("function", False), ("argument", False), ("variable", False), ("variable", True), ("attribute", False),
        ("variable", False), ("argument", False), ("global", False), ("variable", False), ("keyword", False),
        ("variable", False),
    ]  # fmt: skip


def test_another_source_is_refused():
    for name in NAMES:
        with pytest.raises(UserError, match="use it with data=stdlib"):
            getattr(tasks, name)(source=World()).examples("train")


def test_next_lines_go_on(made):
    for example in made["next_line"].examples("train"):
        assert example.text.count("\n") >= 1
        assert "\n" not in example.answers[0]


@pytest.mark.parametrize("name", NAMES)
def test_settings_are_the_functions_own(name):
    text = (CONF / f"{name}.yaml").read_text(encoding="utf-8")
    config = yaml.safe_load(text)
    assert text.startswith(f"# @package tasks.{name}\n")
    assert config.pop("_target_") == f"zoo.tasks.stdlib.{name}"
    parameters = inspect.signature(getattr(tasks, name)).parameters
    assert set(config) == set(parameters) - {"source"}
    assert name in json.dumps(yaml.safe_load((CONF / "stdlib.yaml").read_text()))
