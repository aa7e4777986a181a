"""Tells again what a finished story has told: in single sentences, in a headline, in answers."""

from zoo.data.world.dice import Dice
from zoo.data.world.discourse import Discourse
from zoo.data.world.english import TOLD, English
from zoo.data.world.grammar import CONSTRUCTIONS
from zoo.data.world.listed import listed
from zoo.data.world.meaning import Event
from zoo.data.world.state import State

PLACED = frozenset(listed("find lose make break repair meet talk"))  # kinds whose place may be said besides


class Retelling:
    """A writer to whom everybody in the story is known, but nobody fresh in mind: names before pronouns."""

    def __init__(self, dice: Dice, split: str, told: English) -> None:
        self.english = English(dice, split, told.jobs, told.planned_looks)
        self.english.state, talk = told.state, self.english.talk
        talk.people = dict.fromkeys(told.talk.people, -9)
        talk.looks = dict(told.talk.looks)
        self.talk = talk
        self.english.deep = True  # no relative clauses: they would recall what comes later

    def sentence(self, *events: Event, relation: str = "plain") -> str:
        """The events as one sentence, understood without the one before."""
        self.talk.sentence += 9
        parts = iter([self.clause(event) for event in events])
        pattern = CONSTRUCTIONS[relation].pattern
        text = "".join(next(parts) if piece == "{S}" else piece for piece in _pieces(pattern))
        return text[0].upper() + text[1:]

    def clause(self, event: Event) -> str:
        """One event, said with its place if it has one."""
        return self.english.clause(event, place=bool(event.place) and event.kind in PLACED)


def _pieces(pattern: str) -> list[str]:
    return pattern.replace("{S}", "\0{S}\0").split("\0")


def headline(dice: Dice, split: str, told: English, log: tuple[tuple[int, Event], ...]) -> str:
    """A line in the present tense that tells how the story begins and ends: who loses what, and who brings it back.

    Empty where nothing happens that one would tell in a line, as may be in the first sentences of a story.
    """
    salient = [event for _, event in log if event.kind in TOLD]
    if len(salient) < 3:
        salient = [
            event for _, event in log if event.kind in TOLD or event.kind in ("have", "meet", "go", "follow")
        ]
    chosen = [salient[0], *salient[-1:]] if len(salient) > 1 else salient
    if len(salient) > 2 and dice.chance(0.7):
        chosen.insert(1, dice.pick(salient[1:-1]))
    english = English(dice, split, dict(told.state.job), told.planned_looks)
    english.state, english.talk, english.deep = (
        State(),
        Discourse(),
        True,
    )  # nobody is known yet, nothing to recall
    clauses = [
        english.clause(event, "present", place=event.kind in PLACED and dice.chance(0.7)) for event in chosen
    ]
    joint = dice.pick((", and ", "; ", ", then ", "; ")) if len(clauses) > 1 else ""
    text = joint.join(clauses)
    return text[:1].upper() + text[1:]
