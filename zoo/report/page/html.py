"""The small parts of the page: escaped text, tags, numbers with their interval, bars, tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from zoo.report.names import called
from zoo.report.text import MARKS, number

Report = Mapping[str, Any]
Cell = Mapping[str, Any] | None


def esc(text: Any) -> str:
    """Text as HTML."""
    return escape(str(text))


def slug(label: str) -> str:
    """The id of a group's runs on the page."""
    return "group-" + re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-")


def group_index(report: Report, label: str) -> int:
    """The colour of a group, one of six."""
    labels = [group["label"] for group in report["groups"]]
    return labels.index(label) % 6 if label in labels else 5


def group_names(report: Report, labels: Sequence[str] | None = None) -> list[str]:
    """Names with their colour; of all groups, where no labels are given."""
    labels = [group["label"] for group in report["groups"]] if labels is None else labels
    return [
        f'<span class="dot k{group_index(report, label)}"></span>{esc(called(label))}' for label in labels
    ]


def tag(word: str, text: str) -> str:
    """A verdict: its mark, and a text."""
    return f'<span class="tag {word.replace(" ", "-")}">{MARKS[word]} {esc(text)}</span>'


def figure(cell: Cell, label: str) -> str:
    """A number that leads to its runs, with its interval."""
    if cell is None:
        return '<span class="note">—</span>'
    runs = ", ".join(cell["runs"])
    out = f'<a class="num" href="#{slug(label)}" title="{esc(runs)}">{number(cell["value"])}</a>'
    if cell.get("low") is not None and cell["low"] < cell["high"]:
        out += f" <small>[{number(cell['low'])}, {number(cell['high'])}]</small>"
    return out


def bar(cell: Cell, index: int, low: float = 0.0, high: float = 1.0) -> str:
    """The interval and the value on a line from ``low`` to ``high``."""
    if cell is None:
        return ""

    def at(value: float) -> float:
        return 100 * min(1.0, max(0.0, (value - low) / ((high - low) or 1)))

    inner = f'<b style="left:{at(cell["value"]):.1f}%"></b>'
    if cell.get("low") is not None:
        left, right = at(cell["low"]), at(cell["high"])
        inner = f'<i style="left:{left:.1f}%;width:{right - left:.1f}%"></i>' + inner
    return f'<span class="bar k{index}" aria-hidden="true">{inner}</span>'


def table(name: str, header: Iterable[str], rows: Iterable[str]) -> str:
    """``header`` and ``rows`` are HTML; wider than the screen, it scrolls by itself."""
    head = "".join(f'<th scope="col">{cell}</th>' for cell in header)
    return (
        f'<div class="scroll" role="region" aria-label="{esc(name)}" tabindex="0"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def tr(head: str, cells: Iterable[str], name: str = "") -> str:
    """A row; ``head`` and ``cells`` are HTML, ``name`` an id."""
    return (
        f"<tr{name and f' id={chr(34)}{name}{chr(34)}'}>"
        f'<th scope="row">{head}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
    )


def legend(report: Report) -> str:
    """All groups with their colours."""
    return f'<ul class="keys">{"".join(f"<li>{name}</li>" for name in group_names(report))}</ul>'
