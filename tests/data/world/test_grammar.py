"""Verb forms, and English read back to what it was written from."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zoo.data.world import World, consistent, grammatical
from zoo.data.world.discourse import Discourse
from zoo.data.world.grammar import FRAMES, GROUPS
from zoo.data.world.parse import parse
from zoo.data.world.reader import BACKGROUND, Reader
from zoo.data.world.shape import depth
from zoo.data.world.verbs import FORMS, PERSONS, group, inflect

VERBS = sorted({verb for frame in FRAMES for verb in frame.verbs})


@pytest.mark.parametrize(
    ("verb", "form", "word"),
    [
        ("carry", "past", "carried"), ("stay", "past", "stayed"), ("drop", "ing", "dropping"),
        ("hum", "past", "hummed"),
        ("make", "ing", "making"), ("see", "ing", "seeing"), ("watch", "present", "watches"), ("lie", "ing", "lying"),
        ("pick up", "past", "picked up"), ("give back", "participle", "given back"), ("visit", "ing", "visiting"),
        ("have", "present", "has"), ("carry", "present", "carries"), ("be", "participle", "been"),
    ],
)  # fmt: skip
def test_inflection(verb, form, word):
    assert inflect(verb, form) == word


def test_groups():
    assert group("find", "past", negative=True) == "did not find"
    assert group("have", "past", negative=True) == "did not have"
    assert group("be", "past", "p") == "were"
    assert group("be", "past", negative=True) == "was not"
    assert group("steal", "perfect", passive=True) == "had been stolen"
    assert group("lose", "present perfect", "i") == "have lost"
    assert group("go", "present", negative=True) == "does not go"


@settings(deadline=None)
@given(st.sampled_from(VERBS), st.sampled_from(sorted(FORMS)), st.sampled_from(PERSONS), st.booleans())
def test_every_group_is_read_back(verb, form, person, negative):
    if form == "progressive" and verb == "be":
        return
    said = GROUPS[tuple(group(verb, form, person, negative=negative).split())]
    assert any(
        g.verb == verb and g.form == form and g.negative == negative and person in g.persons for g in said
    )


@settings(deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(("train", "validation", "test")))
def test_a_story_is_read_back_to_its_events(i, split):
    """The reader finds in the text exactly what the plan made happen: who, what, to whom, where, in which order."""
    story = World().story(split, i)
    reader = Reader()
    for line in story.lines:
        reader.read(line)
    assert reader.log == [(i, event) for i, event in story.log if event.kind not in BACKGROUND]


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("Anna was in the garden.", "Anna were in the garden."),
        ("Anna and Ben were in the garden.", "Anna and Ben was in the garden."),
        ("She gave him a red key.", "She gave he a red key."),
        ("She gave him a red key.", "Her gave him a red key."),
        ("She gave him an old key.", "She gave him a old key."),
        ("She gave him some coins.", "She gave him some coin."),
        ("The coins were found by Anna.", "The coins was found by Anna."),
        ("Anna did not have the key.", "Anna did not had the key."),
        ("Anna, who had lost the key, went to the mill.", "Anna, who had lose the key, went to the mill."),
        (
            "The key that Ben had lost was found by Anna.",
            "The key that Ben had lost the key was found by Anna.",
        ),
        ('"I have lost my key," said Anna.', '"I has lost my key," said Anna.'),
        ("Anna was at the market.", "Anna was in the market."),
        ("When Anna arrived at the mill, she found a key.", "When Anna arrived at the mill she found a key."),
        ("Anna hoped to find the key.", "Anna hoped to found the key."),
        ("Anna knew that Ben had lost the key.", "Anna knew that had lost the key."),
        ("Ben looked sad.", "ben looked sad."),
        ("Ben looked sad.", "Ben looked sad"),
        ("Ben looked sad.", "Ben looked sadly."),
    ],
)
def test_grammatical(good, bad):
    assert grammatical(good)
    assert not grammatical(bad)


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "the",
                "a",
                "key",
                "Anna",
                "Ben",
                "she",
                "him",
                "was",
                "found",
                "to",
                "gave",
                "and",
                ",",
                ".",
                "in",
                "garden",
                "that",
                "had",
            ]
        ),
        max_size=12,
    )
)
def test_word_salad_does_not_break_the_parser(words):
    text = " ".join(words).replace(" ,", ",").replace(" .", ".")
    assert grammatical(text) == bool(parse(text.strip()))


@pytest.mark.parametrize(
    "text",
    [
        "Anna knew that " * 25 + "Ben had lost the key.",
        "Anna knew that " * 400 + "Ben had lost the key.",
        "The key that Anna had found that Ben had lost was found by Anna.",
        "Anna and " * 60 + "Ben went to the mill.",
        '"' * 50,
        "...",
        "É ü – “x”",
        "Anna",
        "A",
        "Anna's",
    ],
)
def test_no_text_is_too_odd(text):
    assert grammatical(text) in (True, False)
    assert not consistent(text)


def test_depth():
    shallow, joined, relative = (
        "Anna gave Ben the key.",
        "Anna gave Ben the key, and he went to the mill.",
        "Although she knew that Ben, who had stolen the key from Anna, had hidden the key at the mill, she looked sad.",
    )
    assert depth(parse(shallow)[0]) == 1
    assert depth(parse(joined)[0]) == 2
    assert depth(parse("Anna said that Ben had lost the key.")[0]) == 2
    assert depth(parse(relative)[0]) == 4


def test_a_pronoun_is_clear_only_if_one_person_fits():
    talk = Discourse()
    talk.mention_person("Anna")
    assert talk.person("f") == "Anna"
    assert talk.person("m") == ""
    assert talk.person("f", ("Anna",)) == ""
    talk.mention_person("Clara")
    assert talk.person("f") == ""
    assert talk.person("f", ("Clara",)) == "Anna"
    talk.sentence += 2
    assert talk.person("f", ("Clara",)) == ""
