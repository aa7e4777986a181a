"""What can be known at best: the ceiling of each task, and the information in a story.

Every guess is made from text alone. `left_guess` is the exception that proves the rule: it compares what the generator
would have written up to a name, had the name been the other thing.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator

from zoo.data.world.dice import CountingDice
from zoo.data.world.english import at
from zoo.data.world.lexicon import split_sentences
from zoo.data.world.moods import MOOD_OF, SCENES
from zoo.data.world.names import AMBIGUOUS, GENDER
from zoo.data.world.nouns import ACTIVITIES, JOBS, PLACES, THINGS, TOPICS
from zoo.data.world.parse import parse
from zoo.data.world.reader import Fault, Reader
from zoo.data.world.recognise import judge
from zoo.data.world.story import Story
from zoo.data.world.verbs import inflect

_WORD = re.compile(r"[A-Za-z]+|'s|[^\sA-Za-z]")


def tokens(text: str) -> list[str]:
    """Words and marks: what a token is wherever this page counts them."""
    return _WORD.findall(text)


def topic_guess(text: str) -> str:
    """The topic to which most of the places, things, jobs and activities belong."""
    votes: Counter[str] = Counter()
    words = set(tokens(text))
    for topic in TOPICS:
        votes[topic] += sum(topic in place.topics for noun, place in PLACES.items() if noun in words)
        votes[topic] += sum(topic in thing.topics for noun, thing in THINGS.items() if noun in words)
        votes[topic] += sum(job in words for job in JOBS[topic])
        votes[topic] += 3 * sum(set(phrase.split()[1:]) <= words for phrase in ACTIVITIES[topic])
    return votes.most_common(1)[0][0]


def mood_guess(text: str, words: int = 99) -> str:
    """The mood that most of the (first) telling words show."""
    shown: list[str] = []
    for sentence in split_sentences(text):
        for clause in parse(sentence)[0].clauses if parse(sentence) else ():
            detail = clause.detail if clause.kind in ("feel", "sky") else ""
            detail = _scene(clause.frame) if clause.kind == "scene" else detail
            shown += [MOOD_OF[word] for word in (detail, clause.manner) if word in MOOD_OF]
    return Counter(shown[:words]).most_common(1)[0][0] if shown else ""


def _scene(frame: str) -> str:
    name = frame.split(":", 1)[1]
    return next(f"{s} {v}" for scenes in SCENES.values() for s, v in scenes if name.startswith(f"{s} {v}"))


def types(text: str) -> dict[str, str]:
    """What every name in a story is, once the whole of it has been read."""
    reader = Reader()
    for sentence in split_sentences(text):
        try:
            reader.read(sentence)
        except Fault:
            break
    settled = {name: next(iter(can)) for name, can in reader.open.items() if len(can) == 1}
    return {name: settled.get(name, "person") for name in set(tokens(text)) & set(GENDER)}


def left_guess(seed: int, split: str) -> list[float]:
    """For every marked name of a story: how often the best guess from all text up to the name is right.

    The story is told a second time from the same dice with the name being the other thing. Both are drawn with
    probability one half; so where the texts up to the name are the same, the best guess is right half of the time.
    """
    story = Story(seed, split)
    riddle = story.plan.riddle
    if not riddle:
        return []
    other = AMBIGUOUS[riddle][1] if story.plan.riddle_type == "person" else "person"
    twin = Story(seed, split, riddle_type=other)
    return [
        0.5 if twin.text.startswith(story.text[: entity.end]) else 1.0
        for entity in story.entities
        if entity.marked
    ]


def left_classifier(train: list[Story], test: list[Story]) -> tuple[int, int]:
    """How many marked names naive Bayes on the words to the left gets right, of how many: a check on `left_guess`."""
    counts: dict[str, Counter[str]] = {"person": Counter(), "other": Counter()}
    for left, kind in _lefts(train):
        counts[kind].update(left)
    totals = {kind: count.total() + len(counts["person"] | counts["other"]) for kind, count in counts.items()}
    right = seen = 0
    for left, kind in _lefts(test):
        odds = {one: sum(math.log((counts[one][word] + 1) / totals[one]) for word in left) for one in counts}
        right += max(odds, key=odds.__getitem__) == kind
        seen += 1
    return right, seen


def _lefts(sample: list[Story]) -> Iterator[tuple[list[str], str]]:
    for story in sample:
        for entity in story.entities:
            if entity.marked:
                yield tokens(story.text[: entity.end]), "person" if entity.type == "person" else "other"


def answer(text: str, question: str) -> str:
    """The answer to a question about a story: the candidate in the text that makes it a true statement."""
    words = set(tokens(text))
    people, things, places = (sorted(words & set(kind)) for kind in (GENDER, THINGS, PLACES))
    if question.endswith("at the end?"):
        return _ending(text, question)
    asked, _, rest = question.rstrip("?").partition(" ")
    if asked == "Who":
        claims = [(name, [f"{name} {rest}."]) for name in people]
    elif asked == "To":
        claims = [(name, [f"{_told(rest.removeprefix('whom did '))} to {name}."]) for name in people]
    elif asked == "Where":
        claims = [(place, [f"{_told(rest.removeprefix('did '))} {at(place)}."]) for place in places]
    else:
        claims = [(thing, list(_inserted(_told(rest.removeprefix("did ")), thing))) for thing in things]
    return next((word for word, texts in claims if any(judge(text, one) == "true" for one in texts)), "")


def _told(rest: str) -> str:
    """ "Anna find the key" as a statement: "Anna found the key"."""
    name, verb, *more = rest.split()
    return " ".join([name, inflect(verb, "past"), *more])


def _inserted(claim: str, thing: str) -> Iterator[str]:
    """The thing in every place where it might stand after the verb."""
    words = claim.split()
    for i in range(2, len(words) + 1):
        yield " ".join([*words[:i], "the", thing, *words[i:]]) + "."


def _ending(text: str, question: str) -> str:
    reader = Reader()
    for sentence in split_sentences(text):
        reader.read(sentence)
    state, word = reader.state, question.split()[-4]
    if question.startswith("Who"):
        return state.holder.get(word, "")
    return state.spot.get(word, "") or state.where.get(word, "")


def entropy(seed: int, split: str) -> tuple[float, int]:
    """Bits of all choices that made a story, and the tokens of its text. The text's own entropy is at most the bits."""
    dice = CountingDice(seed)
    story = Story(seed, split, dice)
    return dice.bits, len(tokens(story.text))


def overlap(guess: str, truth: str) -> float:
    """F1 of the words of two texts: what a metric of overlap gives one of many right answers for another."""
    a, b = Counter(tokens(guess)), Counter(tokens(truth))
    common = sum((a & b).values())
    return 2 * common / (sum(a.values()) + sum(b.values())) if common else 0.0


def again(story: Story) -> Story:
    """The same story with another draw of everything that has many right answers."""
    return Story(story.seed, story.split, annotation=story.annotation + 1)
