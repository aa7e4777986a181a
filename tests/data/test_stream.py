"""Streams: nothing lost between text and disk, boundaries in place, a cache that is whole or absent."""

import json
import multiprocessing
import shutil
from itertools import pairwise

import numpy as np
import pytest
import tokenizers
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import pre_tokenizers

from zoo.data import encode, sentences, stream
from zoo.data.stream import prepare
from zoo.data.tokenizer import Tokenizer, special_names
from zoo.data.vocabularies import BPE, Bytes, Characters
from zoo.errors import UserError

PIECES = [
    "One.",
    " Two, e.g. this!",
    '\n"Three?"',
    " mr. four",
    "\n\n  five\n",
    "四。六",
    "x" * 9,
    " é<eos>",
    " ",
]
DOCUMENT = st.lists(st.sampled_from(PIECES), min_size=1, max_size=12).map("".join)


class Texts:
    """A source of the documents it is given, which counts how often it is read."""

    name = "texts"

    def __init__(self, **documents):
        self.texts, self.reads = {"train": [], "validation": [], "test": []} | documents, 0

    def fingerprint(self):
        return repr(self.texts)

    def documents(self, split):
        self.reads += 1
        return iter(self.texts[split])


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", []),
        ("One. Two! Three", ["One.", " Two!", " Three"]),
        ('He said "go." She went... well. Then', ['He said "go."', " She went... well.", " Then"]),
        ("def f():\n    return 1\n\n\nx = 2\n", ["def f():", "\n    return 1", "\n\n\nx = 2\n"]),
        ("3.14 e.g. that", ["3.14 e.g. that"]),
        ("猫だ。犬だ。", ["猫だ。", "犬だ。"]),
        (" \n a", [" \n a"]),
    ],
)
def test_sentences_start_where_a_reader_would_say(text, pieces):
    at = [*sentences.starts(text), len(text)]
    assert [text[a:b] for a, b in pairwise(at)] == pieces


@given(text=st.text(st.sampled_from("aB.!?。\"') \n\t")))
def test_sentences_are_the_text_and_none_is_blank(text):
    at = [*sentences.starts(text), len(text)]
    pieces = [text[a:b] for a, b in pairwise(at)]
    assert "".join(pieces) == text
    assert all(piece.strip() for piece in pieces) or len(pieces) == 1


def metaspace():
    """A tokenizer of another family: it marks the start of a text, so pieces alone would not do."""
    pieces = [("<unk>", 0.0), *((c, -1.0) for c in "▁aeinortxOTF.!?")]
    tokenizer = tokenizers.Tokenizer(tokenizers.models.Unigram(pieces, 0))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.add_special_tokens(special_names(2))
    return Tokenizer(tokenizer)


