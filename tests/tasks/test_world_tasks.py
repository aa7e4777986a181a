"""The tasks on the micro-world: what every one of them promises, and what each metric sees."""

import inspect
import math
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
import yaml

from zoo.data.sources import Stdlib
from zoo.data.world import World, consistent, judge
from zoo.data.world.lexicon import split_sentences
from zoo.data.world.names import PEOPLE
from zoo.data.world.oracle import answer, tokens
from zoo.errors import UserError
from zoo.tasks import world as tasks
from zoo.tasks.kinds import settled

CONF = Path(__file__).parents[2] / "conf" / "task"
SIZES = {"train": 150, "validation": 30, "test": 90}
SPLITS = tuple(SIZES)
NAMES = tuple(tasks.__all__)


@pytest.fixture(scope="module")
def made():
    return {name: getattr(tasks, name)(source=World(), **SIZES) for name in NAMES}


def mean(values):
    return sum(v for v in values if not math.isnan(v)) / sum(not math.isnan(v) for v in values)


def headline(task, examples, predictions):
    return mean(task.scores(examples, predictions)[task.metric])


@pytest.mark.parametrize("name", NAMES)
def test_the_oracle_is_near_1_and_far_above_the_baseline(made, name):
    task = made[name]
    examples = task.examples("test")
    best = headline(task, examples, task.oracle(examples))
    # Part of a story shows part of its mood; and not every sentence of the truth tells an event.
    assert best > {"mood": 0.75, "writing": 0.7}.get(name, 0.95)
    assert headline(task, examples, task.baseline(examples)) < 0.6 < best


@pytest.mark.parametrize("name", NAMES)
def test_the_items_are_as_many_as_asked_for_and_the_same_every_time(made, name):
    again = getattr(tasks, name)(source=World(), **SIZES)
    other = getattr(tasks, name)(source=World(seed=1), **SIZES)
    for split, count in SIZES.items():
        examples = made[name].examples(split)
        assert len(examples) == len({example.item for example in examples}) == count
        assert examples == again.examples(split)
        assert not {e.text for e in examples} & {e.text for e in other.examples(split)}
        longer = getattr(tasks, name)(source=World(), **(SIZES | {split: count + 7}))
        assert longer.examples(split)[:count] == examples  # more items do not change those that are there


@pytest.mark.parametrize("name", NAMES)
def test_every_item_is_of_the_story_it_names_and_splits_share_none(made, name):
    source = World()
    told = {}
    for split in SPLITS:
        told[split] = set()
        for example in made[name].examples(split):
            where, number, _ = example.item.split("/")
            story = source.story(split, int(number))
            told[split].add(story.text)
            assert where == split
            assert example.text.split("\n")[0] in story.text
    assert not any(told[a] & told[b] for a, b in combinations(SPLITS, 2))


def test_a_short_story_is_the_beginning_of_the_whole_one():
    """The same words, and everything known about it is about those."""
    source = World()
    for i in range(150):
        whole, short = source.story("train", i), source.story("train", i, sentences=4)
        assert short.lines == whole.lines[: len(short.lines)]
        assert 4 <= len(short.lines) <= len(whole.lines)
        assert all(number < len(short.lines) for number, _ in short.log)
        assert all(judge(short.text, said) == label for said, label in short.statements)
        assert all(short.text[q.start : q.end] == q.answer for q in short.questions)
        assert all(answer(short.text, q.text) == q.answer for q in short.questions)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_to_be_written_or_chosen_can_be_read(made, name):
    task = made[name]
    for split in SPLITS:
        for example in task.examples(split):
            read = f"{example.text} {example.query}"
            if task.kind == "generate":
                assert not any(answer in read for answer in example.answers[:1])
            if name == "pair":
                assert not set(task.classes) & set(tokens(example.query))
            if task.kind == "extract":  # it is to be found in the text, not in the question
                assert example.answers[0] not in tokens(example.query)
                assert {example.text[s.start : s.end] for s in example.spans} == set(example.answers)
            if task.kind == "tag":
                assert {span.label for span in example.spans} <= set(task.classes)
                assert all(example.text[span.start].isupper() for span in example.spans)


