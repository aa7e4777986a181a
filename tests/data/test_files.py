"""The user's files: every form gives the same text, splits are apart, bad files are explained."""

import bz2
import csv
import gzip
import io
import json
import lzma
import tarfile
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zoo.data.sources import SPLITS, Files
from zoo.errors import UserError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

TEXTS = [f'text {i}, «é»\nwith a "line"' for i in range(40)]


def parquet(texts):
    buffer = io.BytesIO()
    pq.write_table(pa.table({"text": texts, "label": list(range(len(texts)))}), buffer)
    return buffer.getvalue()


def delimited(texts, delimiter):
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter=delimiter)
    writer.writerows([("text", "label"), *((text, i) for i, text in enumerate(texts))])
    return buffer.getvalue().encode()


def jsonl(texts):
    return "".join(json.dumps({"text": text, "label": i}) + "\n" for i, text in enumerate(texts)).encode()


WRITERS = {
    "jsonl": jsonl,
    "csv": lambda texts: delimited(texts, ","),
    "tsv": lambda texts: delimited(texts, "\t"),
    "parquet": parquet,
}
PACKERS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def write(path, contents):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
    return str(path)


def splits(source):
    return {split: list(source.documents(split)) for split in SPLITS}


def whole(source):
    return [text for texts in splits(source).values() for text in texts]


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("packed", PACKERS)
def test_every_form_gives_the_same_documents(tmp_path, suffix, packed):
    plain = splits(Files(path=write(tmp_path / "a.jsonl", jsonl(TEXTS))))
    made = Files(path=write(tmp_path / f"b.{suffix}{packed}", PACKERS[packed](WRITERS[suffix](TEXTS))))
    assert splits(made) == plain
    assert [int(row["label"]) for row in made.rows("test")] == [TEXTS.index(text) for text in plain["test"]]
    assert [len(plain[split]) for split in SPLITS] == [36, 2, 2]
    assert sorted(whole(made)) == sorted(TEXTS)


@pytest.mark.parametrize("name", ["a.zip", "a.tar", "a.tar.gz", "a.tgz", "a.tar.xz", "folder"])
def test_folders_and_archives_are_read_through(tmp_path, name):
    files = {f"books/{i}.txt": text for i, text in enumerate(TEXTS)}
    files |= {
        "books/README.txt": "about",
        "books/.hidden.txt": "hidden",
        "LICENSE": "mine",
        "c.txt.gz": "packed",
    }
    bytes_of = {n: gzip.compress(t.encode()) if n.endswith(".gz") else t.encode() for n, t in files.items()}
    if name == "folder":
        for inner, contents in bytes_of.items():
            write(tmp_path / name / inner, contents)
    elif name == "a.zip":
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            for inner, contents in bytes_of.items():
                archive.writestr(inner, contents)
    else:
        with tarfile.open(
            tmp_path / name, "w:" + {"tar": "", "xz": "xz"}.get(name.split(".")[-1], "gz")
        ) as archive:
            for inner, contents in bytes_of.items():
                info = tarfile.TarInfo(inner)
                info.size = len(contents)
                archive.addfile(info, io.BytesIO(contents))
    assert sorted(whole(Files(path=str(tmp_path / name)))) == sorted([*TEXTS, "packed"])


def test_patterns_and_places(tmp_path):
    for folder in ("here/x", "there/x"):
        for name in ("a.txt", "b.txt", "c.txt", "d.md"):
            write(tmp_path / folder / name, f"{name} in a folder")
    here, there = (Files(path=str(tmp_path / folder / "**" / "*.txt")) for folder in ("here", "there"))
    assert sorted(whole(here)) == [f"{name}.txt in a folder" for name in "abc"]
    assert here.fingerprint() == there.fingerprint()
    write(tmp_path / "there/x/a.txt", "changed")
    assert here.fingerprint() != Files(path=there.path).fingerprint()
    variants = [{}, {"seed": 1}, {"field": "b"}, {"documents": "lines"}, {"split_by": "end"}, {"test": 0.1}]
    assert len({Files(path=here.path, **settings).fingerprint() for settings in variants}) == len(variants)


