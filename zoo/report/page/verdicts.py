"""The documents' table beside the measured one, and every claim with its verdict."""

from __future__ import annotations

from zoo.report.names import called
from zoo.report.page.html import Report, bar, esc, figure, group_index, group_names, table, tag, tr
from zoo.report.text import ROWS, documents_said, measured, number, p_value, verdicts


def documents(report: Report) -> str:
    if not report["columns"]:
        return ""
    rows = ""
    for row, title in ROWS.items():
        cells = ""
        for name in report["columns"]:
            said = f'<p class="said">documents: <b>{esc(documents_said(report, row, name))}</b></p>'
            cells += f'<td data-label="{esc(called(name))}">{said}{_measured(report, row, name)}</td>'
        rows += f'<tr><th scope="row">{esc(title)}</th>{cells}</tr>'
    head = "".join(
        f'<th scope="col">{name}</th>' for name in ["property", *group_names(report, list(report["columns"]))]
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
        f'<p class="note">{esc(tasks)}.</p>'
    )


def _measured(report: Report, row: str, name: str) -> str:
    label = report["columns"][name]
    claims = verdicts(report, row, name)
    tags = "".join(f"<div>{tag(claim['verdict'], claim['verdict'])}</div>" for claim in claims)
    if label is None:
        return f'<div class="note">no finished run</div>{tags}'
    if row in report["abilities"]:
        return _ability(report, row, name) + tags
    lines = [f"{esc(what)} {figure(cell, label)}" for what, cell in measured(report, row, name)]
    if row == "applications":  # a claim for each
        marks = {claim["task"]: claim["verdict"] for claim in claims}
        lines = [
            f"{tag(marks[what], '')} {line}"
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
        f'<div class="word">{esc(cell["word"] or "—")}</div><div>{figure(cell, label)}</div>'
        f"{bar(cell, group_index(report, label))}<div class='note'>{esc(ratio)}</div>"
    )


def claims(report: Report) -> str:
    if not report["claims"]:
        return ""
    rows = []
    for claim in report["claims"]:
        margin = claim["margin"]
        told = (
            f"{esc(margin['what'])}<br>{figure(margin, report['columns'][claim['architecture']] or '')}"
            if margin
            else "—"
        )
        why = f"<br><small>{esc(claim['why'])}</small>" if claim["why"] and not claim["p"] else ""
        rows.append(
            tr(
                f"{esc(called(claim['architecture']))}, {esc(ROWS[claim['row']])}: {esc(claim['says'])}",
                [
                    tag(claim["verdict"], claim["verdict"]) + why,
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
        + table("Claims", ["claim", "verdict", "margin, with 95 % interval", "adjusted p"], rows)
    )


def controls(report: Report) -> str:
    """Groups beside the documents' three: what would explain a claim that does not come out."""
    labels = list(dict.fromkeys(label for one in report["abilities"].values() for label in one["controls"]))
    if not labels or not report["columns"]:
        return ""
    rows = []
    for label in labels:
        told = []
        for cell in (one["controls"].get(label) for one in report["abilities"].values()):
            ratio = f"<br><small>{number(cell['ratio'])} of the best</small>" if cell else ""
            told.append(f"<b>{esc(cell['word'] or '—')}</b> {figure(cell, label)}{ratio}" if cell else "—")
        rows.append(tr(group_names(report, [label])[0], told))
    note = (
        "<p>The same measures, against the best of the three, of runs that differ from them in one thing.</p>"
    )
    return note + table("Controls", ["group", *map(esc, report["abilities"])], rows)
