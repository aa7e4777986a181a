"""The comparison in W&B, offline: what is sent is what stands in the files."""

import csv
import json

import pytest

from zoo.errors import UserError
from zoo.report import compare, write
from zoo.report.dashboard import send


def test_the_tables_and_the_page_are_sent(simulate, thresholds, tmp_path, monkeypatch):
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    report = compare([simulate(seeds=range(2))], thresholds)
    page, _, numbers, _ = write(report, tmp_path / "out", "2026-01-01")
    assert send(report, page, "a-project", "offline").startswith("wandb sync ")
    (media,) = (tmp_path / "out" / "wandb").glob("offline-run-*/files/media")

    def table(name):
        (file,) = media.glob(f"table/{name}_*.json")
        return json.loads(file.read_text(encoding="utf-8"))

    with numbers.open(encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    sent = table("comparison")
    assert sent["columns"] == header
    value = header.index("value")
    assert [row[value] for row in sent["data"]] == [float(row[value]) for row in rows]
    assert [[row[0], row[3]] for row in sent["data"]] == [[row[0], row[3]] for row in rows]
    assert len(table("claims")["data"]) == len(report["claims"]) == 20
    (html,) = media.glob("html/page_*.html")
    assert html.read_text(encoding="utf-8") == page.read_text(encoding="utf-8")


def test_what_wandb_does_not_take_is_one_sentence(simulate, thresholds, tmp_path, monkeypatch):
    import wandb

    def down(**settings):
        raise wandb.errors.CommError("the server is down")

    report = compare([simulate(seeds=range(2))], thresholds)
    page = write(report, tmp_path / "out", "2026-01-01")[0]
    monkeypatch.setattr(wandb, "init", down)
    with pytest.raises(UserError, match=r"the server is down.*the files are written"):
        send(report, page, "a-project", "online")