def test_a_text_file_is_one_document_or_its_paragraphs_or_its_lines(tmp_path):
    path = write(tmp_path / "a.txt", "\ufeffone\r\ntwo\r\n\r\n \r\nthree\r\n")
    assert "".join(whole(Files(path=path))) == "one\r\ntwo\r\n\r\n \r\nthree\r\n"
    assert "".join(whole(Files(path=path, documents="blank_lines"))) == "one\r\ntwothree"
    assert sorted(whole(Files(path=path, documents="lines"))) == ["one", "three", "two"]


@given(
    st.text("ab c\n", min_size=40, max_size=300).filter(str.strip),
    st.sampled_from([(0.1, 0), (0.05, 0.05), (0, 0.3)]),
)
def test_a_single_text_is_cut_by_position(tmp_path_factory, text, shares):
    validation, test = shares
    path = write(tmp_path_factory.mktemp("files") / "a.txt", text)
    made = splits(Files(path=path, validation=validation, test=test))
    assert ["".join(made[split]) for split in SPLITS] == [
        text[: int(len(text) * (1 - validation - test))],
        text[int(len(text) * (1 - validation - test)) : int(len(text) * (1 - test))],
        text[int(len(text) * (1 - test)) :],
    ]


@given(
    texts=st.lists(st.text("ab\n", min_size=1, max_size=4), min_size=1, max_size=60), seed=st.integers(0, 99)
)
def test_documents_are_dealt_whole_and_equal_ones_together(tmp_path_factory, texts, seed):
    path = write(tmp_path_factory.mktemp("files") / "a.jsonl", jsonl(texts))
    made = splits(Files(path=path, seed=seed, validation=0.2, test=0.1))
    if len(texts) < 3:
        assert "".join(whole(Files(path=path, seed=seed))) == "".join(texts)
        return
    assert sorted(text for part in made.values() for text in part) == sorted(texts)
    assert sum(len(set(part)) for part in made.values()) == len(set(texts))
    for part in made.values():
        positions = [texts.index(text) for text in part]
        assert len(set(texts)) < len(texts) or positions == sorted(positions)
    if len(set(texts)) == len(texts):
        assert [len(made[split]) for split in SPLITS[1:]] == [
            max(1, round(len(texts) * s)) for s in (0.2, 0.1)
        ]


def test_another_seed_holds_out_other_documents(tmp_path):
    path = write(tmp_path / "a.jsonl", jsonl(TEXTS))
    assert splits(Files(path=path)) == splits(Files(path=path))
    assert splits(Files(path=path))["test"] != splits(Files(path=path, seed=1))["test"]


@pytest.mark.parametrize(
    "names",
    [
        ("train.jsonl", "valid.jsonl", "test.jsonl"),
        ("train-00000-of-00001.jsonl", "validation-00000-of-00001.jsonl", "test-00000-of-00001.jsonl"),
        ("train/a.jsonl", "dev/a.jsonl", "test/a.jsonl"),
    ],
)
def test_named_splits_are_used(tmp_path, names):
    for i, name in enumerate(names):
        write(tmp_path / name, jsonl(TEXTS[i::3]))
    assert [*splits(Files(path=str(tmp_path))).values()] == [TEXTS[0::3], TEXTS[1::3], TEXTS[2::3]]


def test_a_split_without_a_file_is_cut_from_train(tmp_path, caplog):
    write(tmp_path / "train.jsonl", jsonl(TEXTS[:30]))
    write(tmp_path / "test.jsonl", jsonl(TEXTS[30:]))
    write(tmp_path / "extra.jsonl", jsonl(["extra"]))
    made = splits(Files(path=str(tmp_path)))
    assert made["test"] == TEXTS[30:]
    assert len(made["validation"]) == 2
    assert sorted(made["train"] + made["validation"]) == sorted(TEXTS[:30])
    assert "1 files belong to no split" in caplog.text


