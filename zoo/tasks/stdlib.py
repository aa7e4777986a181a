"""Tasks on real code, the standard library of the running Python: what is asked of a function, its docstring taken out.

Each function makes a task from a `Stdlib`; items are functions, dealt to splits as their modules are, and a function
that also stands in a train module is no item of the other splits.  ``train``, ``validation``, ``test``: at most how
many items; ``words``: of at most how many words a function may be, longer ones being passed over.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from zoo.data.sources import Stdlib
from zoo.data.sources.source import deal, share
from zoo.errors import UserError
from zoo.tasks.kinds import Made, Make, classify, extract, generate, most_frequent, once, tag
from zoo.tasks.task import Example, Prediction, Span

_WORD = re.compile(r"\w+")
_ROLES = ("argument", "attribute", "function", "global", "keyword", "variable")
Definition = ast.FunctionDef | ast.AsyncFunctionDef


class Function(NamedTuple):
    """One function: where it is from, its text without docstring, the docstring's first paragraph."""

    module: str  # "json/decoder.py"
    text: str
    docstring: str

    @property
    def package(self) -> str:
        """The top-level package, "" for a module of its own."""
        return self.module.split("/")[0] if "/" in self.module else ""


# --- functions --------------------------------------------------------------------------------------------------------


@lru_cache(8)
def functions(source: Stdlib, split: str) -> tuple[Function, ...]:
    """The functions of the modules of a split, in an order drawn by hash; each text once, and none of train's.

    Raises:
        UserError: the source is not the standard library.
    """
    if not isinstance(source, Stdlib):
        raise UserError(
            "this task is about the standard library: use it with data=stdlib, or choose another task"
        )
    known = {one.text for one in functions(source, "train")} if split != "train" else set()
    found: dict[str, Function] = {}
    for name, text in source.modules.items():
        if deal(share(source.seed, name), source.validation, source.test) == split:
            for function in _functions_of(name, text):
                if function.text not in known:
                    found.setdefault(function.text, function)
    return tuple(sorted(found.values(), key=lambda one: share("functions", one.module, one.text)))


def _functions_of(module: str, text: str) -> Iterator[Function]:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    lines = text.splitlines(keepends=True)
    for node in ast.walk(tree):
        if isinstance(node, Definition):
            kept = lines[node.lineno - 1 : node.end_lineno]
            docstring = ast.get_docstring(node) or ""
            if docstring:
                first, last = node.body[0].lineno, node.body[0].end_lineno or 0
                del kept[first - node.lineno : last - node.lineno + 1]
            own = textwrap.dedent("".join(kept)).rstrip()
            if own.startswith(("def ", "async def ")) and (len(node.body) > 1 or not docstring):
                yield Function(module, own, " ".join(docstring.split("\n\n")[0].split()))


def parsed(text: str) -> Definition | None:
    """The syntax tree of a function; None for a text that is none without its place in the module."""
    try:
        [tree] = ast.parse(text).body
    except (SyntaxError, ValueError):
        return None
    return tree if isinstance(tree, Definition) else None


def _make(source: Stdlib, words: int, ask: Callable[[Function], Iterator[Example]], **counts: int) -> Make:
    def make(split: str) -> list[Example]:
        made: list[Example] = []
        for number, function in enumerate(functions(source, split)):
            if len(_WORD.findall(function.text)) <= words:
                made += [replace(one, item=f"{split}/{number}/{j}") for j, one in enumerate(ask(function))]
            if len(made) >= counts[split]:
                break
        return made[: counts[split]]

    return once(make)


# --- tasks ------------------------------------------------------------------------------------------------------------


def package(*, source: Stdlib, train: int = 4000, validation: int = 200, test: int = 500, words: int = 100,
            packages: int = 10) -> Made:  # fmt: skip
    """Which package a function is from, one of those with most functions; none whose package its text names."""
    counts = Counter(one.package for one in functions(source, "train") if one.package)
    classes = tuple(sorted(name for name, _ in counts.most_common(packages)))

    def ask(function: Function) -> Iterator[Example]:
        if function.package in classes and function.package not in function.text:
            yield Example("", function.text, answers=(function.package,))

    made = _make(source, words, ask, train=train, validation=validation, test=test)
    return classify("package", made, classes=classes)


def roles(
    *, source: Stdlib, train: int = 4000, validation: int = 200, test: int = 500, words: int = 100
) -> Made:
    """What every identifier of a function is: name of a function or class, argument, variable, attribute, keyword of a
    call, or else global.  Marked: a variable that is read before the place in the text that makes it one.
    """

    def ask(function: Function) -> Iterator[Example]:
        tree = parsed(function.text)
        spans = identifiers(function.text, tree) if tree else ()
        if len(spans) > 2:
            yield Example("", function.text, spans=spans, marked=any(span.marked for span in spans))

    made = _make(source, words, ask, train=train, validation=validation, test=test)
    return tag("roles", made, classes=_ROLES, marks=True)


def default_value(*, source: Stdlib, train: int = 4000, validation: int = 200, test: int = 500, words: int = 100,
                  per_function: int = 2) -> Made:  # fmt: skip
    """What value an argument has if it is not given; None, which is most frequent, only beside other values.

    Longer functions are read as far as ``words`` go.
    """

    def ask(function: Function) -> Iterator[Example]:
        text, tree = _beginning(function.text, words), parsed(function.text)
        found = [one for one in _defaults(function.text, tree) if one[2] <= len(text)] if tree else []
        values = {text[start:end] for _, start, end in found}
        for name, start, end in found[:per_function] if values != {"None"} else ():
            yield Example("", text, query=f"What is {name} by default?", answers=(text[start:end],),
                          spans=(Span(start, end),))  # fmt: skip

    made = _make(source, 10_000, ask, train=train, validation=validation, test=test)
    return extract("default_value", made)


