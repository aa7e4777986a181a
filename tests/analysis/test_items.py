"""What is hidden is whole words, evenly spaced, the same for everyone; and its tokens put the text together again."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zoo.analysis.items import Item, beginning, cloze_items, continuation_items, gaps
from zoo.data.vocabularies import BPE, Bytes
from zoo.errors import UserError

STORY = "The tall baker sold bread in the old mill. Ada, who was tired, bought some and went home again."
SENTENCES = st.lists(
    st.sampled_from(["the", "mill", "bakers", "über", "naïve!", "🙂", "I", "猫は"]), min_size=1, max_size=25
)
quick = settings(deadline=None, derandomize=True)


@pytest.fixture(scope="module", params=["bytes", "bpe"])
def tokenizer(request):
    kind = Bytes(sentinels=4) if request.param == "bytes" else BPE(vocab_size=400, sentinels=4)
    return kind.fit([STORY] * 3)


def test_a_cloze_hides_words_of_several_letters_evenly_spaced():
    items = cloze_items({"s/1": STORY}, per_text=3)
    # The words of four letters and more: tall baker sold bread mill tired bought some went home again.
    assert [item.hidden for item in items] == ["baker", "tired", "home"]
    assert [item.item for item in items] == ["s/1/0", "s/1/1", "s/1/2"]
    assert [item.hidden for item in cloze_items({"a": "no long words 1234567"}, per_text=9)] == [
        "long",
        "words",
    ]
    assert cloze_items({"a": "I am"}) == []


@given(words=SENTENCES, per_text=st.integers(1, 6))
@quick
def test_no_word_is_hidden_twice_and_each_is_a_whole_one(words, per_text):
    text = " ".join(words)
    items = cloze_items({"x": text}, per_text=per_text)
    whole = [match.span() for match in re.finditer(r"[^\W\d_]{4,}", text)]
    spans = [(item.start, item.end) for item in items]
    assert len(set(spans)) == len(spans) == min(per_text, len(whole))
    assert set(spans) <= set(whole)


@given(words=SENTENCES, per_text=st.integers(1, 4), length=st.integers(1, 8))
@quick
def test_a_continuation_hides_so_many_words_after_a_prefix(words, per_text, length):
    text = " ".join(words)
    items = continuation_items({"x": text}, per_text=per_text, words=length)
    assert len(items) == (per_text if len(words) >= length + per_text else 0)
    assert all(len(item.hidden.split()) == length and item.text[: item.start].strip() for item in items)
    assert len({item.start for item in items}) == len(items)
    assert not items or items[-1].end == len(text)


@given(words=SENTENCES, data=st.data())
@quick
def test_the_tokens_of_a_gap_are_those_of_the_text_and_hide_what_is_hidden(tokenizer, words, data):
    text = " ".join(words)
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    (gap,) = gaps(tokenizer, [Item("x", text, start, end)])
    assert [*gap.left, *gap.answer, *gap.right] == tokenizer.encode(text)
    assert text[start:end] in tokenizer.decode(gap.answer)
    # No token is hidden without need: without its first or its last one, something of the item would show.
    for fewer in (gap.answer[1:], gap.answer[:-1]):
        assert text[start:end] not in tokenizer.decode(fewer)


def test_a_word_is_hidden_with_the_space_that_its_token_begins_with(tokenizer):
    items = cloze_items({"x": STORY}, per_text=20)
    for item, gap in zip(items, gaps(tokenizer, items), strict=True):
        assert tokenizer.decode(gap.answer).strip() == item.hidden
        assert (
            tokenizer.decode(gap.left) + tokenizer.decode(gap.answer) + tokenizer.decode(gap.right) == STORY
        )


@given(words=SENTENCES, most=st.integers(1, 40))
@quick
def test_a_beginning_is_the_longest_of_whole_words_that_fits(tokenizer, words, most):
    text = " ".join(words)
    cut = beginning(tokenizer, text, most)
    assert text.startswith(cut)
    assert len(tokenizer.encode(cut)) <= most
    if " " in cut and cut != text:
        assert text[len(cut)] == " "
        longer = text[: len(cut) + 1] + text[len(cut) + 1 :].split(" ")[0]
        assert len(tokenizer.encode(longer)) > most


def test_an_item_that_hides_nothing_is_refused(tokenizer):
    for start, end in ((3, 3), (-1, 2), (2, 1000)):
        with pytest.raises(UserError, match="item x hides characters"):
            gaps(tokenizer, [Item("x", STORY, start, end)])
