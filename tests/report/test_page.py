"""The files that are written, and the page in a real browser."""

import csv
import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from zoo.report import compare, svg, write

ROOT = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture
def written(simulate, thresholds, tmp_path):
    """A comparison with something of everything in it, warnings too: the folder of its files."""

    def change(run):
        name, seed = run["config"]["arch"]["name"], run["config"]["seed"]
        if (name, seed) == ("t5", 2):
            run["record"].update(status="failed", error="the loss is not a number <script>alert(1)</script>")
        if (name, seed) == ("bert", 1):
            run["config"]["optim"]["warmup"] = 0.25

    runs = simulate(seeds=range(3), change=change)
    write(compare([runs], thresholds | {"baseline": "gpt"}), tmp_path / "out", "2026-01-01")
    return tmp_path / "out"


class Page(HTMLParser):
    """Ids, links, what is loaded from elsewhere, and whether tags close in order."""

    VOID = ("meta", "link", "img", "br")

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.sources, self.scripts, self.open = [], [], [], 0, []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if tag == "a" else []
        self.sources += [
            value for key, value in attrs if key in ("src", "srcset") or (tag == "link" and key == "href")
        ]
        self.scripts += tag == "script"
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        """``<line/>`` opens nothing."""

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_same_folders_give_the_same_bytes_apart_from_the_date(simulate, thresholds, tmp_path):
    runs = simulate(seeds=range(2))
    for name, date in (("one", "2026-01-01"), ("two", "2026-01-01"), ("three", "2027-12-31")):
        write(compare([runs], thresholds), tmp_path / name, date)
    for kind in ("html", "md", "csv", "json"):
        one, two, three = (
            (tmp_path / name / f"comparison.{kind}").read_text() for name in ("one", "two", "three")
        )
        assert one == two
        assert one == three.replace("2027-12-31", "2026-01-01")


def test_the_page_is_well_formed_whole_and_loads_nothing(written):
    text = (written / "comparison.html").read_text()
    page = Page(text)
    assert page.open == []
    assert not re.search(r"https?://|@import|url\(", text)
    assert all(source.startswith("data:") for source in page.sources)
    assert page.scripts == 0  # what a run's error says is text, not markup
    assert "&lt;script&gt;" in text
    assert len(page.ids) == len(set(page.ids))
    for link in page.links:
        if link.startswith("#"):
            assert link[1:] in page.ids
        else:
            assert (written / link).is_dir()


def test_every_number_of_a_table_names_its_runs(written):
    text = (written / "comparison.html").read_text()
    numbers = re.findall(r'<a class="num" href="#[^"]+" title="([^"]*)">', text)
    assert len(numbers) > 100
    assert all(re.match(r"table/\w+-seed_\d-0000000\d(, |$)", runs) for runs in numbers)


def test_warnings_and_what_is_missing_are_in_every_text(written):
    for kind in ("html", "md", "json"):
        text = (written / f"comparison.{kind}").read_text()
        assert "table/t5-seed_2-00000002: failed: the loss is not a number" in text
        assert "table/bert-seed_1-00000001: differs in optim.warmup (0.25, not 0.1)" in text
        assert "python train.py resume=" in text


def test_csv_and_json_hold_the_same_numbers(written):
    report = json.loads((written / "comparison.json").read_text())
    with (written / "comparison.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    scores = {(row["row"], row["group"]): row for row in rows if row["section"] == "score"}
    assert len(scores) == 30
    for row in report["applications"]:
        for label, cell in row["cells"].items():
            assert float(scores[row["task"], label]["value"]) == cell["value"]
            assert scores[row["task"], label]["runs"].split() == cell["runs"]
    assert report["date"] == "2026-01-01"


def test_markdown_tables_are_rectangular(written):
    lines = (written / "comparison.md").read_text().splitlines()
    previous = None
    for line in lines:
        columns = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else None
        assert previous is None or columns in (None, previous)
        previous = columns
    assert sum(line.startswith("## ") for line in lines) >= 12


def test_a_heat_map_is_a_picture_of_its_matrix():
    Image = pytest.importorskip("PIL.Image")  # noqa: N806
    import base64
    import io

    uri = svg.heat([[1.0, 0.0, 0.0], [0.25, 1.0, 0.0]])
    image = Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2])))
    assert image.size == (3, 2)
    assert image.getpixel((0, 0)) == image.getpixel((1, 1)) == (10, 30, 90)
    assert image.getpixel((1, 0)) == (250, 249, 240)
    assert image.getpixel((0, 1)) == (65, 160, 190)  # the square root of a quarter is the middle


