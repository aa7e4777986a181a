"""Tokenizers: the text that goes in comes out, special tokens are known by name, nothing gets lost."""

import json
import pickle

import numpy as np
import pytest
import tokenizers
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import models, pre_tokenizers

from zoo.data.tokenizer import ALIASES, Tokenizer, special_names
from zoo.data.vocabularies import BPE, Bytes, Characters, File
from zoo.errors import UserError

TEXT = [
    "The cat sat on the mat. The cat ran!\n",
    "def f(x):\n    return x  # twice\n" * 3,
    "naïve 猫 🙂 <mask>",
]
SOME_TEXT = st.text(st.characters(exclude_categories=["Cs"]))
ROLES = list(ALIASES)


@pytest.fixture(scope="module")
def by_kind(tmp_path_factory):
    """A tokenizer of each kind that takes any text."""
    made = {"bpe": BPE(vocab_size=400, sentinels=8).fit(TEXT), "bytes": Bytes(sentinels=8).fit([])}
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    foreign = tokenizers.ByteLevelBPETokenizer()
    foreign.train_from_iterator(TEXT, vocab_size=300, special_tokens=["<|endoftext|>"], show_progress=False)
    foreign.save(str(path))
    return made | {"file": File(path=str(path), sentinels=8).fit([])}


@pytest.mark.parametrize("kind", ["bpe", "bytes", "file"])
@given(text=SOME_TEXT)
@example(text="<mask> <extra_id_0></s><|endoftext|>")
@example(text="  leading, e\u0301 combining,\r\n\n\t trailing  ")
@example(text="\0\u200b\ufeff\U0010ffff")
def test_any_text_round_trips_as_text(by_kind, kind, text):
    tokenizer = by_kind[kind]
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert not tokenizer.is_special[ids].any()
    assert tokenizer.encode_batch([text, text]) == [ids, ids]


@given(text=st.text(st.sampled_from("abc \n<mask>é")))
def test_characters_round_trip_one_token_each(text):
    tokenizer = Characters().fit(["abc \n", "<mask>é"])
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert len(tokenizer.encode(text)) == len(text)


@pytest.mark.parametrize("kind", ["bpe", "bytes", "file"])
@given(text=SOME_TEXT)
def test_every_token_knows_the_character_it_starts_at(by_kind, kind, text):
    ((ids, starts),) = by_kind[kind].encode_with_starts([text])
    assert ids.tolist() == by_kind[kind].encode(text)
    assert (np.diff(starts) >= 0).all()
    # The tokens before a character at which a token starts are the text before it.
    for at in set(starts[starts == np.concatenate([starts[:1], starts[:-1] + 1])]) if len(starts) else ():
        first = int(np.searchsorted(starts, at))
        assert by_kind[kind].decode(ids[:first]) == text[:at]


@pytest.mark.parametrize("kind", ["bpe", "bytes", "file"])
def test_special_tokens_are_apart_and_found_by_name(by_kind, kind):
    tokenizer = by_kind[kind]
    ids = [*(getattr(tokenizer, role) for role in ROLES), *tokenizer.sentinels]
    assert len(tokenizer.sentinels) == 8
    assert len(set(ids)) == len(ids)
    assert tokenizer.is_special[ids].all()
    assert tokenizer.is_special.shape == (tokenizer.vocab_size,)
    assert [tokenizer.token(i) for i in tokenizer.sentinels] == [f"<extra_id_{i}>" for i in range(8)]
    assert tokenizer.encode("a<mask><extra_id_3>", specials=True)[-2:] == [
        tokenizer.mask,
        tokenizer.sentinels[3],
    ]
    with_specials = [tokenizer.bos, *tokenizer.encode("hello"), tokenizer.sentinels[0], tokenizer.pad]
    assert tokenizer.decode(with_specials) == "hello"
    assert tokenizer.decode(with_specials, skip_specials=False).endswith("hello<extra_id_0><pad>")


@pytest.mark.parametrize("kind", ["bpe", "bytes", "file", "characters"])
def test_saved_sent_and_loaded_it_is_the_same(by_kind, kind, tmp_path):
    tokenizer = (by_kind | {"characters": Characters().fit(TEXT)})[kind]
    tokenizer.save(tmp_path / "tokenizer.json")
    text = "The <mask> cat\n"
    for copy in (Tokenizer.load(tmp_path / "tokenizer.json"), pickle.loads(pickle.dumps(tokenizer))):
        assert copy.fingerprint() == tokenizer.fingerprint()
        assert copy.encode(text) == tokenizer.encode(text)
        assert copy.decode(copy.encode(text)) == text


