"""Each figure against its definition, written out."""

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zoo.analysis.text_statistics import (
    Seen,
    copied,
    describe,
    distinct,
    finished,
    jensen_shannon,
    new_sentences,
    repetition,
    split,
    words,
)

TEXTS = st.lists(st.lists(st.sampled_from("abc"), max_size=12), max_size=5)
COUNTS = st.dictionaries(st.sampled_from("abcd"), st.integers(1, 9), min_size=1).map(Counter)


def same(one, other):
    return one == pytest.approx(other, abs=1e-12, nan_ok=True)


def test_words_keep_apostrophes_and_single_out_punctuation():
    assert words("Ada's cat -- 12 men’s!") == ["Ada's", "cat", "-", "-", "12", "men’s", "!"]


@given(texts=TEXTS, n=st.integers(1, 4))
def test_distinct_and_repetition_are_their_definitions(texts, n):
    runs = [["".join(text[i : i + n]) for i in range(len(text) - n + 1)] for text in texts]
    every = [run for text in runs for run in text]
    again = sum(run in text[:i] for text in runs for i, run in enumerate(text))
    assert same(distinct(texts, n), len(set(every)) / len(every) if every else math.nan)
    assert same(repetition(texts, n), again / len(every) if every else math.nan)


@given(texts=TEXTS, known=TEXTS, n=st.integers(1, 4))
def test_what_was_seen_is_what_stands_in_the_texts(texts, known, n):
    seen = Seen([" ".join(text) for text in known], n)
    runs = {tuple(text[i : i + n]) for text in known for i in range(len(text) - n + 1)}
    every = [tuple(text[i : i + n]) for text in texts for i in range(len(text) - n + 1)]
    assert all(seen(run) == (run in runs) for run in every)
    expected = sum(run in runs for run in every) / len(every) if every else math.nan
    assert same(copied(texts, seen, n), expected)
    with pytest.raises(ValueError, match="runs of"):
        seen(("a",) * (n + 1))


@given(one=COUNTS, other=COUNTS, factor=st.integers(2, 5))
def test_jensen_shannon_is_a_distance_of_shares_between_0_and_1(one, other, factor):
    def entropy(shares):
        return -sum(p * math.log2(p) for p in shares if p)

    p, q = ([counts[key] / counts.total() for key in "abcd"] for counts in (one, other))
    expected = entropy([(a + b) / 2 for a, b in zip(p, q, strict=True)]) - (entropy(p) + entropy(q)) / 2
    assert jensen_shannon(one, other) == pytest.approx(expected, abs=1e-9)
    assert jensen_shannon(one, other) == pytest.approx(jensen_shannon(other, one))
    assert jensen_shannon(one, Counter({key: factor * n for key, n in one.items()})) == pytest.approx(
        0, abs=1e-9
    )
    assert jensen_shannon(one, Counter(z=1)) == pytest.approx(1)
    assert math.isnan(jensen_shannon(one, Counter()))


def test_sentences_that_were_written_or_written_on_count_and_the_broken_one_does_not():
    prompt = "A headline\nAda sat. Ben"
    assert new_sentences(prompt, prompt + " ran. Cleo fell! Then she") == ["Ben ran.", "Cleo fell!"]
    assert new_sentences(prompt, prompt + ' said: "No."') == ['Ben said: "No."']
    assert new_sentences(prompt, prompt + " and the and the") == ["Ben and the and the"]
    assert new_sentences("Ada sat.", "Ada sat. Ben ran.") == ["Ben ran."]
    assert new_sentences(prompt, prompt + " ran.\nNext line") == ["Ben ran."]
    assert new_sentences("", "") == []


def test_a_text_loses_a_last_sentence_that_was_broken_off():
    assert finished("", "Ada sat. Ben ran. Then") == "Ada sat. Ben ran."
    assert finished("Ada sat.", "Ada sat. Ben ran. Then") == "Ada sat. Ben ran."
    assert finished("", "Then and then. Then") == "Then and then."
    assert finished("", "Ada sat. Ben ran.") == "Ada sat. Ben ran."
    assert finished("", "word salad") == "word salad"
    assert finished("", "") == ""
    assert split("A. B!\nC") == ["A.", "B!", "C"]


def test_who_writes_no_whole_sentence_is_judged_by_the_broken_one_and_who_writes_nothing_fails():
    assert finished("Ada sat.", "Ada sat. Ben and the") == "Ada sat. Ben and the"
    assert new_sentences("Ada sat.", "Ada sat. Ben and the") == ["Ben and the"]
    assert new_sentences("Ada sat.", "Ada sat. ") == []
    found = describe(
        ["Ada sat."] * 2, ["Ada sat. and the", "Ada sat."], consistent=lambda text: text == "Ada sat."
    )
    assert found["consistent"] == 0.0


def test_a_description_counts_what_was_written_and_not_the_prompt():
    prompts = ["Ada sat. Ben", "Ada sat. Ben"]
    texts = ["Ada sat. Ben ran. Cleo ran. The", "Ada sat. Ben bad. Ada sat."]
    asked = []

    def consistent(text):
        asked.append(text)
        return "bad" not in text

    found = describe(
        prompts,
        texts,
        grammatical=lambda line: "bad" not in line,
        consistent=consistent,
        reference=["Ada sat. Ben ran."],
    )
    assert asked == ["Ada sat. Ben ran. Cleo ran.", "Ada sat. Ben bad. Ada sat."]
    assert found["grammatical"] == 3 / 4
    assert found["consistent"] == 1 / 2
    # ran . Cleo ran . The | bad . Ada sat .
    assert found["words_per_text"] == 11 / 2
    assert found["distinct_1"] == 7 / 11
    assert found["distinct_2"] == 8 / 9
    assert found["repetition"] == 0.0
    assert found["sentence_length_distance"] == 0.0
    assert found["unigram_distance"] == pytest.approx(
        jensen_shannon(
            Counter(words("ran. Cleo ran. The bad. Ada sat.")), Counter(words("Ada sat. Ben ran."))
        )
    )
    assert "copied" not in found


def test_copies_of_eight_words_are_found():
    training = "one two three four five six seven eight nine ten"
    found = describe(
        ["zero"], ["zero three four five six seven eight nine ten eleven"], seen=Seen([training])
    )
    assert found["copied"] == 1 / 2


def test_nothing_written_is_nothing_counted():
    found = describe(["Ada"], ["Ada"], grammatical=bool, consistent=bool, reference=["Ada sat."])
    assert found["words_per_text"] == 0
    assert math.isnan(found["distinct_1"])
    assert describe([], [])["words_per_text"] != describe([], [])["words_per_text"]  # nan
