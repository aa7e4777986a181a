"""The second language: translated from meaning, and checked by rules of its own."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zoo.data.world import World, grammatical_second
from zoo.data.world import second_lexicon as words
from zoo.data.world.second import translate, translate_headline


@settings(deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(("train", "test")))
def test_accepts_every_translation(i, split):
    story = World().story(split, i)
    assert len(story.translation) == len(story.sentences)
    for line in (*story.translation, translate_headline(story.headline) + "."):
        assert grammatical_second(line), line


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Anna gave Ben the key.", "Anna gave the key to Ben."),
        ("Anna found the key.", "The key was found by Anna."),
        ("Anna gave Ben the key.", "Ben got the key from Anna."),
        ("Because Ben looked sad, Anna hugged him.", "Anna hugged him because Ben looked sad."),
        ("When Anna went to the mill, she found a key.", "Once Anna went to the mill, she found a key."),
        ("Anna went to the mill before she found a key.", "Anna went to the mill before she found a key."),
    ],
)
def test_the_same_meaning_is_told_the_same_way(one, other):
    assert translate(one) == translate(other) != ""


def test_other_meanings_are_told_differently():
    lines = [
        "Anna gave Ben the key.", "Ben gave Anna the key.", "Anna showed Ben the key.", "Anna gave Ben the coins.",
        "Anna gave him the key.", "Anna gave Ben a key.", "Anna gave Ben her key.", "Anna did not give Ben the key.",
    ]  # fmt: skip
    assert len({translate(line) for line in lines}) == len(lines)


def test_the_verb_comes_last_and_agrees_and_roles_have_cases():
    key, she, he = words.noun("key", "acc"), words.verb("give", "past", "a"), words.verb("give", "past", "o")
    assert translate("Anna gave Ben the key.") == f"Anna Ben-ti {key} {she}."
    assert translate("Ben gave Anna the key.") == f"Ben Anna-ti {key} {he}."
    assert translate("She gave him the key.") == f"Loti {key} {she}."  # the subject shows in the verb only


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (words.verb("give", "past", "a"), words.verb("give", "past", "o")),  # agreement
        (words.noun("key", "acc"), words.noun("key", "dat")),  # case
        ("Ben-ti", "Ben-n"),
        (
            words.adjective("red", words.class_of("key"), "acc"),
            words.adjective("red", words.class_of("key"), "dat"),
        ),
        (words.verb("give", "past", "a"), ""),  # no verb
    ],
)
def test_rejects_a_wrong_ending(right, wrong):
    line = translate("Anna gave Ben the red key.")
    assert right in line
    assert grammatical_second(line)
    assert not grammatical_second(line.replace(right, wrong))


def test_rejects_a_verb_without_what_it_wants():
    line = translate("Anna gave Ben the key.")
    assert not grammatical_second(line.replace(f" {words.noun('key', 'acc')}", ""))
    assert not grammatical_second(line.replace(" Ben-ti", ""))
    assert not grammatical_second(line.replace("Ben-ti", "Ben-ti Clara-fo"))


def test_rejects_other_order_and_english():
    line = translate("Anna gave Ben the key.").rstrip(".").split()
    assert not grammatical_second(" ".join([line[0], line[-1], *line[1:-1]]) + ".")
    assert not grammatical_second("Anna gave Ben the key.")
    assert translate("Anna gave Ben.") == ""


def test_a_changed_case_is_rejected():
    """Every accusative of a sample becomes a comitative, one at a time."""
    world = World()
    changed = []
    for i in range(100):
        for line in world.story("train", i).translation:
            for token in line.rstrip(".").split():
                found = words.forms().get(token, ())
                if found and found[0].category == "noun" and found[0].case == "acc":
                    changed.append(line.replace(f" {token}", f" {token[:-1]}mi", 1))
    assert len(changed) > 300
    assert sum(map(grammatical_second, changed)) <= 0.01 * len(changed)


def test_a_changed_agreement_is_rejected_where_there_is_a_subject():
    changed = []
    for verb in ("give", "lend", "bring", "hand"):
        for name, own, other in (("Anna", "a", "o"), ("Ben", "o", "a"), ("Anna and Ben", "i", "e")):
            for form in ("past", "perfect", "present"):
                subject = name.replace("and", "eb")
                line = f"{subject} Clara-ti {words.noun('key', 'acc')} {words.verb(verb, form, own)}."
                assert grammatical_second(line)
                changed.append(line.replace(words.verb(verb, form, own), words.verb(verb, form, other)))
    assert not any(map(grammatical_second, changed))


def test_no_word_has_two_lemmas():
    assert all(len({(form.category, form.lemma) for form in found}) == 1 for found in words.forms().values())