def test_bpe_has_the_size_it_was_asked_for_and_is_always_the_same():
    small, again = (BPE(vocab_size=400).fit(iter(TEXT)) for _ in range(2))
    assert small.vocab_size == 400
    assert small.fingerprint() == again.fingerprint()
    assert len(small.encode("The cat")) < 7
    padded = BPE(vocab_size=3000).fit(["too little"])
    assert padded.vocab_size == 3000
    assert padded.is_special[padded.encode("<unused_0> too little")].sum() == 0


def test_bpe_reads_no_more_than_its_sample():
    def documents():
        yield "a" * 60
        yield "b" * 60
        raise AssertionError("read on")

    BPE(vocab_size=400, sample_bytes=100).fit(documents())
    cut = BPE(vocab_size=400, sample_bytes=20).fit(["ab" * 10 + "xy" * 50])
    assert cut.fingerprint() == BPE(vocab_size=400).fit(["ab" * 10]).fingerprint()


def test_sizes_are_checked():
    assert Bytes(vocab_size=326).fit([]).vocab_size == 326
    with pytest.raises(UserError, match=r"set tokenizer.vocab_size=326"):
        Bytes(vocab_size=300)
    with pytest.raises(UserError, match="below 326"):
        BPE(vocab_size=200)
    with pytest.raises(UserError, match=r"set tokenizer.vocab_size=72"):
        Characters(vocab_size=5).fit(["ab"])


def test_characters_refuse_what_they_have_not_seen():
    tokenizer = Characters().fit(["abc"])
    for call in (lambda: tokenizer.encode("ab\u00e9x"), lambda: tokenizer.encode_batch(["a", "\u00e9"])):
        with pytest.raises(UserError, match=r"'é' \(U\+00E9\)"):
            call()


def test_a_file_keeps_its_own_special_tokens(tmp_path):
    words = ["[UNK]", "[PAD]", "[CLS]", "[SEP]", "[MASK]", "the", "cat"]
    foreign = tokenizers.Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="[UNK]"))
    foreign.pre_tokenizer = pre_tokenizers.Whitespace()
    foreign.enable_padding(length=16)
    foreign.add_tokens(["<extra_id_0>"])  # not as a special one
    foreign.save(str(tmp_path / "tokenizer.json"))
    tokenizer = File(path=str(tmp_path / "tokenizer.json"), sentinels=2).fit([])
    assert [tokenizer.pad, tokenizer.cls, tokenizer.sep, tokenizer.mask] == [1, 2, 3, 4]
    added = [tokenizer.token(i) for i in range(7, tokenizer.vocab_size)]
    assert added == ["<extra_id_0>", "<bos>", "<eos>", "<extra_id_1>"]
    assert tokenizer.sentinels == (7, 10)
    assert tokenizer.encode("the cat") == [5, 6]
    assert tokenizer.is_special.tolist() == [False, True, True, True, True, False, False, *[True] * 4]


def test_unreadable_files_are_explained(tmp_path):
    broken = tmp_path / "broken.json"
    broken.write_text(json.dumps({"model": {}}))
    with pytest.raises(UserError, match=r"not a tokenizer\.json"):
        File(path=str(broken)).fit([])
    with pytest.raises(UserError, match=r"give the path of a tokenizer\.json"):
        File(path=str(tmp_path / "nowhere.json")).fit([])


def test_a_tokenizer_without_special_tokens_is_refused():
    with pytest.raises(UserError, match="no pad token"):
        Tokenizer(tokenizers.Tokenizer(models.BPE(vocab={"a": 0}, merges=[])))


def test_names_and_fingerprints():
    assert special_names(2) == [
        "<pad>",
        "<bos>",
        "<eos>",
        "<sep>",
        "<cls>",
        "<mask>",
        "<extra_id_0>",
        "<extra_id_1>",
    ]
    kinds = [
        BPE(),
        BPE(vocab_size=1000),
        BPE(sentinels=3),
        BPE(sample_bytes=9),
        Bytes(),
        Bytes(sentinels=3),
        Characters(),
    ]
    assert len({kind.fingerprint() for kind in kinds}) == len(kinds)
    assert BPE().fingerprint() == BPE().fingerprint()