def next_line(
    *, source: Stdlib, train: int = 4000, validation: int = 200, test: int = 500, words: int = 100
) -> Made:
    """The line after the first lines of a function.  Metric: chrF; baseline: the most frequent line of train."""

    def ask(function: Function) -> Iterator[Example]:
        lines = function.text.splitlines()
        fit = [i for i in range(2, len(lines)) if 3 <= len(_WORD.findall(lines[i])) <= 20]
        fit = [i for i in fit if lines[i].strip() not in "\n".join(lines[:i])]
        if fit:
            at = fit[int(share("line", function.text) * len(fit))]
            yield Example("", "\n".join(lines[:at]), answers=(lines[at].strip(),))

    made = _make(source, words, ask, train=train, validation=validation, test=test)
    return generate("next_line", made, metric="chrf", baseline=most_frequent(made))


def docstring(
    *, source: Stdlib, train: int = 4000, validation: int = 200, test: int = 500, words: int = 100
) -> Made:
    """The first paragraph of a function's docstring.  Metric: ROUGE-L; baseline: the function's name in words."""

    def ask(function: Function) -> Iterator[Example]:
        if 3 <= len(function.docstring.split()) <= 40 and function.docstring not in function.text:
            yield Example("", function.text, answers=(function.docstring,))

    def name(examples: Sequence[Example]) -> list[Prediction]:
        return [" ".join(_name(example.text).split("_")).strip() for example in examples]

    made = _make(source, words, ask, train=train, validation=validation, test=test)
    return generate("docstring", made, metric="rougeL", baseline=name)


# --- syntax -----------------------------------------------------------------------------------------------------------


def _name(text: str) -> str:
    found = re.match(r"(?:async\s+)?def\s+(\w+)", text)
    return found[1] if found else ""


def _offsets(text: str) -> Callable[[int, int], int]:
    """From a line and a column in bytes, as `ast` counts, to characters of the text."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)

    def at(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode(errors="ignore"))

    return at


def _beginning(text: str, words: int) -> str:
    """The first lines, as many as have so many words."""
    kept, left = [], words
    for line in text.split("\n"):
        left -= len(_WORD.findall(line))
        if left < 0:
            break
        kept.append(line)
    return "\n".join(kept)


def _defaults(text: str, tree: Definition) -> list[tuple[str, int, int]]:
    """Each argument with a default that is a constant or a name, and where that stands."""
    at, arguments = _offsets(text), tree.args
    plain = [*arguments.posonlyargs, *arguments.args]
    pairs = list(zip(plain[len(plain) - len(arguments.defaults) :], arguments.defaults, strict=True))
    pairs += [
        (a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None
    ]
    found = [
        (a.arg, at(d.lineno, d.col_offset), at(d.end_lineno or 0, d.end_col_offset or 0))
        for a, d in pairs
        if isinstance(d, ast.Constant | ast.Name | ast.Attribute)
    ]
    # SQuAD's metric looks at letters and digits only, and not at articles
    return [one for one in found if re.search(r"\w\w|\d", text[one[1] : one[2]])]


def _outside(tree: Definition) -> set[ast.AST]:
    """What stands in a function's head but means what it means outside: defaults and annotations."""
    arguments = tree.args
    everyone = [
        *arguments.posonlyargs,
        *arguments.args,
        arguments.vararg,
        *arguments.kwonlyargs,
        arguments.kwarg,
    ]
    roots = [
        *arguments.defaults,
        *arguments.kw_defaults,
        tree.returns,
        *(a.annotation for a in everyone if a),
    ]
    return {node for root in roots if root for node in ast.walk(root)}


def identifiers(text: str, tree: Definition) -> tuple[Span, ...]:
    """Every identifier with its role, by place; () where the tree does not say where they all stand."""
    at = _offsets(text)
    arguments = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    outside = _outside(tree)
    bound: dict[str, int] = {}
    found: list[tuple[int, str, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, Definition | ast.ClassDef):
            start = at(node.lineno, node.col_offset)
            start = text.index(node.name, start + len("class" if isinstance(node, ast.ClassDef) else "def"))
            found.append((start, node.name, "function"))
        elif isinstance(node, ast.arg):
            found.append((at(node.lineno, node.col_offset), node.arg, "argument"))
        elif isinstance(node, ast.keyword) and node.arg:
            found.append((at(node.lineno, node.col_offset), node.arg, "keyword"))
        elif isinstance(node, ast.Attribute):
            end = at(node.end_lineno or 0, node.end_col_offset or 0)
            found.append((end - len(node.attr), node.attr, "attribute"))
        elif isinstance(node, ast.Name):
            start = at(node.lineno, node.col_offset)
            if isinstance(node.ctx, ast.Store):
                bound[node.id] = min(start, bound.get(node.id, start))
            inside = "argument" if node.id in arguments else "name"
            found.append((start, node.id, "global" if node in outside else inside))
        elif isinstance(node, ast.ExceptHandler | ast.alias) and node.name:
            name = (getattr(node, "asname", None) or node.name).split(".")[0]
            start = at(node.lineno, node.col_offset)
            bound[name] = min(start, bound.get(name, start))
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            for name in node.names:
                bound.pop(name, None)
    if any(not text.startswith(name, start) for start, name, _ in found):
        return ()
    spans = {}
    for start, name, role in found:
        if role == "name":
            role = "variable" if name in bound else "global"
        late = role == "variable" and start < bound[name]
        spans[start] = Span(start, start + len(name), role, late)
    return tuple(spans[start] for start in sorted(spans))
