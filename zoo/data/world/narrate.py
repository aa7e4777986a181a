"""Tells a plan as sentences: joins events, gives reasons, sets the ambiguous name and settles it."""

from collections.abc import Callable
from functools import partial

from zoo.data.world.asides import Asides
from zoo.data.world.english import TOLD
from zoo.data.world.listed import listed
from zoo.data.world.meaning import Event
from zoo.data.world.telling import LONGEST

_SAME = listed("both both then when soon once after afterwards having before earlier leading semicolon")
_OTHER = listed("and then when soon once after afterwards before earlier semicolon")
_SINGLE = listed("plain plain because since while during although though but")
_PERFECT = frozenset(
    ("after", "once", "soon", "afterwards")
)  # relations whose first event may be told as past
_STILL = frozenset(("at", "have", "wait", "do"))  # nothing happens: no "when" or "after"
_PROGRESS = frozenset(listed("do search wait talk"))


class Narrator(Asides):
    """Tells a whole story."""

    def tell(self, sentences: int = LONGEST) -> None:
        """All events, with pauses; the moods spread evenly; the ambiguous name early, and settled late.

        Where there are more, only the first ``sentences``: then how the story ends is not told.
        """
        slots, total = len(self.deck), len(self.beats)
        if self.plan.riddle:
            self.riddle = {self.dice.pick((1, 2)): "open", total - self.dice.pick((1, 2)): "settle"}
        while self.beats:
            if len(self.sentences) >= sentences:
                return
            done = total - len(self.beats)
            for step in [step for step in self.riddle if step <= done]:
                self._riddle(self.riddle.pop(step))
            if done and not self.crowded() and self.dice.chance(0.4):
                self.aside()
            self._advance(merge=self.crowded() or self.dice.chance(0.5))
            while len(self.deck) > slots * len(self.beats) // total:
                self.colour(self.deck.pop())
        for step in list(self.riddle):
            self._riddle(self.riddle.pop(step))
        if not self.crowded() and self.dice.chance(0.3):
            self.closing()
        while len(self.sentences) < min(5, sentences):
            self.aside()

    def _advance(self, *, merge: bool) -> None:
        """The next event, alone or with the one after it."""
        first = self.beats.pop(0)
        if merge and len(self.beats) > 1 and self._in_one_go(first, *self.beats[:2]):
            self._list(first, self.beats.pop(0), self.beats.pop(0))
        elif merge and self.beats:
            second = self.beats.pop(0)
            self._join(first, second, self._relation(first, second))
        else:
            self._single(first)

    def _in_one_go(self, *events: Event) -> bool:
        """Whether one person does all this, one thing after the other."""
        alike = len({event.agent for event in events}) == 1 and not any(
            event.kind in _STILL for event in events
        )
        return alike and self.dice.chance(0.6)

    def _list(self, *events: Event) -> None:
        """Three events of one person: "Ben went to the mill, found the key and returned to the market"."""
        first, *more = events
        parts = [self.clause(first, acting=True)]
        parts += [self.english.predicate(event, "past", manner=self.manner(event)) for event in more]
        self.say("list", *parts)

    def _relation(self, first: Event, second: Event) -> str:
        """A construction that suits two events."""
        same, dice = first.agent == second.agent, self.dice
        if first.kind == "wait" and second.kind == "go" and second.agent == first.other:
            return "until"
        if first.kind in _STILL or second.kind in _STILL:
            return dice.pick(("both", "semicolon", "and") if same else ("and", "semicolon"))
        if "&" in second.agent and not all(name in self.talk.people for name in second.agent.split("&")):
            return dice.pick(("and", "then"))  # the two must have been introduced
        if (
            same
            and first.kind == "go"
            and second.kind in ("search", "find", "meet", "take")
            and dice.chance(0.4)
        ):
            return "purpose" if second.kind == "search" else "where"
        if second.agent == first.other and dice.chance(0.2):
            return "so"
        return dice.pick(_SAME if same else _OTHER)

    def _join(self, first: Event, second: Event, relation: str) -> None:
        """Two events in one sentence. The parts are written as the text has them, for the pronouns to be clear."""
        english, dice = self.english, self.dice
        form = "perfect" if relation in _PERFECT and dice.chance(0.5) else "past"
        if relation in ("both", "purpose", "leading"):
            way = {"both": "past", "purpose": "infinitive", "leading": "gerund"}[relation]
            manner = self.manner(second) if way == "past" else ""
            parts = [self.clause(first, acting=True), english.predicate(second, way, manner=manner)]
        elif relation == "having":
            english.mates = ()
            parts = [english.predicate(first, "gerund"), self.clause(second, acting=True)]
        elif relation in ("before", "afterwards"):
            parts = [self.clause(second), self.clause(first, form)]
        else:
            same = first.agent == second.agent  # whom both are about should be the subject of both
            parts = [self.clause(first, form, acting=same), self.clause(second, acting=same)]
        if relation == "where":
            english.told[1] = english.told[1]._replace(place=first.place)
        self.say(relation, *parts)

    def _single(self, event: Event) -> None:
        """One event, alone or with something else that is true."""
        extra = self.dice.pick(_SINGLE)
        side = self._side(extra, event) if extra != "plain" and self.sentences else None
        if side is None:
            form = "progressive" if event.kind in _PROGRESS and self.dice.chance(0.5) else "past"
            self.say("plain", self.clause(event, form), late=True)
        elif extra in ("since", "while", "although"):
            self.say(extra, side(), self.clause(event))
        else:
            self.say(extra, self.clause(event), side())

    def _side(self, relation: str, event: Event) -> Callable[[], str] | None:
        """Something true to go with an event: a reason, something going on, something that is not so."""
        english, dice = self.english, self.dice
        if relation in ("while", "during"):
            if self.deck and dice.chance(0.6):
                return partial(english.clause, self.scene(self.deck.pop()), "progressive")
            doers = [name for name in self.speakers() if name not in event.agent.split("&")]
            return partial(english.clause, self.doing(dice.pick(doers)), "progressive") if doers else None
        if relation in ("because", "since"):
            if self.deck and event.agent in self.talk.people and dice.chance(0.6):
                return partial(english.clause, self.feeling(event.agent, self.deck.pop()))
            reasons = [past for past in self.state.history if past.kind in TOLD and _bears_on(past, event)]
            return partial(english.clause, dice.pick(reasons), "perfect", known=True) if reasons else None
        lacking = self.lacking(event)
        return partial(english.clause, lacking, negative=True) if lacking is not None else None

    def _riddle(self, step: str) -> None:
        """The ambiguous name: early where it may be two things, late where it is settled, perhaps once more."""
        dice, name = self.dice, self.plan.riddle
        if step == "open":
            self._think(dice.pick(self.speakers() or [self.plan.beats[0].agent.split("&")[0]]))
            return
        # the time in front is drawn first: nothing before the name may depend on what it turns out to be
        front = f"{self.time()}, " if dice.chance(0.3) else ""
        other, kind = dice.pick(self.speakers()), self.plan.riddle_type
        kind = "intro" if kind == "person" and dice.chance(0.6) else kind
        event = Event(kind, name, other=other, detail=self.plan.jobs[name])
        self.say("plain", self.english.clause(event), front=front)
        if not self.crowded() and dice.chance(0.3):
            self._think(dice.pick(self.speakers()))

    def _think(self, thinker: str) -> None:
        """Somebody thinks or speaks of the ambiguous name."""
        form = self.dice.pick(("past", "past", "perfect"))
        self.say("plain", self.english.clause(Event("think", thinker, other=self.plan.riddle), form))


def _bears_on(past: Event, event: Event) -> bool:
    """Whether something that happened can be a reason for an event: about the same thing, or to be thanked for."""
    return past.thing == event.thing if event.thing else event.kind == "thank" and past.agent == event.other
