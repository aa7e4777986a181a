"""The comparison as one HTML page that needs nothing but itself: style and drawings are inside, there is no script."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from zoo.report import svg
from zoo.report.names import called
from zoo.report.text import MARKS, ROWS, documents_said, measured, number, p_value, task_name, verdicts

CURRENCIES = "The same held-out words for all architectures; each sees what it may."
_NO_SIGNAL = "No signal: nothing that is compared is above the baseline by its interval."
STYLE = Path(__file__).with_name("page.css").read_text(encoding="utf-8")

Report = Mapping[str, Any]
Cell = Mapping[str, Any] | None


def page(report: Report, out: Path, date: str) -> str:
    """The page's text. Links to run folders are relative to ``out``, the folder the page will be in."""
    sections = [
        ("table", "The documents' table, measured", _documents(report)),
        ("claims", "Claims", _claims(report)),
        ("controls", "Controls", _controls(report)),
        ("applications", "Applications", _applications(report)),
        ("differences", f"Differences from {report['baseline']}", _differences(report)),
        ("marked", "What only later context settles", _marked(report)),
        ("readings", "Readings", _readings(report)),
        ("budget-words", "Words by tuning budget", _budget_words(report)),
        ("pretraining", "Pre-training", _rows(report, "pretraining", "Held-out measures, over seeds.")),
        ("curves", "Learning curves", _curves(report)),
        ("task-curves", "Curves of fine-tuning", _task_curves(report)),
        ("direction", "Attention direction", _direction(report)),
        ("currencies", "Without fine-tuning", _rows(report, "currencies", CURRENCIES)),
        ("direct", "Writing straight after pre-training", _direct(report)),
        ("examples", "Answers side by side", _examples(report)),
        ("budgets", "Budgets, and what remains unequal", _budgets(report)),
        ("runs", "Runs", _runs(report, out)),
        ("missing", "What is missing", _missing(report)),
    ]  # fmt: skip
    shown = [(name, title, body) for name, title, body in sections if body]
    links = "".join(f'<a href="#{name}">{_(title)}</a>' for name, title, _body in shown)
    bodies = "".join(
        f'<section id="{name}"><h2>{_(title)}</h2>{body}</section>' for name, title, body in shown
    )
    title = f"Comparison by {report['group_by']}"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="icon" href="data:,">'
        f"<title>{_(title)}</title><style>{STYLE}</style></head><body>\n"
        f"<header><h1>{_(_headline(report))}</h1>{_lead(report, date)}{_counts(report)}{_warnings(report)}"
        f'<nav aria-label="Contents">{links}</nav></header>\n<main>{bodies}</main>\n'
        f"<footer><p class='note'>Made by <code>python scripts/compare.py</code> on <time>{_(date)}</time> "
        "from the run folders listed above; every number leads to its runs.</p></footer></body></html>\n"
    )


def _(text: Any) -> str:
    return escape(str(text))


def _slug(label: str) -> str:
    return "group-" + re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-")


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
        f'<p class="lead">Compared by <code>{_(report["group_by"])}</code>, {told} {plural} each, {_(date)}. '
        "Numbers come with 95 % intervals over seeds and test stories.</p>"
    )


def _counts(report: Report) -> str:
    if not report["claims"]:
        return ""
    items = ""
    for word in MARKS:
        count = sum(claim["verdict"] == word for claim in report["claims"])
        items += f"<li>{_tag(word, f'{count} {word}')}</li>"
    return f'<ul class="counts" aria-label="Claims of the documents">{items}</ul>'


def _tag(word: str, text: str) -> str:
    return f'<span class="tag {word.replace(" ", "-")}">{MARKS[word]} {_(text)}</span>'


def _warnings(report: Report) -> str:
    if not report["warnings"]:
        return ""
    items = "".join(f"<li>{_(warning)}</li>" for warning in report["warnings"])
    return f'<section class="warnings" id="warnings"><h2>Warnings</h2><ul>{items}</ul></section>'


def _index(report: Report, label: str) -> int:
    labels = [group["label"] for group in report["groups"]]
    return labels.index(label) % 6 if label in labels else 5


def _number(cell: Cell, label: str) -> str:
    """A number that leads to its runs, with its interval."""
    if cell is None:
        return '<span class="note">—</span>'
    runs = ", ".join(cell["runs"])
    out = f'<a class="num" href="#{_slug(label)}" title="{_(runs)}">{number(cell["value"])}</a>'
    if cell.get("low") is not None and cell["low"] < cell["high"]:
        out += f" <small>[{number(cell['low'])}, {number(cell['high'])}]</small>"
    return out


