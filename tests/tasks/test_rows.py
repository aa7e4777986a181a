"""Tasks from the user's own rows: every shape they come in, and what is said of rows that are wrong."""

import json
import math
import zipfile
from itertools import combinations
from pathlib import Path

import pytest
import yaml
from hydra.utils import instantiate
from hypothesis import given
from hypothesis import strategies as st

from zoo.data.sources import Files
from zoo.data.world import World
from zoo.errors import UserError
from zoo.tasks import rows
from zoo.tasks.rows.made import spans
from zoo.tasks.task import Span

CONF = Path(__file__).parents[2] / "conf" / "task"
SHARED = next(
    (path for parent in Path(__file__).resolve().parents if (path := parent / "shared" / "data").is_dir()),
    Path("none"),
)
SPLITS = ("train", "validation", "test")


def write(path, *lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def mean(values):
    return sum(v for v in values if not math.isnan(v)) / sum(not math.isnan(v) for v in values)


def check(task, *, shared=False):
    """What every task promises."""
    texts = {}
    for split in SPLITS:
        examples = task.examples(split)
        assert examples
        assert examples == task.examples(split)
        assert len({e.item for e in examples}) == len(examples)
        texts[split] = {e.text for e in examples}
        for example in examples:
            assert all(example.text[s.start : s.end].strip() for s in example.spans)
    if not shared:
        assert not any(texts[a] & texts[b] for a, b in combinations(SPLITS, 2))
    examples = task.examples("test")
    best, least = (
        mean(task.scores(examples, give(examples))[task.metric]) for give in (task.oracle, task.baseline)
    )
    assert least < best
    assert best == pytest.approx(1)


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_classify_by_field_names(tmp_path, kind):
    table = [(f"review number {i}", ("good", "bad")[i % 3 == 0], f"question {i}") for i in range(90)]
    if kind == "jsonl":
        lines = [json.dumps(dict(zip(("body", "stars", "asked"), row, strict=True))) for row in table]
    else:
        lines = ["body,stars,asked", *map(",".join, table)]
    source = Files(path=write(tmp_path / f"reviews.{kind}", *lines), field="body", validation=0.2, test=0.2)
    task = rows.classify(source=source, text="body", label="stars", query="asked", train=20)
    assert task.classes == ("bad", "good")
    assert len(task.examples("train")) == 20
    known = {text: (label, asked) for text, label, asked in table}
    for split in SPLITS:
        for example in task.examples(split):
            assert (example.answers[0], example.query) == known[example.text]
    check(task)


def test_numbers_count_the_classes(tmp_path):
    lines = [json.dumps({"text": f"text {i}", "label": i % 2}) for i in range(40)]
    source = Files(path=write(tmp_path / "a.jsonl", *lines), validation=0.2, test=0.2)
    assert rows.classify(source=source).classes == ("0", "1")
    named = rows.classify(source=source, classes=["no", "yes"])
    assert {(int(e.text[5:]) % 2, e.answers[0]) for e in named.examples("train")} == {(0, "no"), (1, "yes")}
    with pytest.raises(UserError, match="label 1 is none of the 1 classes"):
        rows.classify(source=source, classes=["no"]).examples("train")


def test_first_items_are_drawn_not_the_file_s_first(tmp_path):
    lines = [json.dumps({"text": f"text {i}", "label": str(i // 50)}) for i in range(100)]
    source = Files(path=write(tmp_path / "a.jsonl", *lines), validation=0.1, test=0.1)
    some = rows.classify(source=source, train=30).examples("train")
    assert 5 < sum(e.answers[0] == "0" for e in some) < 25


def test_folders_hold_a_class_each(tmp_path):
    paths = {c: write(tmp_path / f"{c}.txt", *(f"{c} line {i}" for i in range(60))) for c in ("pos", "neg")}
    task = rows.classify(rows=rows.Folders(paths=paths, validation=0.2, test=0.2))
    assert all(e.text.startswith(e.answers[0]) for split in SPLITS for e in task.examples(split))
    assert sum(len(task.examples(split)) for split in SPLITS) == 120
    check(task)


def test_json_of_splits(tmp_path):
    contents = {one: [[f"{one} {i}", "ab"[i % 2]] for i in range(9)] for one in ("train", "val", "test")}
    path = write(tmp_path / "data.json", json.dumps(contents))
    task = rows.classify(
        rows=rows.Json(path=path, columns=["what", "kind"], splits={"validation": "val"}),
        text="what",
        label="kind",
    )
    assert {len(task.examples(split)) for split in SPLITS} == {9}
    assert all(e.text.startswith("val") for e in task.examples("validation"))
    check(task)


def test_conll_files(tmp_path):
    def sentence(i):
        return [
            f"Anna{i}\tNNP\tB-PER",
            f"Lee{i}\tNNP\tI-PER",
            "is\tVBZ\tO",
            "in\tIN\tO",
            f"Bonn{i}\tNNP\tB-LOC",
            "",
        ]

    lines = ["-DOCSTART- -X- O", "", *(line for i in range(60) for line in sentence(i))]
    task = rows.tag(rows=rows.Conll(path=write(tmp_path / "a.conll", *lines), validation=0.2, test=0.2))
    assert task.classes == ("LOC", "PER")
    assert sum(len(task.examples(split)) for split in SPLITS) == 60
    for example in task.examples("train"):
        assert [(example.text[s.start : s.end].rstrip("0123456789"), s.label) for s in example.spans][1][
            1
        ] == "LOC"
        assert example.text[slice(*example.spans[0][:2])].split()[1].startswith("Lee")
    assert set(task.scores([], [])) == {"f1"}
    check(task)


def literal_spans(words, tags):
    """As conlleval's start and end of chunk, word by word, for BIO."""
    found, begun = [], None
    for i, tag in enumerate([*tags, "O"]):
        kind = tag[2:]
        starts = tag[0] == "B" or (
            tag[0] == "I" and (i == 0 or tags[i - 1][2:] != kind or tags[i - 1] == "O")
        )
        if begun is not None and (tag == "O" or starts):
            first = sum(len(w) + 1 for w in words[:begun])
            found.append(Span(first, first + len(" ".join(words[begun:i])), tags[begun][2:]))
            begun = None
        if starts:
            begun = i
    return tuple(found)


@given(
    st.lists(
        st.tuples(st.sampled_from(("a", "bb", "ccc")), st.sampled_from(("O", "B-X", "I-X", "B-Y", "I-Y")))
    )
)
def test_bio_tags_are_read_as_conlleval_reads_them(pairs):
    words, tags = [w for w, _ in pairs], [t for _, t in pairs]
    assert spans(words, tags) == literal_spans(words, tags)


def test_iobes_and_bilou():
    assert spans(list("abcd"), ["S-X", "B-X", "I-X", "E-X"]) == (Span(0, 1, "X"), Span(2, 7, "X"))
    assert spans(list("abcd"), ["U-X", "U-X", "B-X", "L-X"]) == (
        Span(0, 1, "X"),
        Span(2, 3, "X"),
        Span(4, 7, "X"),
    )


def squad(n):
    """n paragraphs of three questions, one of them without an answer."""
    paragraphs = [
        {"context": f"Anna is {i} years old. Ben is {i + 1}.",
         "qas": [{"id": f"{i}a", "question": "How old is Anna?", "answers": [{"text": str(i), "answer_start": 8}]},
                 {"id": f"{i}b", "question": "And Ben?", "answers": [{"text": str(i + 1), "answer_start": 29}]},
                 {"id": f"{i}c", "question": "Why?", "answers": []}]}
        for i in range(10, 10 + n)
    ]  # fmt: skip
    return {"version": "1.1", "data": [{"title": "t", "paragraphs": paragraphs}]}


def test_squad_files(tmp_path):
    path = write(tmp_path / "q.json", json.dumps(squad(60)))
    task = rows.extract(rows=rows.Squad(path=path, validation=0.2, test=0.2))
    assert sum(len(task.examples(split)) for split in SPLITS) == 120
    for example in task.examples("train"):
        start = {"How old is Anna?": 8, "And Ben?": 29}[example.query]
        assert example.spans == (Span(start, start + 2),)
        assert example.text[start : start + 2] == example.answers[0]
    check(task)  # a text's questions are in one split


def test_questions_of_a_text_share_their_item_s_beginning(tmp_path):
    path = write(
        tmp_path / "q.jsonl",
        *(
            json.dumps({"context": f"It is {i // 2}.", "question": f"{i}?", "answers": str(i // 2)})
            for i in range(40)
        ),
    )
    source = Files(path=path, field="context", validation=0.2, test=0.2)
    examples = rows.extract(source=source).examples("train")
    groups = {}
    for example in examples:
        groups.setdefault(example.item.rpartition("/")[0], set()).add(example.text)
    assert all(len(texts) == 1 for texts in groups.values())
    assert len(groups) == len(examples) / 2


def test_columns_and_splits_of_their_own(tmp_path):
    paths = {
        s: write(tmp_path / f"{s}.txt", *(f"{s} {i}\tübersetzt {s} {i}\tx" for i in range(9))) for s in SPLITS
    }
    own = rows.Columns(path=paths, columns=["en", "de"])
    task = rows.generate(rows=own, text="en", answer="de", metric="bleu")
    for split in SPLITS:
        assert {(e.text, e.answers[0]) for e in task.examples(split)} == {
            (f"{split} {i}", f"übersetzt {split} {i}") for i in range(9)
        }
    check(task)
    cut = rows.Columns(path=paths["train"], columns=["en", "de"], validation=0.3, test=0.3)
    assert sum(len(list(cut.rows(split))) for split in SPLITS) == 9


def test_several_references_and_dialogues(tmp_path):
    lines = [json.dumps({"text": f"t {i}", "answer": [f"a {i}", f"b {i}"], "turns": ["hi", f"ho {i}", "so"]})
             for i in range(40)]  # fmt: skip
    source = Files(path=write(tmp_path / "a.jsonl", *lines), validation=0.2, test=0.2)
    task = rows.generate(source=source)
    example = task.examples("test")[0]
    assert task.scores([example] * 2, list(example.answers))["exact"] == [1, 1]
    replies = rows.reply(source=source, turns="turns").examples("train")
    assert {(e.text, e.query) for e in replies if e.answers == ("so",)} == {
        ("- hi", f"ho {e.query[3:]}") for e in replies if e.answers == ("so",)
    }
    assert all(e.query == "hi" and e.text == "" for e in replies if e.answers != ("so",))


# --- the hub, as local folders of its shape ---------------------------------------------------------------------------

HUB = {
    "sst2": lambda i: {"idx": i, "sentence": f"film {i}", "label": i % 2},
    "conll2003": lambda i: {"id": str(i), "tokens": ["EU", "in", f"Bonn{i}"], "ner_tags": [3, 0, 5]},
    "squad": lambda i: {
        "id": str(i), "title": "t", "context": f"It is {i}.", "question": "What?",
        "answers": {"text": [f"{i}"], "answer_start": [6]},
    },
    "opus": lambda i: {"translation": {"de": f"deutsch {i}", "en": f"english {i}"}},
    "xsum": lambda i: {"document": f"long text {i}", "summary": f"sum {i}", "id": str(i)},
    "samsum": lambda i: {"id": str(i), "dialogue": f"A: hi {i}", "summary": f"A says hi {i}"},
    "dailydialog": lambda i: {"dialog": [f"hi {i} ", f"ho {i} ", f"so {i} "], "act": [1, 2, 3], "emotion": [0, 0, 0]},
}  # fmt: skip


@pytest.mark.parametrize("name", list(HUB))
def test_ready_hub_configurations_on_a_local_folder_of_the_same_shape(tmp_path, monkeypatch, name):
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    config = yaml.safe_load((CONF / f"hub_{name}.yaml").read_text(encoding="utf-8"))
    ours = config["rows"]["splits"]
    for k, theirs in enumerate(("train", "validation", "test")):
        if theirs in ours.values():
            lines = [json.dumps(HUB[name](1000 * (k + 1) + i)) for i in range(200)]
            write(tmp_path / "data" / f"{theirs}.jsonl", *lines)
    config["rows"] |= {"name": str(tmp_path / "data"), "config": None, "revision": None}
    task = instantiate(config, source=None)
    check(task, shared=name == "dailydialog")
    if name == "conll2003":
        assert task.classes == ("LOC", "MISC", "ORG", "PER")
        example = task.examples("test")[0]
        assert [(example.text[s.start : s.end], s.label) for s in example.spans] == [
            ("EU", "ORG"),
            (example.text.split()[2], "LOC"),
        ]
    if name == "sst2":
        assert {(int(e.text[5:]) % 2, e.answers[0]) for e in task.examples("test")} == {
            (0, "negative"),
            (1, "positive"),
        }


# --- what is wrong is said --------------------------------------------------------------------------------------------


def test_what_is_wrong_is_said_in_a_sentence(tmp_path):
    lines = [json.dumps({"text": f"t {i}", "label": "x", "n": 3}) for i in range(9)]
    source = Files(path=write(tmp_path / "a.jsonl", *lines), validation=0.3, test=0.3)
    bad = write(tmp_path / "bad.json", "{}")
    one = write(tmp_path / "one.conll", "word", "")
    pairs = write(tmp_path / "pairs.txt", "only one column")
    tokens = write(tmp_path / "tokens.jsonl", *[json.dumps({"text": "t", "tokens": ["a"], "tags": []})] * 3)
    for message, make in {
        "no field 'stars'": lambda: rows.classify(source=source, label="stars"),
        "field 'n' holds int": lambda: rows.classify(source=source, text="n"),
        "world has no rows": lambda: rows.classify(source=World()),
        "not JSON in SQuAD's format": lambda: rows.extract(rows=rows.Squad(path=bad)).examples("train"),
        "no token and tag": lambda: rows.tag(rows=rows.Conll(path=one)),
        "fewer than 2 columns": lambda: rows.generate(
            rows=rows.Columns(path=pairs, columns=["a", "b"])
        ).examples("train"),
        "1 tokens but 0 tags": lambda: rows.tag(source=Files(path=tokens, validation=0.3, test=0.3)),
        "does not stand in its text": lambda: rows.extract(
            source=source, context="text", question="text", answers="label"
        ).examples("train"),
        "no rows for test": lambda: rows.classify(
            rows=rows.Columns(path=pairs, columns=["text"], test=0), label="text"
        ).examples("test"),
        "its keys are train": lambda: rows.Columns(path={"dev": pairs}, columns=["text"]),
    }.items():
        with pytest.raises(UserError, match=message) as caught:
            make()
        assert "\n" not in str(caught.value)


# --- ready configurations, and the real data where they are -----------------------------------------------------------


@pytest.mark.parametrize("path", sorted(CONF.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_configuration_says_where_it_belongs_and_what_each_line_is(path):
    package, doc, *lines = path.read_text(encoding="utf-8").splitlines()
    assert package.startswith(("# @package tasks.", "# @package _global_"))
    assert doc.startswith("# ")
    assert all(
        "# " in line
        for line in lines
        if not line.lstrip().startswith(("_target_", "defaults", "- ", "rows:"))
    )


@pytest.mark.skipif(not SHARED.is_dir(), reason="real data are not beside the project")
def test_real_data(tmp_path):
    with zipfile.ZipFile(SHARED / "sentence_polarity" / "sentence_polarity.zip") as archive:
        archive.extractall(tmp_path)
    polarity = {c: str(next(tmp_path.rglob(f"*.{c}"))) for c in ("pos", "neg")}
    clinc = rows.Json(
        path=str(SHARED / "clinc150" / "data_small.json"),
        columns=["text", "label"],
        splits={"validation": "val"},
    )
    wnut = {
        "train": "wnut17train.conll",
        "validation": "emerging.dev.conll",
        "test": "emerging.test.annotated",
    }
    deu = rows.Columns(path=str(SHARED / "tatoeba_deu" / "deu.txt"), columns=["en", "de"])
    tasks = {
        "polarity": rows.classify(rows=rows.Folders(paths=polarity, encoding="latin-1")),
        "clinc": rows.classify(rows=clinc),
        "wnut": rows.tag(rows=rows.Conll(path={s: str(SHARED / "wnut17" / f) for s, f in wnut.items()})),
        "xquad": rows.extract(rows=rows.Squad(path=str(SHARED / "xquad" / "xquad.en.json"))),
        "deu": rows.generate(
            rows=deu, text="en", answer="de", metric="bleu", train=500, validation=50, test=50
        ),
    }
    for name, task in tasks.items():
        check(task, shared=name == "clinc")
    sizes = {name: [len(task.examples(split)) for split in SPLITS] for name, task in tasks.items()}
    assert sum(sizes["polarity"]) == 10_662
    assert sizes["clinc"] == [7_500, 3_000, 4_500]
    assert len(tasks["clinc"].classes) == 150
    assert sizes["wnut"] == [3_394, 1_009, 1_287]
    # the entities that the shared task's paper counts (Derczynski et al. 2017, table 2)
    counts = [sum(len(e.spans) for e in tasks["wnut"].examples(split)) for split in SPLITS]
    assert counts == [1975, 836, 1079]
    assert sum(sizes["xquad"]) == 1_190