def test_a_class_s_own_name_does_not_give_it_away(made):
    """Some topics are also places; the word may stand in a story about it, as it does in real text, but seldom does."""
    for name in ("topic", "mood"):
        examples = made[name].examples("train")
        assert sum(e.answers[0] in tokens(e.text) for e in examples) < 0.4 * len(examples)


def test_a_statement_alone_does_not_say_whether_it_is_true():
    """Naive Bayes on the statement's words is no better than the majority; with the story the judge is always right."""
    task = tasks.pair(source=World(), train=2000, validation=1, test=400)
    counts = {label: Counter() for label in task.classes}
    share = Counter(example.answers[0] for example in task.examples("train"))
    for example in task.examples("train"):
        counts[example.answers[0]].update(tokens(example.query))
    assert min(share.values()) > 0.1 * share.total()
    false = [example for example in task.examples("train") if example.answers[0] == "false"]
    elsewhere = [e for e in false if not set(PEOPLE) & set(tokens(e.query)) & set(tokens(e.text))]
    assert 0.6 < len(elsewhere) / len(false) < 0.85  # about strangers, but for those called by what they are

    def guess(query):
        def log_odds(label):
            total = counts[label].total() + 1000
            return math.log(share[label]) + sum(
                math.log((counts[label][w] + 1) / total) for w in tokens(query)
            )

        return max(counts, key=log_odds)

    examples = task.examples("test")
    majority = headline(task, examples, task.baseline(examples))
    assert headline(task, examples, [guess(e.query) for e in examples]) < majority + 0.07
    assert headline(task, examples, [judge(e.text, e.query) for e in examples]) == 1


@pytest.mark.parametrize("name", NAMES)
def test_scores_are_between_0_and_1_whatever_is_said(made, name):
    task = made[name]
    examples = task.examples("validation")
    if task.kind == "tag":
        tries = [[()] * len(examples), [e.spans[:2] for e in examples], [e.spans for e in reversed(examples)]]
    else:
        shifted = [e.answers[0] for e in (*examples[1:], examples[0])]
        tries = [[""] * len(examples), ["the of ,,"] * len(examples), ['" "?" "'] * len(examples), shifted]
    for predictions in tries:
        scores = task.scores(examples, predictions)
        assert task.metric in scores
        for values in scores.values():
            assert len(values) == len(examples)
            assert all(math.isnan(value) or 0 <= value <= 1 + 1e-6 for value in values)
        assert headline(task, examples, predictions) < headline(task, examples, task.oracle(examples))
        task.totals(examples, predictions)


def test_another_source_is_refused():
    with pytest.raises(UserError, match="use it with data=world"):
        tasks.topic(source=Stdlib())


def test_only_tagging_and_questions_have_marked_items(made):
    for name, task in made.items():
        marked = [example.marked for example in task.examples("test")]
        assert any(marked) == (name in ("entities", "questions"))
        assert not all(marked) or name == "entities"
        for example in task.examples("test"):
            assert example.marked == any(span.marked for span in example.spans)


def test_questions_stand_before_and_after_the_story(made):
    first = [example.query_first for example in made["questions"].examples("train")]
    assert 0.3 < sum(first) / len(first) < 0.7


def test_marked_names_are_scored_apart(made):
    task = made["entities"]
    examples = task.examples("test")
    people = [tuple(s._replace(label="person") for s in e.spans) for e in examples]
    scores = task.scores(examples, people)
    assert max(mean(scores["marked"]), mean(scores["settled"])) < 0.75 < 0.9 < mean(scores["f1"])
    lost = [tuple(s for s in e.spans if s not in settled(e)) for e in examples]
    scores_lost = task.scores(examples, lost)
    assert set(scores_lost["settled"]) == {0.0}
    assert set(scores_lost["marked"]) == {1.0}
    for example in examples:
        for span in settled(example):
            before = example.text[: span.start]
            assert example.text[span.start : span.end] in before
            assert not span.marked
    assert all(
        math.isnan(score) != example.marked for score, example in zip(scores["marked"], examples, strict=True)
    )
    late = next(e for e in examples if e.marked)
    assert task.scores([late], [tuple(s for s in late.spans if not s.marked)])["f1"] == [1]


def test_translation_is_of_the_second_language_and_in_order(made):
    source = World()
    for example in made["translation"].examples("test"):
        split, number, _ = example.item.split("/")
        story = source.story(split, int(number))
        first = story.lines.index(split_sentences(example.text)[0])
        assert example.answers == (story.translation[first],)


