"""What the models have written."""

from __future__ import annotations

from zoo.report.names import called
from zoo.report.page.html import Report, esc, group_names
from zoo.report.page.tables import measures
from zoo.report.text import number


def direct(report: Report) -> str:
    table = measures(
        report, "direct", "The same prompts, every decoding that each model has; no fine-tuning."
    )
    cards = ""
    for group in report["samples"]:
        texts = "".join(
            f'<p class="text"><small>{esc(called(text["decoding"]) or text["prompt"])}</small><br>'
            f"{esc(text['text'])}</p>"
            for text in group["texts"]
        )
        if texts:
            name = group_names(report, [group["label"]])[0]
            cards += f'<figure class="card"><h3>{name}</h3>{texts}<figcaption>{esc(group["run"])}</figcaption></figure>'
    return table + (cards and f'<div class="grid">{cards}</div>')


def examples(report: Report) -> str:
    out = ""
    for example in report["examples"]:
        cards = f'<figure class="card"><h3>wanted</h3><p class="text">{esc(example.get("answer", ""))}</p></figure>'
        for label, answer in example["answers"].items():
            score = f"score {number(answer['score'])}" if answer["score"] is not None else "nothing to score"
            cards += (
                f'<figure class="card"><h3>{group_names(report, [label])[0]}</h3>'
                f'<p class="text">{esc(answer["text"])}</p>'
                f"<figcaption>{score}, {esc(answer['run'])}</figcaption></figure>"
            )
        out += (
            f"<h3>{esc(example['task'])} <small>{esc(example['item'])}</small></h3>"
            f'<p class="text">{esc(example.get("input", ""))}</p>'
            f'<div class="grid narrow">{cards}</div>'
        )
    return out and f"<p>The first test items of each task that writes, not picked.</p>{out}"
