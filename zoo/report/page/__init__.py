"""The comparison as one HTML page that needs nothing but itself: style and drawings are inside, there is no script."""

from __future__ import annotations

from pathlib import Path

from zoo.report.names import called
from zoo.report.page.html import Report, esc, tag
from zoo.report.page.plots import curves, direction, task_curves
from zoo.report.page.runs import missing, runs
from zoo.report.page.tables import (
    applications,
    budget_words,
    budgets,
    differences,
    marked,
    measures,
    readings,
)
from zoo.report.page.texts import direct, examples
from zoo.report.page.verdicts import claims, controls, documents
from zoo.report.text import MARKS

_CURRENCIES = "The same held-out words for all architectures; each sees what it may."
_STYLE = Path(__file__).with_name("page.css").read_text(encoding="utf-8")


def page(report: Report, out: Path, date: str) -> str:
    """The page's text. Links to run folders are relative to ``out``, the folder the page will be in."""
    sections = [
        ("table", "The documents' table, measured", documents(report)),
        ("claims", "Claims", claims(report)),
        ("controls", "Controls", controls(report)),
        ("applications", "Applications", applications(report)),
        ("differences", f"Differences from {report['baseline']}", differences(report)),
        ("marked", "What only later context settles", marked(report)),
        ("readings", "Readings", readings(report)),
        ("budget-words", "Words by tuning budget", budget_words(report)),
        ("pretraining", "Pre-training", measures(report, "pretraining", "Held-out measures, over seeds.")),
        ("curves", "Learning curves", curves(report)),
        ("task-curves", "Curves of fine-tuning", task_curves(report)),
        ("direction", "Attention direction", direction(report)),
        ("currencies", "Without fine-tuning", measures(report, "currencies", _CURRENCIES)),
        ("direct", "Writing straight after pre-training", direct(report)),
        ("examples", "Answers side by side", examples(report)),
        ("budgets", "Budgets, and what remains unequal", budgets(report)),
        ("runs", "Runs", runs(report, out)),
        ("missing", "What is missing", missing(report)),
    ]  # fmt: skip
    shown = [(name, title, body) for name, title, body in sections if body]
    links = "".join(f'<a href="#{name}">{esc(title)}</a>' for name, title, _body in shown)
    bodies = "".join(
        f'<section id="{name}"><h2>{esc(title)}</h2>{body}</section>' for name, title, body in shown
    )
    title = f"Comparison by {report['group_by']}"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="icon" href="data:,">'
        f"<title>{esc(title)}</title><style>{_STYLE}</style></head><body>\n"
        f"<header><h1>{esc(_headline(report))}</h1>{_lead(report, date)}{_counts(report)}{_warnings(report)}"
        f'<nav aria-label="Contents">{links}</nav></header>\n<main>{bodies}</main>\n'
        f"<footer><p class='note'>Made by <code>python scripts/compare.py</code> on <time>{esc(date)}</time> "
        "from the run folders listed above; every number leads to its runs.</p></footer></body></html>\n"
    )


def _headline(report: Report) -> str:
    labels = [called(group["label"]) for group in report["groups"]]
    if not labels:
        return "No finished run to compare"
    return " · ".join(labels) if len(labels) <= 5 else f"{len(labels)} groups by {report['group_by']}"


def _lead(report: Report, date: str) -> str:
    seeds = sorted({len(group["seeds"]) for group in report["groups"]})
    told = " to ".join(map(str, sorted({seeds[0], seeds[-1]}))) if seeds else "no"
    plural = "seed" if seeds == [1] else "seeds"
    return (
        f'<p class="lead">Compared by <code>{esc(report["group_by"])}</code>, {told} {plural} each, {esc(date)}. '
        "Numbers come with 95 % intervals over seeds and test stories.</p>"
    )


def _counts(report: Report) -> str:
    if not report["claims"]:
        return ""
    items = ""
    for word in MARKS:
        count = sum(claim["verdict"] == word for claim in report["claims"])
        items += f"<li>{tag(word, f'{count} {word}')}</li>"
    return f'<ul class="counts" aria-label="Claims of the documents">{items}</ul>'


def _warnings(report: Report) -> str:
    if not report["warnings"]:
        return ""
    items = "".join(f"<li>{esc(warning)}</li>" for warning in report["warnings"])
    return f'<section class="warnings" id="warnings"><h2>Warnings</h2><ul>{items}</ul></section>'