def test_end_cuts_many_documents_by_position(tmp_path):
    path = write(tmp_path / "a.jsonl", jsonl(["abcd", "efgh", "ijkl", "mnop"]))
    made = splits(Files(path=path, split_by="end", validation=0.25, test=0.125))
    assert made == {"train": ["abcd", "efgh", "ij"], "validation": ["kl", "mn"], "test": ["op"]}


def test_nulls_and_half_characters(tmp_path):
    path = write(
        tmp_path / "a.jsonl",
        '{"text": null}\n\n{"text": "a\\ud83d"}\n{"text": "\\ud83d\\ude42"}\n{"text": ""}\n{"text": "b"}',
    )
    assert sorted(whole(Files(path=path))) == ["a?", "b", "🙂"]


BAD = {
    "empty": ("a.txt", b"", {}, "holds no text"),
    "blank lines": ("a.txt", b"\n\n", {"documents": "lines"}, "holds no text"),
    "utf-16": ("a.txt", b"text", {"encoding": "utf-16"}, r"BOM.*set data\.encoding"),
    "zero bytes": ("a.txt", b"ab\0c", {}, "binary file"),
    "not utf-8": ("a.txt", "caf\u00e9".encode("latin-1"), {}, r"0xe9.*set data\.encoding"),
    "suffix": ("a.doc", b"text", {}, r"\.doc.*data\.format"),
    "field": ("a.jsonl", b'{"body": "x", "id": 1}', {}, r"no field 'text' \(but body, id\).*data\.field"),
    "csv field": ("a.csv", b"body,id\nx,1\n", {}, r"no field 'text' \(but body, id\)"),
    "type": ("a.jsonl", b'{"text": [1]}', {}, "holds list, not text"),
    "json": ("a.jsonl", b'{"text": "x"}\n{"text": \n', {}, "line 2 of a.jsonl is not JSON"),
    "json row": ("a.jsonl", b'{"text": "x"}\n\n3\n', {}, "line 3 of a.jsonl is not a JSON object"),
    "csv row": ("a.csv", b"text,id\na,1\nb,2,3\n", {}, "line 3 of a.csv has more or fewer"),
    "csv quote": ("a.csv", b'text,id\n"a,1\n', {}, r"line \d of a.csv cannot be read"),
    "parquet": ("a.parquet", b"PAR1 not really", {}, "not a whole Parquet file"),
    "gzip": ("a.txt.gz", gzip.compress(b"text" * 99)[:-9], {}, "cannot read"),
    "not gzip": ("a.txt.gz", b"text", {}, "cannot read"),
    "xz": ("a.txt.xz", lzma.compress(b"text" * 999)[:-40], {}, "cannot read"),
    "zip": ("a.zip", b"PK", {}, "cannot read"),
    "tar": ("a.tar.gz", b"tar", {}, "cannot read"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_explained_in_one_sentence(tmp_path, case):
    name, contents, settings, message = BAD[case]
    path = write(tmp_path / name, contents)
    with pytest.raises(UserError, match=message) as caught:
        whole(Files(path=path, **settings))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"path": "nowhere.txt"}, "there is no file at nowhere.txt"),
        ({"path": "no*where"}, "there is no file"),
        ({"path": "x", "documents": "words"}, "file, blank_lines, lines"),
        ({"path": "x", "split_by": "luck"}, "document, end"),
        ({"path": "x", "format": "doc"}, "txt, jsonl, csv, tsv, parquet"),
        ({"path": "x", "encoding": "utf-9"}, r"data\.encoding=utf-9"),
        ({"path": "x", "validation": 0.6, "test": 0.4}, "leave text to train on"),
    ],
)
def test_bad_settings_are_explained(settings, message):
    with pytest.raises(UserError, match=message):
        whole(Files(**settings))


def test_rows_of_a_text_cut_by_position_are_refused(tmp_path):
    path = write(tmp_path / "a.txt", "one text")
    with pytest.raises(UserError, match="cut by position"):
        list(Files(path=path).rows("train"))
    with pytest.raises(ValueError, match="no split"):
        Files(path=path).documents("tests")