def test_ticks_are_round_and_hold_the_data():
    assert svg.ticks(0.21, 0.98) == [0.2, 0.4, 0.6, 0.8, 1.0]
    assert svg.ticks(2, 2)[0] <= 2 <= svg.ticks(2, 2)[-1]
    assert [svg.short(one) for one in (4.5e6, 20000, 1500, 0.25)] == ["4.5M", "20k", "1500", "0.25"]


# What a person with a phone sees, measured inside: nothing may stick out but what scrolls by itself.
PROBE = """<!doctype html><body style="margin:0"><iframe id="page" src="comparison.html"
style="width:{width}px;height:9000px;border:0"></iframe><script>
addEventListener("load", () => {{
  const inner = document.getElementById("page").contentDocument, root = inner.documentElement;
  const out = [...inner.querySelectorAll("body *")].filter(one =>
    one.getBoundingClientRect().right > root.clientWidth + 1 && !one.closest(".scroll"));
  document.body.insertAdjacentHTML("beforeend", `<pre id="found">${{JSON.stringify({{
    client: root.clientWidth, scroll: root.scrollWidth, out: out.map(one => one.tagName + "." + one.className),
    dark: getComputedStyle(inner.body).backgroundColor, sections: inner.querySelectorAll("main section").length,
    broken: [...inner.images].filter(one => !one.naturalWidth).length,
  }})}}</pre>`);
}});</script></body>"""


def browse(path, profile, *options):
    return subprocess.run(
        [
            str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--allow-file-access-from-files", "--enable-logging=stderr", f"--user-data-dir={profile}",
            "--virtual-time-budget=3000", *options, path.as_uri(),
        ],
        capture_output=True, text=True, timeout=90, check=True,
    )  # fmt: skip


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on PATH")
@pytest.mark.parametrize("width", [360, 400, 1200])
def test_the_page_in_a_browser_fits_its_window_and_complains_of_nothing(written, tmp_path, width):
    probe = written / "probe.html"
    probe.write_text(PROBE.format(width=width))
    done = browse(probe, tmp_path / "profile", "--dump-dom", "--window-size=1300,9000")
    found = json.loads(re.search(r'<pre id="found">(.*?)</pre>', done.stdout)[1])
    assert width - 20 <= found["client"] <= width  # but for a scroll bar
    assert found["scroll"] <= found["client"]
    assert found["out"] == []
    assert found["broken"] == 0
    assert found["sections"] >= 14
    assert "CONSOLE" not in done.stderr


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on PATH")
def test_the_page_follows_the_reader_s_choice_of_dark(written, tmp_path):
    probe = written / "probe.html"
    probe.write_text(PROBE.format(width=800))
    shades = set()
    for options in ([], ["--blink-settings=preferredColorScheme=0"]):
        done = browse(probe, tmp_path / "profile", "--dump-dom", *options)
        shades.add(json.loads(re.search(r'<pre id="found">(.*?)</pre>', done.stdout)[1])["dark"])
    assert len(shades) == 2


def run_command(*arguments, cwd):
    command = [sys.executable, str(ROOT / "scripts" / "compare.py"), *arguments]
    env = {"PYTHONPATH": str(ROOT), "PATH": "", "COLUMNS": "160"}
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, env=env)


def test_the_command_writes_all_four_and_refuses_in_a_sentence(simulate, tmp_path):
    simulate(seeds=range(2))
    done = run_command(cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "typical applications" in done.stdout
    folder = tmp_path / "runs" / "comparison"
    assert sorted(path.name for path in folder.iterdir()) == [
        f"comparison.{kind}" for kind in ("csv", "html", "json", "md")
    ]
    assert not (tmp_path / "outputs").exists()
    refused = run_command("baseline=bret", cwd=tmp_path)
    assert refused.returncode == 2
    assert refused.stderr.strip() == "error: baseline=bret is no group here; use one of gpt, bert, t5"
    assert run_command("runs=nothing", cwd=tmp_path).stderr.startswith("error: there is no folder nothing")
    assert "did you mean group_by" in run_command("group=arch", cwd=tmp_path).stderr
