"""Entities, questions, statements, headline and dialogue follow from the story."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from zoo.data.world import World, consistent, grammatical, judge
from zoo.data.world.names import AMBIGUOUS, GENDER
from zoo.data.world.nouns import TOPICS
from zoo.data.world.oracle import answer, tokens, types

STORIES = st.builds(
    lambda i, split: World().story(split, i), st.integers(0, 10**6), st.sampled_from(("train", "test"))
)


@settings(deadline=None)
@given(STORIES)
def test_sentences_span_the_text(story):
    assert story.text == " ".join(sentence.text for sentence in story.sentences)
    for sentence in story.sentences:
        assert story.text[sentence.start : sentence.end] == sentence.text


@settings(deadline=None)
@given(STORIES)
def test_entities_are_all_names_with_the_types_that_the_whole_text_tells(story):
    known = types(story.text)
    names = [story.text[entity.start : entity.end] for entity in story.entities]
    assert Counter(names) == Counter(word for word in tokens(story.text) if word in GENDER)
    for name, entity in zip(names, story.entities, strict=True):
        assert entity.type == known[name]
        assert entity.marked <= (name in AMBIGUOUS)


@settings(deadline=None)
@given(STORIES)
def test_an_ambiguous_name_is_settled_after_it_has_been_named(story):
    marked = [entity for entity in story.entities if entity.marked]
    if story.plan.riddle:
        assert len(marked) == 2  # where it is open and where it is settled; from then on the left text knows
        assert consistent(story.text[: marked[1].end].rpartition(". ")[0] + ".", whole=False)
        later = [
            e for e in story.entities if story.text[e.start : e.end] == story.plan.riddle and not e.marked
        ]
        assert all(e.start > marked[1].end for e in later)


@settings(deadline=None)
@given(STORIES)
def test_answers_stand_in_the_text_and_follow_from_it(story):
    assert story.questions
    for question in story.questions[:4]:
        assert story.text[question.start : question.end] == question.answer
        assert answer(story.text, question.text) == question.answer


@settings(deadline=None)
@given(STORIES)
def test_statements_are_what_they_are_said_to_be(story):
    labels = {label for _, label in story.statements}
    assert labels <= {"true", "false", "unknown"}
    assert {"true", "unknown"} <= labels
    for text, label in story.statements:
        assert grammatical(text)
        assert judge(story.text, text) == label


@settings(deadline=None)
@given(STORIES)
def test_headline_and_replies_are_true(story):
    assert judge(story.text, story.headline) == "true"
    assert len(story.dialogue) >= 2
    for reply in story.dialogue[1::2]:
        assert judge(story.text, reply) == "true"


def test_annotations_are_varied():
    stories = [World().story("train", i) for i in range(300)]
    assert len({story.headline for story in stories}) > 295
    assert {story.topic for story in stories} == set(TOPICS)
    assert {story.mood for story in stories} == {"cheerful", "gloomy", "tense", "calm"}
    known = [e for s in stories for e in s.entities if s.text[e.start : e.end] in AMBIGUOUS and not e.marked]
    assert len(known) > 5
    kinds = Counter(entity.type for story in stories for entity in story.entities if entity.marked)
    assert set(kinds) == {"person", "place", "animal", "ship"}
    assert 0.4 < kinds["person"] / kinds.total() < 0.6
    befores = [question.before for story in stories for question in story.questions]
    assert 0.45 < sum(befores) / len(befores) < 0.55
    labels = Counter(label for story in stories for _, label in story.statements)
    assert min(labels.values()) > 0.2 * labels.total()
