"""What can be asked about a story: entities, questions with answers in the text, true and false statements."""

import re
from typing import NamedTuple

from zoo.data.world.dice import Dice
from zoo.data.world.english import TOLD, English
from zoo.data.world.grammar import SETTLING
from zoo.data.world.meaning import Event
from zoo.data.world.names import AMBIGUOUS, GENDER
from zoo.data.world.nouns import ACTIVITIES, PLACES
from zoo.data.world.retell import PLACED, Retelling
from zoo.data.world.verbs import inflect

_NAME = re.compile("|".join(rf"\b{name}\b" for name in GENDER))
_GIVEN = {
    "give": ("give", "hand", "pass"),
    "return": ("return", "give back"),
    "show": ("show",),
    "sell": ("sell",),
}
_RIDDLES = tuple(AMBIGUOUS)


class Entity(NamedTuple):
    """A name in the text. `marked`: what it is, is settled by what comes later."""

    start: int
    end: int
    type: str
    marked: bool


class Question(NamedTuple):
    """A question and its answer, text[start:end]. `marked`: what decides it stands after the answer.

    `before`: it is to be asked before the passage, not after it.
    """

    text: str
    answer: str
    start: int
    end: int
    marked: bool
    before: bool


def settling(log: tuple[tuple[int, Event], ...], riddle: str) -> int | None:
    """The sentence that says what the ambiguous name is; None: no sentence does."""
    return next((i for i, event in log if event.agent == riddle and event.kind in (*SETTLING, "intro")), None)


def entities(
    text: str, spans: list[tuple[int, int]], log: tuple[tuple[int, Event], ...], riddle: str, kind: str
) -> tuple[Entity, ...]:
    """Every name with its type; a name that may be two things is marked until the sentence that settles it."""
    settled = settling(log, riddle)
    until = spans[settled][1] if riddle and settled is not None else 0
    return tuple(
        Entity(
            m.start(),
            m.end(),
            kind if m.group() == riddle else "person",
            m.group() == riddle and m.end() <= until,
        )
        for m in _NAME.finditer(text)
    )