def _bar(cell: Cell, index: int, low: float = 0.0, high: float = 1.0) -> str:
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


def _table(name: str, header: Iterable[str], rows: Iterable[str]) -> str:
    """``header`` and ``rows`` are HTML; wider than the screen, it scrolls by itself."""
    head = "".join(f'<th scope="col">{cell}</th>' for cell in header)
    return (
        f'<div class="scroll" role="region" aria-label="{_(name)}" tabindex="0"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _tr(head: str, cells: Iterable[str], name: str = "") -> str:
    return (
        f"<tr{name and f' id={chr(34)}{name}{chr(34)}'}>"
        f'<th scope="row">{head}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
    )


def _names(report: Report, labels: Sequence[str] | None = None) -> list[str]:
    labels = [group["label"] for group in report["groups"]] if labels is None else labels
    return [f'<span class="dot k{_index(report, label)}"></span>{_(called(label))}' for label in labels]


def _documents(report: Report) -> str:
    if not report["columns"]:
        return ""
    rows = ""
    for row, title in ROWS.items():
        cells = ""
        for name in report["columns"]:
            said = f'<p class="said">documents: <b>{_(documents_said(report, row, name))}</b></p>'
            cells += f'<td data-label="{_(called(name))}">{said}{_measured(report, row, name)}</td>'
        rows += f'<tr><th scope="row">{_(title)}</th>{cells}</tr>'
    head = "".join(
        f'<th scope="col">{name}</th>' for name in ["property", *_names(report, list(report["columns"]))]
    )
    words, abilities = report["thresholds"]["words"], report["abilities"]
    tasks = "; ".join(
        f"{name}: {', '.join(one['tasks']) or 'nothing yet'}" for name, one in abilities.items()
    )
    return (
        "<p>What the documents say stands above the line in each cell, what the runs show below it. A score runs from "
        "a computed baseline (0) to the oracle (1); an ability is the mean over its tasks, and its word the ratio to "
        f"the best: strong from {words['strong']:g}, medium from {words['medium']:g}, weak below.</p>"
        f'<div class="scroll"><table class="documents"><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
        f'<p class="note">{_(tasks)}.</p>'
    )


def _measured(report: Report, row: str, name: str) -> str:
    label = report["columns"][name]
    claims = verdicts(report, row, name)
    tags = "".join(f"<div>{_tag(claim['verdict'], claim['verdict'])}</div>" for claim in claims)
    if label is None:
        return f'<div class="note">no finished run</div>{tags}'
    if row in report["abilities"]:
        return _ability(report, row, name) + tags
    lines = [f"{_(what)} {_number(cell, label)}" for what, cell in measured(report, row, name)]
    if row == "applications":  # a claim for each
        marks = {claim["task"]: claim["verdict"] for claim in claims}
        lines = [
            f"{_tag(marks[what], '')} {line}"
            for line, (what, _cell) in zip(lines, measured(report, row, name), strict=True)
        ]
        margin = report["thresholds"]["margin"]
        tags = f'<div class="note">claimed: no more than {margin:g} below any other</div>'
    return "".join(f"<div>{line}</div>" for line in lines) + tags


def _ability(report: Report, row: str, name: str) -> str:
    label, cell = report["columns"][name], report["abilities"][row]["cells"].get(name)
    if cell is None:
        return '<div class="note">not measured</div>'
    ratio = (
        "nobody is above the baseline" if cell["ratio"] is None else f"{number(cell['ratio'])} of the best"
    )
    if cell.get("ratio_low") is not None and cell["ratio_low"] < cell["ratio_high"]:
        ratio += f" [{number(cell['ratio_low'])}, {number(cell['ratio_high'])}]"
    return (
        f'<div class="word">{_(cell["word"] or "—")}</div><div>{_number(cell, label)}</div>'
        f"{_bar(cell, _index(report, label))}<div class='note'>{_(ratio)}</div>"
    )


def _claims(report: Report) -> str:
    if not report["claims"]:
        return ""
    rows = []
    for claim in report["claims"]:
        margin = claim["margin"]
        told = (
            f"{_(margin['what'])}<br>{_number(margin, report['columns'][claim['architecture']] or '')}"
            if margin
            else "—"
        )
        why = f"<br><small>{_(claim['why'])}</small>" if claim["why"] and not claim["p"] else ""
        rows.append(
            _tr(
                f"{_(called(claim['architecture']))}, {_(ROWS[claim['row']])}: {_(claim['says'])}",
                [
                    _tag(claim["verdict"], claim["verdict"]) + why,
                    told,
                    p_value(claim["p"]),
                ],
            )
        )
    return (
        "<p>A claim is a list of quantities that must all be above 0. It is reproduced when all of them are shown to "
        "be, not reproduced when one is shown to be below, and undecided otherwise; p-values after Holm over all "
        f"claims, level {report['thresholds']['alpha']:g}. The margin is that of the quantity nearest to failing. "
        f"“Near the top” is at most {report['thresholds']['margin']:g} below every other.</p>"
        + _table("Claims", ["claim", "verdict", "margin, with 95 % interval", "adjusted p"], rows)
    )


def _controls(report: Report) -> str:
    """Groups beside the documents' three: what would explain a claim that does not come out."""
    labels = list(dict.fromkeys(label for one in report["abilities"].values() for label in one["controls"]))
    if not labels or not report["columns"]:
        return ""
    rows = []
    for label in labels:
        told = []
        for cell in (one["controls"].get(label) for one in report["abilities"].values()):
            ratio = f"<br><small>{number(cell['ratio'])} of the best</small>" if cell else ""
            told.append(f"<b>{_(cell['word'] or '—')}</b> {_number(cell, label)}{ratio}" if cell else "—")
        rows.append(_tr(_names(report, [label])[0], told))
    note = (
        "<p>The same measures, against the best of the three, of runs that differ from them in one thing.</p>"
    )
    return note + _table("Controls", ["group", *map(_, report["abilities"])], rows)


def _applications(report: Report) -> str:
    if not report["applications"]:
        return ""
    labels = [group["label"] for group in report["groups"]]
    rows = []
    for row in report["applications"]:
        known = [cell["value"] for cell in row["cells"].values() if cell]
        cells = []
        for label in labels:
            cell = row["cells"][label]
            best = bool(cell) and cell["value"] == max(known)
            raw = row["raw"][label]
            note = f"<small>{_(called(row['metric']))} {number(raw['value'])}</small>" if raw else ""
            cells.append(
                f'<div class="{"best" if best else ""}">{_number(cell, label)}'
                f"{_bar(cell, _index(report, label))}{note}</div>"
            )
        scale = (
            f"{number(row['baseline'])} … {number(row['oracle'])}"
            if row["baseline"] is not None
            else "no scale"
        )
        rows.append(
            _tr(
                f"{_(task_name(row))}<br><small>{_(row['kind'])}, {row['items']} items</small>",
                [*cells, f"<small>{_(called(row['metric']))}</small><br>{scale}"],
            )
        )
    return (
        "<p>Each by its reading chosen on validation. The score runs from the computed baseline (0) to the oracle (1), "
        "and so does the line under it. Items that only later context settles are not among these."
        + ("" if all(row["signal"] for row in report["applications"]) else f" {_NO_SIGNAL}")
        + "</p>"
        + _table("Applications by architecture", ["task", *_names(report), "baseline … oracle"], rows)
    )


def _differences(report: Report) -> str:
    if "differences" not in report:
        return ""
    labels = [
        label
        for label in (group["label"] for group in report["groups"])
        if any(label in row["cells"] for row in report["differences"])
    ]
    rows = [
        _tr(_(row["task"]), [_number(row["cells"].get(label), label) for label in labels])
        for row in report["differences"]
    ]
    return "<p>Items paired within seeds.</p>" + _table("Differences", ["", *_names(report, labels)], rows)


def _marked(report: Report) -> str:
    labels = [group["label"] for group in report["groups"]]
    rows = [
        _tr(
            _(row["task"]),
            [
                _number(row["marked"][label], label) + _bar(row["marked"][label], _index(report, label))
                for label in labels
            ],
        )
        for row in report["applications"]
        if any(row["marked"].values())
    ]
    note = "<p>The planted part of these tasks, in the task's own metric. It is in no score above.</p>"
    return note + _table("Marked items", ["task", *_names(report)], rows) if rows else ""


def _readings(report: Report) -> str:
    labels = [group["label"] for group in report["groups"]]
    rows = []
    for row in report["readings"]:
        cells = []
        for label in labels:
            cell = row["cells"][label]
            chosen = (
                f'<br><span class="tag reproduced">chosen {cell["chosen"]}/{cell["of"]}</span>'
                if cell and cell["chosen"]
                else ""
            )
            options = f"<br><small>{_(cell['options'])}</small>" if cell and cell["options"] else ""
            cells.append(_number(cell, label) + options + chosen)
        rows.append(_tr(_(row["task"]), [_(called(row["reading"])), *cells]))
    note = "<p>What each way of asking gives, in the task's own metric. The best on validation is used above.</p>"
    return note + _table("Readings", ["task", "reading", *_names(report)], rows) if rows else ""


def _budget_words(report: Report) -> str:
    rows = []
    for row in report["words"]:
        for ability, cells in row["abilities"].items():
            told = []
            for name in report["columns"]:
                cell = cells.get(name)
                told.append(
                    f"<b>{_(cell['word'] or '—')}</b> {_number(cell, report['columns'][name] or '')}"
                    if cell
                    else '<span class="note">not measured</span>'
                )
            rows.append(
                _tr(
                    f"{row['factor']:g} × budget<br><small>{row['updates']:g} updates</small>",
                    [_(ability), *told],
                )
            )
    if not rows:
        return ""
    note = "<p>On validation, each task by its best reading so far; over seeds only.</p>"
    return note + _table(
        "Words by budget", ["budget", "ability", *_names(report, list(report["columns"]))], rows
    )


def _rows(report: Report, key: str, note: str) -> str:
    labels = [group["label"] for group in report["groups"]]
    rows = [
        _tr(
            _(called(row["task"])),
            [
                _(called(row["metric"])),
                *(_number(row["cells"].get(label), label) for label in labels),
            ],
        )
        for row in report[key]
    ]
    return f"<p>{_(note)}</p>" + _table(called(key), ["", "metric", *_names(report)], rows) if rows else ""


def _legend(report: Report) -> str:
    return f'<ul class="keys">{"".join(f"<li>{name}</li>" for name in _names(report))}</ul>'


def _curves(report: Report) -> str:
    objectives = list(dict.fromkeys(curve["objective"] for curve in report["curves"] if curve["lines"]))
    cards = ""
    for objective in objectives:
        series = [
            {"index": _index(report, curve["label"]), "points": line["points"]}
            for curve in report["curves"]
            if curve["objective"] == objective
            for line in curve["lines"]
        ]
        name = called(objective)
        drawing = svg.chart(
            series,
            title=f"{name}: held-out loss by tokens seen",
            x="source tokens seen",
            y="held-out loss, nats",
        )
        cards += f'<figure class="card"><h3>{_(name)}</h3>{drawing}</figure>'
    note = (
        "<p>A line per run. Losses of different objectives are not of the same tokens and do not compare.</p>"
    )
    return cards and f'{note}{_legend(report)}<div class="grid">{cards}</div>'


def _task_curves(report: Report) -> str:
    scales = {row["task"]: row for row in report["applications"]}
    cards = ""
    for curve in report["task_curves"]:
        series = [
            {"index": _index(report, line["label"]), "points": line["points"]}
            for line in curve["lines"]
            if line["points"]
        ]
        if not series:
            continue
        scale = scales[curve["task"]]
        bounds = {key: scale[key] for key in ("baseline", "oracle") if scale[key] is not None}
        drawing = svg.chart(
            series,
            title=f"{curve['task']} by updates",
            x="fine-tuning updates",
            y=called(curve["metric"]) or "score",
            bounds=bounds,
        )
        cards += f'<figure class="card"><h3>{_(curve["task"])}</h3>{drawing}</figure>'
    note = "<p>On validation; at each point the best reading there. Bands are 95 % intervals over seeds.</p>"
    return cards and f'{note}{_legend(report)}<div class="grid">{cards}</div>'


def _direction(report: Report) -> str:
    table = _rows(
        report,
        "direction",
        "Fractions of the influence of input position j on output position i, by where j stands.",
    )
    cards = ""
    for group in report["maps"]:
        name = _names(report, [group["label"]])[0]
        for stack, matrix in group["maps"].items():
            alt = (
                f"Influence in the {stack} of {group['label']}: input positions across, output positions down"
            )
            cards += (
                f'<figure class="card"><h3>{name}, {_(stack)}</h3><div class="map"><span class="y">output i</span>'
                f'<img src="{svg.heat(matrix)}" alt="{_(alt)}"><span class="x">input j</span></div></figure>'
            )
    note = "The darker, the more influence (square root). Means over runs and texts."
    return table + (cards and f'<p class="note">{note}</p><div class="grid narrow">{cards}</div>')


def _direct(report: Report) -> str:
    table = _rows(report, "direct", "The same prompts, every decoding that each model has; no fine-tuning.")
    cards = ""
    for group in report["samples"]:
        texts = "".join(
            f'<p class="text"><small>{_(called(text["decoding"]) or text["prompt"])}</small><br>{_(text["text"])}</p>'
            for text in group["texts"]
        )
        if texts:
            name = _names(report, [group["label"]])[0]
            cards += f'<figure class="card"><h3>{name}</h3>{texts}<figcaption>{_(group["run"])}</figcaption></figure>'
    return table + (cards and f'<div class="grid">{cards}</div>')


def _examples(report: Report) -> str:
    out = ""
    for example in report["examples"]:
        cards = (
            f'<figure class="card"><h3>wanted</h3><p class="text">{_(example.get("answer", ""))}</p></figure>'
        )
        for label, answer in example["answers"].items():
            score = f"score {number(answer['score'])}" if answer["score"] is not None else "nothing to score"
            cards += (
                f'<figure class="card"><h3>{_names(report, [label])[0]}</h3><p class="text">{_(answer["text"])}</p>'
                f"<figcaption>{score}, {_(answer['run'])}</figcaption></figure>"
            )
        out += (
            f"<h3>{_(example['task'])} <small>{_(example['item'])}</small></h3>"
            f'<p class="text">{_(example.get("input", ""))}</p>'
            f'<div class="grid narrow">{cards}</div>'
        )
    return out and f"<p>The first test items of each task that writes, not picked.</p>{out}"


def _budgets(report: Report) -> str:
    labels = [group["label"] for group in report["groups"]]
    rows = []
    for row in report["budgets"]:
        cells = []
        for label in labels:
            cell = row["cells"][label]
            varies = cell and cell["low"] != cell["high"]
            cells.append(_number(cell and {**cell, **({} if varies else {"low": None})}, label))
        ratio = f"{row['ratio']:.2f}" if row["ratio"] else "—"
        unequal = f"<b>{ratio}</b>" if row["ratio"] and row["ratio"] > 1.01 else ratio
        rows.append(_tr(_(row["quantity"]), [*cells, unequal]))
    if not any(any(row["cells"].values()) for row in report["budgets"]):
        return ""
    out = (
        "<p>Means over runs, in brackets the range. The ratio of largest to smallest is bold above 1.01.</p>"
    )
    out += _table("Budgets", ["", *_names(report), "largest / smallest"], rows)
    keys = [
        _tr(f"<code>{_(key)}</code>", [_(row[label]) for label in labels])
        for key, row in report["by_design"].items()
    ]
    if keys:
        out += "<h3>Configuration keys that differ by design</h3>" + _table(
            "Differing keys", ["key", *_names(report)], keys
        )
    return out


def _runs(report: Report, out: Path) -> str:
    rows = []
    seen: set[str] = set()
    for run in sorted(report["runs"], key=lambda run: (str(run["group"]), str(run["seed"]), run["name"])):
        # The first run of a group is where the group's numbers lead.
        name = _slug(run["group"]) if run["group"] and _slug(run["group"]) not in seen else ""
        seen.add(name)
        link = f'<a href="{_(os.path.relpath(run["path"], out))}">{_(run["name"])}</a>'
        notes = [
            *([f"left out: {run['left_out']}"] if run["left_out"] else []),
            *([run["error"]] if run["error"] else []),
            *run["warnings"],
        ]
        word = {"done": "reproduced", "running": "undecided", "interrupted": "undecided"}.get(
            run["status"], "not-reproduced"
        )
        status = f'<span class="tag {word}">{_(run["status"])}</span>'
        rows.append(
            _tr(
                link,
                [
                    _(run["group"] or "—"),
                    _(run["seed"]),
                    status,
                    _("; ".join(map(str, notes))),
                    f"<small>{_(run['commit'] or '—')[:12]}</small>",
                ],
                name,
            )
        )
    return "<p>Every folder that was found, used or not.</p>" + _table(
        "Runs", ["run", "group", "seed", "status", "notes", "commit"], rows
    )


def _missing(report: Report) -> str:
    items = "".join(
        f"<li>{_(row['what'])}: <code>{_(row['command'])}</code></li>" for row in report["missing"]
    )
    return items and f'<ul class="plain">{items}</ul>'
