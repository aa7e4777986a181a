"""What is understood of a story: its topic and mood, whether it bears a statement out, its names, answers to questions.

Each function makes a task from a world.  ``train``, ``validation``, ``test``: how many items each split has;
``sentences``: stories are told up to the event that reaches so many; ``per_story``: at most so many items from one.
Pre-training reads the train stories, never those of the other splits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from zoo.data.world import Story, World, judge, oracle
from zoo.data.world.dice import Dice
from zoo.data.world.moods import MOODS
from zoo.data.world.nouns import ACTIVITIES, TOPICS
from zoo.data.world.retell import Retelling
from zoo.data.world.telling import LONGEST
from zoo.tasks.kinds import Made, classify, extract, settled, tag
from zoo.tasks.task import Example, Prediction, Span
from zoo.tasks.world.walk import dice, walk

# Of statements: half is right, and more shares little with the story than is only put together wrongly: to see the
# latter takes these models more than tens of thousands of items (docs/results.md).
_MIX = ("right",) * 4 + ("far",) * 3 + ("near",)


def topic(
    *, source: World, train: int = 4000, validation: int = 200, test: int = 500, sentences: int = 4
) -> Made:
    """What a story is about, one of ten topics.  Oracle: to which topic most nouns belong."""

    sizes = {"train": train, "validation": validation, "test": test}
    return _trait("topic", source, TOPICS, oracle.topic_guess, sentences=sentences, **sizes)


def mood(
    *, source: World, train: int = 4000, validation: int = 200, test: int = 500, sentences: int = 4
) -> Made:
    """How a story feels, one of four moods.  Oracle: the mood that most of the telling words show."""

    sizes = {"train": train, "validation": validation, "test": test}
    return _trait("mood", source, MOODS, oracle.mood_guess, sentences=sentences, **sizes)


def _trait(
    name: str, source: World, classes: Sequence[str], guess: Callable[[str], str], **sizes: int
) -> Made:
    """What a story as a whole is like: its attribute ``name``."""

    def items(story: Story) -> list[Example]:
        return [Example("", story.text, answers=(getattr(story, name),))]

    def know(examples: Sequence[Example]) -> list[Prediction]:
        return [guess(example.text) for example in examples]

    return classify(name, walk(source, items, **sizes), classes=classes, oracle=know)


def pair(
    *,
    source: World,
    train: int = 4000,
    validation: int = 200,
    test: int = 500,
    sentences: int = 4,
    per_story: int = 2,
) -> Made:
    """Whether a story makes a statement (the query) "true" or "false", or leaves it "unknown".

    The statement alone says nothing, and neither does the story.  Of what happened, four eighths are told as they were,
    three are from another story and one has somebody or some place wrong: both are false.  Of what people were at, four
    are true, three stand nowhere in the story and one is said of somebody else in it: both are left open.
    Oracle: the world's judge, who reads both.
    """

    def items(story: Story) -> list[Example]:
        throw = dice(story, 4)
        made = [*_event(story, throw), *_doing(story, throw)]
        return [Example("", story.text, query=said, answers=(label,)) for said, label in throw.shuffled(made)]

    def know(examples: Sequence[Example]) -> list[Prediction]:
        return [judge(example.text, example.query) for example in examples]

    made = walk(
        source, items, sentences=sentences, per_story=per_story, train=train, validation=validation, test=test
    )
    return classify("pair", made, classes=("true", "false", "unknown"), oracle=know)


def _event(story: Story, throw: Dice) -> list[tuple[str, str]]:
    """Something that happened, as it was, with something wrong, or in another story."""
    if not story.versions:
        return []
    others = (Story(story.seed + n, story.split, sentences=story.longest) for n in range(1, 5))
    elsewhere = next((right for other in others for right, _ in other.versions), None)
    if elsewhere is None:
        return []
    right, wrong = story.versions[0]
    kinds = {"right": (right, "true"), "far": (elsewhere, "false"), "near": (wrong, "false")}
    text, label = kinds[throw.pick(_MIX)]
    return [(text, label)] if judge(story.text, text) == label else []


def _doing(story: Story, throw: Dice) -> list[tuple[str, str]]:
    """What somebody was at, what another was at, or what nobody was: only of stories that could give each."""
    told = [event for _, event in story.log if event.kind == "do" and "&" not in event.agent]
    people = {name for _, event in story.log for name in event.agent.split("&")} - {"", story.plan.riddle}
    if not told:
        return []
    event = throw.pick(told)
    others = sorted(people - {event.agent})
    if not others:
        return []
    done = {event.detail for event in told}
    open_ = [phrase for phrases in ACTIVITIES.values() for phrase in phrases if phrase not in done]
    nobody = event._replace(detail=throw.pick(open_), place="")
    another = event._replace(agent=throw.pick(others), place="")
    kinds = {"right": (event, "true"), "far": (nobody, "unknown"), "near": (another, "unknown")}
    said, label = kinds[throw.pick(_MIX)]
    text = Retelling(throw, story.split, story._told).sentence(said)
    return [(text, label)] if judge(story.text, text) == label else []


def entities(
    *,
    source: World,
    train: int = 4000,
    validation: int = 200,
    test: int = 500,
    sentences: int = LONGEST,
    metric: str = "settled",
) -> Made:
    """Every name with what it is, in stories with a name that may be two things, before and after it is settled which.

    ``metric``: the headline: "settled" (such a name once it is settled; others can be looked up), "marked" (such a name
    before), "f1" (all but the marked names) or "f1_all": see `zoo.tasks.kinds.tag`.
    """

    def items(story: Story) -> list[Example]:
        spans = tuple(Span(e.start, e.end, e.type, e.marked) for e in story.entities)
        example = Example("", story.text, spans=spans, marked=any(span.marked for span in spans))
        return [example] if settled(example) else []

    made = walk(source, items, sentences=sentences, train=train, validation=validation, test=test)
    return tag("entities", made, classes=("person", "place", "animal", "ship"), metric=metric, marks=True)


def questions(
    *,
    source: World,
    train: int = 4000,
    validation: int = 200,
    test: int = 500,
    sentences: int = 4,
    per_story: int = 2,
) -> Made:
    """A question before or after a story, its answer a word of it.  Marked: what decides it stands behind the answer.

    Oracle: the word of the text that makes the question a true statement.
    """

    def items(story: Story) -> list[Example]:
        return [
            Example("", story.text, query=q.text, query_first=q.before, answers=(q.answer,),
                    spans=(Span(q.start, q.end, marked=q.marked),), marked=q.marked)
            for q in dice(story, 1).shuffled(story.questions)
        ]  # fmt: skip

    def know(examples: Sequence[Example]) -> list[Prediction]:
        return [oracle.answer(example.text, example.query) for example in examples]

    made = walk(
        source, items, sentences=sentences, per_story=per_story, train=train, validation=validation, test=test
    )
    return extract("questions", made, oracle=know)