class Examiner:
    """Asks about one story."""

    def __init__(self, dice: Dice, split: str, text: str, spans: list[tuple[int, int]], told: English,
                 log: tuple[tuple[int, Event], ...], riddle: str) -> None:  # fmt: skip
        self.dice, self.text, self.spans, self.told, self.log = dice, text, spans, told, log
        self.retelling = Retelling(dice, split, told)
        self.people = [name for name in told.talk.people if name != riddle]
        self.history = [event for _, event in log]

    # --- questions ----------------------------------------------------------------------------------------------

    def questions(self) -> tuple[Question, ...]:
        """Who, what, whom and where, about events that only one answer fits; and how things stand at the end."""
        asked: dict[str, Question] = {}
        for number, event in self.log:
            for ask in (self._who, self._where, self._what, self._whom):
                found = ask(event)
                if found and found[0] not in asked:
                    question = self._question(*found, number)
                    if question is not None:
                        asked[found[0]] = question
        for text, answer, number in self._endings():
            question = self._question(text, answer, number)
            if question is not None:
                asked[text] = question
        return tuple(asked.values())

    def _question(self, text: str, answer: str, number: int) -> Question | None:
        start, end = self.spans[number]
        found = [m for m in re.finditer(rf"\b{answer}\b", self.text) if m.end() <= end]
        if not found:
            return None
        inside = [m for m in found if m.start() >= start]
        chosen = inside[0] if inside else found[-1]
        return Question(
            text, answer, chosen.start(), chosen.end(), chosen.end() <= start, self.dice.chance(0.5)
        )

    def _only(self, event: Event, role: str) -> bool:
        """Whether no other value of this role makes the event true as well."""
        return all(
            getattr(past, role) == getattr(event, role)
            for past in self.history
            if past.kind == event.kind
            and past._replace(**{role: "", "place": ""}) == event._replace(**{role: "", "place": ""})
        )

    def _predicate(self, event: Event, form: str, *, gap: bool = False) -> str:
        self.retelling.talk.sentence += 9
        self.retelling.english.mates = (event.agent,)
        return self.retelling.english.predicate(event, form, gap=gap)

    def _who(self, event: Event) -> tuple[str, str] | None:
        if event.kind not in TOLD or "&" in event.agent or not self._only(event, "agent"):
            return None
        return f"Who {self._predicate(event, 'past')}?", event.agent

    def _where(self, event: Event) -> tuple[str, str] | None:
        if (
            event.kind not in PLACED
            or event.place not in PLACES
            or "&" in event.agent
            or not self._only(event, "place")
        ):
            return None
        text = self._predicate(event._replace(place=""), "infinitive")
        return f"Where did {event.agent} {text.removeprefix('to ')}?", event.place

    def _what(self, event: Event) -> tuple[str, str] | None:
        if event.kind not in TOLD or not event.thing or "&" in event.agent or not self._only(event, "thing"):
            return None
        text = self._predicate(event, "infinitive", gap=True)
        return f"What did {event.agent} {text.removeprefix('to ')}?", event.thing

    def _whom(self, event: Event) -> tuple[str, str] | None:
        if event.kind not in _GIVEN or not self._only(event, "other"):
            return None
        verb = self.dice.pick(_GIVEN[event.kind])
        return f"To whom did {event.agent} {verb} the {event.thing}?", event.other

    def _endings(self) -> list[tuple[str, str, int]]:
        state, out = self.told.state, []
        for thing, holder in state.holder.items():
            number = max(i for i, event in self.log if event.thing == thing)
            be = inflect("be", "past", self.retelling.english._person("T", thing))
            if holder:
                out.append((f"Who had the {thing} at the end?", holder, number))
            elif state.spot.get(thing) in PLACES:
                out.append((f"Where {be} the {thing} at the end?", state.spot[thing], number))
        for name in self.people:
            moves = [
                (i, event)
                for i, event in self.log
                if event.kind in ("go", "follow") and name in event.agent.split("&")
            ]
            if moves and state.where.get(name) == moves[-1][1].place:
                out.append((f"Where was {name} at the end?", state.where[name], moves[-1][0]))
        return out

    # --- statements ---------------------------------------------------------------------------------------------

    def statements(self) -> tuple[tuple[str, str], ...]:
        """Sentences that are true, false, or neither told nor denied."""
        out = []
        for event in self.dice.shuffled(self._facts())[:3]:
            out.append((self.retelling.sentence(event), "true"))
            wrong = self._wrong(event)
            if wrong is not None:
                out.append((self.retelling.sentence(wrong), "false"))
        for name in self.dice.shuffled(self.people)[:3]:
            out.append((self.retelling.sentence(self._open(name)), "unknown"))
        return tuple(self.dice.shuffled(out))

    def versions(self) -> tuple[tuple[str, str], ...]:
        """Of what happened: as it was, and with somebody or some place wrong."""
        told = [(event, self._wrong(event)) for event in self.dice.shuffled(self._facts())]
        return tuple(
            (self.retelling.sentence(event), self.retelling.sentence(wrong)) for event, wrong in told if wrong
        )

    def _facts(self) -> list[Event]:
        return [event for event in self.history if event.kind in TOLD or event.kind in ("go", "meet")]

    def _wrong(self, event: Event) -> Event | None:
        """The event with another person or place in it, where that is not true."""
        places = {past.place for past in self.history if past.place in PLACES} - {event.place}
        wrong: list[Event] = []
        if event.kind in TOLD:
            wrong += [
                event._replace(agent=name)
                for name in self.people
                if name not in event.agent and name != event.other
            ]
            if event.other and "&" not in event.agent:
                wrong.append(event._replace(agent=event.other, other=event.agent))
        if event.kind in PLACED and event.place:
            wrong += [event._replace(place=place) for place in sorted(places)]
        if event.kind == "go":
            been = {
                past.place
                for past in self.history
                if set(event.agent.split("&")) & set(past.agent.split("&"))
            }
            wrong += [event._replace(place=place) for place in sorted(places - been)]
        wrong = [one for one in wrong if not self.told.state.true(one, now=False)]
        return self.dice.pick(wrong) if wrong else None

    def _open(self, name: str) -> Event:
        """Something about somebody that the story leaves open."""
        if self.dice.chance(0.5):
            return Event("live", name, place=self.dice.pick(tuple(PLACES)))
        done = {event.detail for event in self.history if event.kind == "do"}
        phrases = [phrase for table in ACTIVITIES.values() for phrase in table if phrase not in done]
        return Event("do", name, detail=self.dice.pick(phrases))
