"""What the world's recogniser says of what a model has written about a story, or to go on with it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from zoo.data.world import grammatical, judge
from zoo.data.world.lexicon import split_sentences
from zoo.data.world.meaning import Clause, Event
from zoo.data.world.reader import Fault, Reader


def true(story: str, claim: str) -> float:
    """1 if the story makes all of the claim true; nothing claimed is not true."""
    return float(bool(claim.strip()) and judge(story, claim.strip()) == "true")


class _Listener(Reader):
    """A reader who notes what is claimed about a story, true or not."""

    def __init__(self, story: str) -> None:
        super().__init__()
        self.claimed: list[Event] = []
        for sentence in split_sentences(story):
            self.read(sentence)
        self.recalling = True

    def _happen(self, clause: Clause, event: Event, *, known: bool) -> None:
        if not self.recalling:
            super()._happen(clause, event, known=known)
        elif not clause.negative:
            self.claimed.append(event._replace(place="", detail=""))


@lru_cache(8192)  # references are asked about at every validation
def claims(story: str, claim: str) -> frozenset[Event]:
    """What a claim says happened, without places and adverbs, up to its first sentence that makes no sense there."""
    reader = _Listener(story)
    try:
        for sentence in split_sentences(claim.strip()):
            reader.talk.sentence += 9  # nobody is fresh in mind, as in `judge`
            reader.read(sentence)
    except Fault:
        pass
    return frozenset(reader.claimed)


def shared(claimed: frozenset[Event], wanted: frozenset[Event]) -> float:
    """F1 of two sets of events."""
    return 2 * len(claimed & wanted) / (len(claimed) + len(wanted)) if claimed or wanted else 0.0


def formed(text: str) -> float:
    """The share of its sentences that are of the language."""
    lines = split_sentences(text.strip())
    return sum(map(grammatical, lines)) / len(lines) if lines else 0.0


def new(text: str, written: str) -> float:
    """The share of the sentences written that do not stand in the text; NaN where none is written."""
    lines = split_sentences(written.strip())
    return sum(line not in text for line in lines) / len(lines) if lines else math.nan


def gone_on(before: Sequence[str], written: str, wanted: int) -> tuple[float, float]:
    """Of ``wanted`` sentences that go on with those before: the share until the first fault or repetition, and the
    share of these that tell an event.

    What goes on around a story (the weather, how somebody feels) fits anywhere: it is no fault, and no merit.
    """
    reader, seen = Reader(), set(before)
    for sentence in before:
        reader.read(sentence)
    good, telling = 0, 0
    for sentence in split_sentences(written.strip())[:wanted]:
        events = len(reader.log)
        if sentence in seen:
            break
        try:
            reader.read(sentence)
        except Fault:
            break
        seen.add(sentence)
        good += 1
        telling += len(reader.log) > events
    return good / wanted, telling / wanted