def test_a_headline_is_praised_for_what_it_tells_in_any_words(made):
    task = made["headline"]
    [example, other] = task.examples("test")[:2]
    for said, low, high in (
        (example.answers[0], 1, 1),
        (example.answers[1], 1, 1),
        (other.answers[0], 0, 0),
        ("A story", 0, 0),
        (
            example.answers[0].partition(",")[0].partition(";")[0],
            0.4,
            0.9,
        ),  # the first half: true, but half of it
    ):
        [events] = task.scores([example], [said])["events"]
        assert low <= events <= high


def test_a_reply_must_be_true_and_about_what_was_asked(made):
    task = made["reply"]
    examples = task.examples("test")
    assert mean(task.scores(examples, [e.answers[0] for e in examples])["right"]) == 1
    shifted = task.scores(examples, [e.answers[0] for e in (*examples[9:], *examples[:9])])
    assert mean(shifted["right"]) < 0.1
    by_story = {}
    for example in examples:
        by_story.setdefault(example.item.rpartition("/")[0], []).append(example)
    pairs = [pair for pair in by_story.values() if len(pair) == 2]
    swapped = [example.answers[0] for pair in pairs for example in reversed(pair)]  # true, of something else
    asked = [example for pair in pairs for example in pair]
    scores = task.scores(asked, swapped)
    assert mean(scores["true"]) == 1
    assert 0.1 < mean(scores["right"]) < 0.95  # a short story has few people and things to ask about
    thanks = task.scores(examples, ["I see."] * len(examples))
    assert max(thanks["right"]) == max(thanks["true"]) == 0


def test_only_what_tells_an_event_is_told(made):
    """What fits anywhere (the weather) is no fault and no merit; what comes after a fault counts no more."""
    task = made["writing"]
    for example in task.examples("test"):
        said = split_sentences(example.answers[0])
        for aside in ("The dogs were growling for hours.", "The rain was falling all around."):
            held, told = (
                task.scores([example], [" ".join([aside, *said[:2]])])[m][0] for m in ("held", "told")
            )
            if held == 1:  # the aside takes the place of a sentence and adds nothing
                (own,) = task.scores([example], [" ".join(said[:2])])["told"]
                assert told == own
            (alone,) = task.scores([example], [aside])["told"]
            assert alone == 0
        (faulty,) = task.scores([example], [" ".join(["Nobody the of.", *said])])["told"]
        assert faulty == 0


def test_writing_is_held_until_the_first_fault(made):
    task = made["writing"]
    example = task.examples("test")[0]
    one, two, three = split_sentences(example.answers[0])
    for said, held in (
        (f"{one} {two} {three}", 1),
        (f"{one} {two}", 2 / 3),
        (f"{one} {two} {two}", 2 / 3),  # a sentence again is no going on
        (f"{one} Nobody the of. {three}", 1 / 3),
        (f"{split_sentences(example.text)[-1]} {two} {three}", 0),
        ("", 0),
    ):
        assert task.scores([example], [said])["held"] == [pytest.approx(held)]
    ends = task.scores([example], [example.answers[0]])
    assert ends["whole"] == [1]
    assert consistent(f"{example.text} {example.answers[0]}")


def test_a_completion_ends_its_sentence_and_nothing_more(made):
    task = made["completion"]
    example = task.examples("test")[0]
    [right] = example.answers
    for said, held in ((right, 1), (f" {right}", 1), (f"{right} {right}", 0), (right[:-1], 0), (".", 0)):
        assert task.scores([example], [said])["held"] == [held]


# --- configurations ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_settings_are_the_functions_own(name):
    text = (CONF / f"{name}.yaml").read_text(encoding="utf-8")
    package, *lines = text.splitlines()
    config = yaml.safe_load(text)
    assert package == f"# @package tasks.{name}"
    assert all("# " in line for line in lines if not line.startswith("_target_"))
    assert config.pop("_target_") == f"zoo.tasks.world.{name}"
    parameters = inspect.signature(getattr(tasks, name)).parameters
    assert set(config) == set(parameters) - {"source"}


def test_world_is_all_of_them():
    assert set(yaml.safe_load((CONF / "world.yaml").read_text())["defaults"]) == set(NAMES)
