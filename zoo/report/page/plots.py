"""Curves and maps."""

from __future__ import annotations

from zoo.report import svg
from zoo.report.names import called
from zoo.report.page.html import Report, esc, group_index, group_names, legend
from zoo.report.page.tables import measures


def curves(report: Report) -> str:
    objectives = list(dict.fromkeys(curve["objective"] for curve in report["curves"] if curve["lines"]))
    cards = ""
    for objective in objectives:
        series = [
            {"index": group_index(report, curve["label"]), "points": line["points"]}
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
        cards += f'<figure class="card"><h3>{esc(name)}</h3>{drawing}</figure>'
    note = (
        "<p>A line per run. Losses of different objectives are not of the same tokens and do not compare.</p>"
    )
    return cards and f'{note}{legend(report)}<div class="grid">{cards}</div>'


def task_curves(report: Report) -> str:
    scales = {row["task"]: row for row in report["applications"]}
    cards = ""
    for curve in report["task_curves"]:
        series = [
            {"index": group_index(report, line["label"]), "points": line["points"]}
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
        cards += f'<figure class="card"><h3>{esc(curve["task"])}</h3>{drawing}</figure>'
    note = "<p>On validation; at each point the best reading there. Bands are 95 % intervals over seeds.</p>"
    return cards and f'{note}{legend(report)}<div class="grid">{cards}</div>'


def direction(report: Report) -> str:
    table = measures(
        report,
        "direction",
        "Fractions of the influence of input position j on output position i, by where j stands.",
    )
    cards = ""
    for group in report["maps"]:
        name = group_names(report, [group["label"]])[0]
        for stack, matrix in group["maps"].items():
            alt = (
                f"Influence in the {stack} of {group['label']}: input positions across, output positions down"
            )
            cards += (
                f'<figure class="card"><h3>{name}, {esc(stack)}</h3><div class="map"><span class="y">output i</span>'
                f'<img src="{svg.heat(matrix)}" alt="{esc(alt)}"><span class="x">input j</span></div></figure>'
            )
    note = "The darker, the more influence (square root). Means over runs and texts."
    return table + (cards and f'<p class="note">{note}</p><div class="grid narrow">{cards}</div>')