def words():
    """A tokenizer that makes nothing of white space, and one token across two sentences of Chinese."""
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({"<unk>": 0, "four": 1, "Two,": 2}, "<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.add_special_tokens(special_names(2))
    return Tokenizer(tokenizer)


TOKENIZERS = {
    "bpe": BPE(vocab_size=360).fit(["One. Two! Three? four\n\n  five\n"] * 3),
    "bytes": Bytes().fit([]),
    "characters": Characters().fit(PIECES),
    "metaspace": metaspace(),
    "words": words(),
}


def written(folder, documents, tokenizer):
    encode.write(folder, "train", iter(documents), tokenizer, lambda message: None)
    return stream._read(folder, "train", tokenizer.vocab_size)


@pytest.mark.parametrize("kind", TOKENIZERS)
@given(documents=st.lists(DOCUMENT, max_size=5))
@example(documents=[" ", "四。六"])
def test_a_stream_is_its_documents(tmp_path_factory, kind, documents):
    tokenizer = TOKENIZERS[kind]
    made = written(tmp_path_factory.mktemp("stream"), documents, tokenizer)
    assert made.tokens.dtype == np.uint16
    assert made.documents[-1] == len(made)
    rows = [made.tokens[a:b].tolist() for a, b in pairwise(made.documents)]
    assert rows == [[*tokenizer.encode(d), tokenizer.eos] for d in documents]
    positions = np.arange(len(made))
    assert made.document_of(positions).tolist() == [i for i, row in enumerate(rows) for _ in row]
    assert set(made.documents[:-1]) <= set(made.sentences)
    assert (np.diff(made.sentences) > 0).all()
    empty = made.tokens[made.documents[:-1]] == tokenizer.eos
    assert (made.tokens[made.sentences] == tokenizer.eos).sum() == empty.sum()  # no sentence is an eos alone
    if kind not in {"metaspace", "words"}:
        expected = [piece for d in documents for piece in cut(d, sentences.starts(d))]
        at = np.append(made.sentences, len(made))
        assert [tokenizer.decode(made.tokens[a:b]) for a, b in pairwise(at)] == expected


def cut(text, starts):
    return [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]


@pytest.mark.parametrize("kind", ["bpe", "bytes", "characters"])
@given(documents=st.lists(DOCUMENT, max_size=3))
def test_long_documents_in_pieces_are_the_same(tmp_path_factory, kind, documents):
    made = []
    for piece, batch in ((3, 5), (10**9, 10**9)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(encode, "_PIECE", piece)
            patch.setattr(encode, "_BATCH", batch)
            made.append(written(tmp_path_factory.mktemp("stream"), documents, TOKENIZERS[kind]))
    for array in encode.ARRAYS:
        assert getattr(made[0], array).tolist() == getattr(made[1], array).tolist()


SOURCE = {"train": ["One. Two.", "", "Three.\nFour."], "validation": ["Five."]}


def flat(corpus):
    return [
        array.tolist()
        for split in (corpus.train, corpus.validation, corpus.test)
        for array in (split.tokens, split.documents, split.sentences)
    ]


def test_the_cache_is_used_and_knows_what_it_holds(tmp_path):
    source = Texts(**SOURCE)
    first = prepare(source, Bytes(), cache=tmp_path)
    assert len(first.train.documents) == 3  # an empty document is none
    assert len(first.test) == 0
    assert first.test.documents.tolist() == [0]
    reads = source.reads
    again = prepare(source, Bytes(), cache=tmp_path)
    assert source.reads == reads
    assert flat(again) == flat(first)
    assert again.tokenizer.fingerprint() == first.tokenizer.fingerprint()
    assert isinstance(again.train.tokens, np.memmap)
    others = [
        prepare(Texts(train=["Other."]), Bytes(), cache=tmp_path),
        prepare(source, Bytes(sentinels=2), cache=tmp_path),
    ]
    assert len({corpus.fingerprint for corpus in (first, *others)}) == 3


@pytest.mark.parametrize(
    "name", ["train.tokens", "train.documents", "test.sentences", "tokenizer.json", "manifest.json"]
)
@pytest.mark.parametrize("damage", ["truncate", "flip", "remove", "grow"])
def test_damage_is_noticed_and_mended(tmp_path, caplog, name, damage):
    source = Texts(**SOURCE, test=["Six."])
    expected = flat(prepare(source, Bytes(), cache=tmp_path))
    (path,) = tmp_path.glob(f"*/{name}")
    contents = bytearray(path.read_bytes())
    contents[len(contents) // 2] ^= 1
    changed = {"truncate": contents[:-1], "flip": contents, "grow": path.read_bytes() + b"x"}
    if damage == "remove":
        path.unlink()
    else:
        path.write_bytes(changed[damage])
    assert flat(prepare(source, Bytes(), cache=tmp_path)) == expected
    assert "damaged" in caplog.text
    assert json.loads((path.parent / "manifest.json").read_text())


def test_what_a_killed_process_left_is_cleared(tmp_path):
    source = Texts(**SOURCE)
    expected = prepare(source, Bytes(), cache=tmp_path)
    folder = tmp_path / expected.fingerprint
    shutil.move(folder, tmp_path / f"{expected.fingerprint}.left")
    assert flat(prepare(source, Bytes(), cache=tmp_path)) == flat(expected)
    assert [path for path in tmp_path.iterdir() if path.is_dir()] == [folder]


def test_a_failure_leaves_nothing(tmp_path):
    class Broken(Texts):
        def documents(self, split):
            yield "some text"
            raise UserError("the file is broken")

    with pytest.raises(UserError, match="broken"):
        prepare(Broken(), Bytes(), cache=tmp_path)
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]


def race(cache, start, results):
    start.wait()
    results.put(flat(prepare(Texts(**SOURCE), BPE(vocab_size=400), cache=cache)))


def test_processes_that_race_all_get_the_corpus(tmp_path):
    context = multiprocessing.get_context("spawn")
    start, results = context.Barrier(3), context.Queue()
    racers = [context.Process(target=race, args=(tmp_path, start, results)) for _ in range(3)]
    for racer in racers:
        racer.start()
    got = [results.get(timeout=120) for _ in racers]
    for racer in racers:
        racer.join()
    assert got == [flat(prepare(Texts(**SOURCE), BPE(vocab_size=400), cache=tmp_path))] * 3


def test_bad_requests_are_explained(tmp_path, monkeypatch):
    with pytest.raises(UserError, match="no text to train on"):
        prepare(Texts(validation=["x"]), Bytes(), cache=tmp_path)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ZOO_CACHE", str(tmp_path / "file"))
    with pytest.raises(UserError, match="set ZOO_CACHE"):
        prepare(Texts(train=["x"]), Bytes())


def test_big_vocabularies_get_wide_ids():
    assert encode.token_dtype(2**16) == np.uint16
    assert encode.token_dtype(2**16 + 1) == np.uint32
