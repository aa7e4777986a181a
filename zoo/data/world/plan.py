"""Plans a story: topic, mood, plot, cast, places, things, the ambiguous name; keeps held-out pairs apart."""

from collections.abc import Sequence
from typing import NamedTuple

from zoo.data.world.dice import Dice
from zoo.data.world.heldout import allowed_names
from zoo.data.world.meaning import Event
from zoo.data.world.moods import MOODS
from zoo.data.world.names import AMBIGUOUS
from zoo.data.world.nouns import ACTIVITIES, JOBS, LOOKS, PLACES, THINGS, TOPIC_PLACES, TOPIC_THINGS, TOPICS
from zoo.data.world.plots import NAMES, PLOTS, event

_ALL_JOBS = tuple(job for jobs in JOBS.values() for job in jobs)
_ALL_PLACES, _ALL_THINGS = tuple(PLACES), tuple(THINGS)
_RIDDLES = tuple(AMBIGUOUS)


class Plan(NamedTuple):
    """Everything that is fixed before the first sentence."""

    split: str
    topic: str
    mood: str
    deck: tuple[
        str, ...
    ]  # the moods of the words that carry one, in the order in which they are told (from the end)
    plot: str
    cast: dict[str, str]
    beats: tuple[Event, ...]
    jobs: dict[str, str]
    looks: dict[str, str]
    riddle: str  # the ambiguous name, or ""
    riddle_type: str


def _distinct(dice: Dice, pools: list[Sequence[str]]) -> list[str]:
    chosen: list[str] = []
    for pool in pools:
        while (word := dice.pick(pool)) in chosen:
            pass
        chosen.append(word)
    return chosen


def _doing(dice: Dice, topic: str, kind: str) -> str:
    return dice.pick(ACTIVITIES[topic]) if kind == "do" else ""


def _deck(dice: Dice, mood: str) -> tuple[str, ...]:
    others = dice.shuffled([m for m in MOODS if m != mood])
    more = dice.pick(([others[0]], others[:2], [mood, *others[:2]], [mood, others[0], others[0]]))
    return tuple(dice.shuffled([mood, mood, *more]))


def plan(dice: Dice, split: str) -> Plan:
    """Draw a plan for one story of a split."""
    topic, mood, plot = dice.pick(TOPICS), dice.pick(MOODS), dice.pick(NAMES)
    first: Sequence[str] = ()
    while not first:  # nobody may be reserved for the first place who may come to the others
        second = TOPIC_PLACES[topic] if dice.chance(0.7) else _ALL_PLACES
        places = _distinct(dice, [TOPIC_PLACES[topic], second, _ALL_PLACES])
        everyone = allowed_names(split, places, own=False)
        first = everyone if split == "train" else allowed_names(split, places, own=True)
    things = _distinct(dice, [TOPIC_THINGS[topic], TOPIC_THINGS[topic] if dice.chance(0.5) else _ALL_THINGS])
    names = _distinct(dice, [first, everyone, everyone])
    jobs = _distinct(dice, [JOBS[topic] if dice.chance(0.6) else _ALL_JOBS, _ALL_JOBS, _ALL_JOBS, _ALL_JOBS])
    cast = dict(zip("ABCPQRTU", names + places + things, strict=True))
    beats: list[Event] = []
    for optional, kind, roles in PLOTS[plot]:
        if optional and dice.chance(0.5):
            continue
        step = event(kind, roles, cast)
        if kind == "have" and step.place:
            if all(beat.agent != step.agent for beat in beats):
                start = dice.pick(("at", "at", "go", "go", "do"))
                beats.append(Event(start, step.agent, place=step.place, detail=_doing(dice, topic, start)))
            step = step._replace(place="")
        if kind == "do":
            step = step._replace(detail=_doing(dice, topic, kind))
        beats.append(step)
    riddle = dice.pick(_RIDDLES) if dice.chance(0.6) else ""
    kind = dice.pick(("person", AMBIGUOUS[riddle][1])) if riddle else ""
    looks = {noun: dice.pick(LOOKS) if dice.chance(0.75) else "" for noun in things}
    job_of = dict(zip([*names, riddle], jobs, strict=True))
    return Plan(split, topic, mood, _deck(dice, mood), plot, cast, tuple(beats), job_of, looks, riddle, kind)
