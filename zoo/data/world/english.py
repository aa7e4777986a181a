"""Writes events as English clauses, choosing for each role a way to refer to it that the reader can resolve."""

from functools import cache
from typing import Any

from zoo.data.world.dice import Dice
from zoo.data.world.discourse import Discourse
from zoo.data.world.grammar import BY_KIND, Frame
from zoo.data.world.heldout import allowed_verbs
from zoo.data.world.listed import listed
from zoo.data.world.meaning import Event
from zoo.data.world.names import AMBIGUOUS, GENDER
from zoo.data.world.nouns import KIN, PLACES, THINGS, TRAITS
from zoo.data.world.state import State
from zoo.data.world.verbs import group

_VOWELS = (*"aeio", "um", "honest")  # what takes "an"
_SUBJECT = {"f": "she", "m": "he"}
_OBJECT = {"f": "her", "m": "him"}
_POSSESSIVE = {"f": "her", "m": "his"}
_KIN = {gender: tuple(kin for kin, g in KIN.items() if g in ("", gender)) for gender in "fm"}
# what a relative clause may recall
TOLD = frozenset(listed("find lose put give return make steal break repair take follow help show sell"))


def article(word: str) -> str:
    """The word with "a" or "an" before it."""
    return f"an {word}" if word.startswith(_VOWELS) else f"a {word}"


def at(place: str) -> str:
    """Where something is: "at the market", "in Florence"."""
    return f"{PLACES[place].preposition} the {place}" if place in PLACES else f"in {place}"


@cache
def usable(split: str, event: Event, form: str, shared: str, gap: bool) -> tuple[Frame, ...]:
    """The frames that can tell an event in this form; one is listed as often as it is likely.

    `shared`: the role of the subject, if it is fixed. `gap`: the thing is told elsewhere ("the key that ...").
    """
    kind, agent, thing, other, place, _ = event
    roles = {"A": agent, "T": thing, "R": other, "L": place, "X": other, "@": place}
    found: list[Frame] = []
    for frame in BY_KIND[kind]:
        fits = all(roles[role] for role in frame.tail if role in roles) and shared in ("", frame.subject)
        if frame.passive and (form not in ("past", "perfect") or "&" in agent or gap):
            continue
        if fits and (not gap or "T" in frame.tail) and allowed_verbs(split, frame, thing):
            found += [frame] * (1 if frame.passive else 5)
    if not found:
        raise ValueError(f"no frame tells {event} ({form}, {shared}, gap={gap})")
    return tuple(found)


class English:
    """The writer: what it may say comes from the grammar, what it can refer to from the discourse."""

    def __init__(self, dice: Dice, split: str, jobs: dict[str, str], looks: dict[str, str]) -> None:
        self.dice, self.split, self.jobs, self.planned_looks = dice, split, jobs, looks
        self.state, self.talk = State(), Discourse()
        self.speaker = self.hearer = ""
        self.mates: tuple[str, ...] = ()
        self.particle = self.recalled = False
        self.shy = ""
        self.deep = False  # inside a relative clause: no second one
        self.inner: tuple[Event, str] = (Event("none"), "")  # what the next "that" clause tells, and its form
        self.told: list[Event] = []  # what the clauses of this sentence tell, in the order of the text

    # --- noun phrases -------------------------------------------------------------------------------------------

    def person(self, key: str, *, subject: bool, plain: bool = False) -> str:
        """A person or a pair: a name, a pronoun, a job, or an introduction. `plain`: no pronoun, no relative clause."""
        talk, dice = self.talk, self.dice
        if key == self.speaker:
            return "I" if subject else "me"
        if key == self.hearer:
            return "you"
        if "&" in key:
            return self._pair(key, subject=subject)
        gender = GENDER[key]
        if key in AMBIGUOUS:
            return key  # what it is, is for the rest of the sentence to say
        if key not in talk.people:
            return self._introduce(key, gender)
        if not plain and talk.person(gender, self.mates) == key and dice.chance(0.85):
            talk.mention_person(key)
            return (_SUBJECT if subject else _OBJECT)[gender]
        text = key
        if key in self.state.job and dice.chance(0.25):
            text = f"the {self.state.job[key]}"
        talk.mention_person(key)
        if subject and not plain and not self.deep and not self.speaker and dice.chance(0.12):
            text += self._who(key)
        return text

    def _pair(self, key: str, *, subject: bool) -> str:
        talk = self.talk
        if subject and talk.they() == key and self.dice.chance(0.6):
            talk.mention_pair(key)
            return "they"
        talk.mention_pair(key)
        return key.replace("&", " and ")

    def _introduce(self, key: str, gender: str) -> str:
        dice, talk = self.dice, self.talk
        kin_of = [n for n, s in talk.people.items() if s >= talk.sentence - 1 and n not in AMBIGUOUS]
        known = self.state.job.get(key)
        job = self.jobs.get(key, "")
        if known or not job:
            text = f"{key} the {job}" if job else key
        elif kin_of and dice.chance(0.4):
            other = dice.pick(kin_of)
            owner = _POSSESSIVE[GENDER[other]] if talk.person(GENDER[other]) == other else f"{other}'s"
            text = f"{owner} {dice.pick(_KIN[gender])} {key}"
            talk.mention_person(other)
        else:
            self.state.job[key] = job
            style = int(dice.pick((0, 1, 2, 3)))
            if style == 0:
                text = f"{key} the {job}"
            elif style == 1:
                text = f"{article(job)} called {key}"
            elif style == 2:
                text = f"{article(dice.pick(TRAITS))} {job} called {key}"
            else:
                text = f"{article(dice.pick(TRAITS))} {job} named {key}"
        talk.mention_person(key)
        return text

    def _who(self, key: str) -> str:
        event = next((e for e in reversed(self.state.history) if e.agent == key and e.kind in TOLD), None)
        if event is None:
            return ""
        mates, self.mates, self.deep = self.mates, (key,), True
        text = f", who {self.predicate(event, 'perfect')},"
        self.mates, self.deep = mates, False
        return text

    def thing(self, noun: str, *, pronoun: bool = True, relative: bool = True) -> str:
        """A thing: new ("a red key"), known ("the key", "it", "her key"), or told apart by what happened to it."""
        talk, dice = self.talk, self.dice
        plural = THINGS[noun].plural
        if noun not in talk.looks:
            look = talk.looks[noun] = self.planned_looks[noun]
            talk.mention_thing(noun)
            phrase = f"{look} {noun}" if look else noun
            return f"some {phrase}" if plural else article(phrase)
        if pronoun and talk.thing(plural=plural) == noun and dice.chance(0.45):
            talk.mention_thing(noun)
            return "them" if plural else "it"
        owner = self.state.owner.get(noun, "")
        if owner and owner != self.shy and dice.chance(0.35):
            text = self._owned(noun, owner)
        elif talk.looks[noun] and dice.chance(0.25):
            text = f"the {talk.looks[noun]} {noun}"
        else:
            text = f"the {noun}"
            if relative and not self.deep and not self.speaker and dice.chance(0.2):
                text += self._that(noun)
        talk.mention_thing(noun)
        return text

    def _owned(self, noun: str, owner: str) -> str:
        if owner == self.speaker:
            return f"my {noun}"
        if owner == self.hearer:
            return f"your {noun}"
        clear = self.talk.possessor(GENDER[owner], owner, self.mates)
        if clear and (self.mates[:1] == (owner,) or self.dice.chance(0.8)):
            return f"{_POSSESSIVE[GENDER[owner]]} {noun}"
        self.talk.mention_person(owner)
        return f"{owner}'s {noun}"

    def _that(self, noun: str) -> str:
        event = next((e for e in reversed(self.state.history) if e.thing == noun and e.kind in TOLD), None)
        if event is None or "&" in event.agent or event.agent == self.speaker:
            return ""
        mates, self.mates, self.deep = self.mates, (), True
        subject = self.person(event.agent, subject=True)
        self.mates = (event.agent,)
        text = f" that {subject} {self.predicate(event, 'perfect', gap=True)}"
        self.mates, self.deep, self.recalled = mates, False, True
        return text

    def place(self, noun: str) -> str:
        """A place as an object: "the market", "Florence"."""
        self.talk.mention_place(noun)
        return f"the {noun}" if noun in PLACES else noun

    def where(self, noun: str) -> str:
        """A place as an adverbial: "at the market", "there"."""
        if self.talk.there() == noun and self.dice.chance(0.5):
            self.talk.mention_place(noun)
            return "there"
        self.talk.mention_place(noun)
        return at(noun)

    # --- clauses ------------------------------------------------------------------------------------------------

    def frame(self, event: Event, form: str, shared: str = "", *, gap: bool = False) -> Frame:
        """A frame for this event, drawn among those that can tell it."""
        agent = "&" if "&" in event.agent else "A"
        told = Event(event.kind, agent, event.thing, event.other and "R", event.place and "L")
        return self.dice.pick(usable(self.split, told, form, shared, gap))

    def clause(
        self, event: Event, form: str = "past", *, acting: bool = False, place: bool = False, **options: Any
    ) -> str:
        """A clause with its subject (the agent, if `acting`); `place`: say where as well."""
        frame = self._phrase_frame(event) or self.frame(event, form, "A" if acting else "")
        self.mates = ()
        if frame.subject in "ATRX":
            key = (
                event.agent if frame.subject in "AX" else event.thing if frame.subject == "T" else event.other
            )
            subject = self._role(frame.subject, event, subject=True)
            person = self._person(frame.subject, key)
        else:
            subject, person = frame.subject, "p" if frame.plural else "s"
        return f"{subject} {self._predicate(frame, event, form, person, place=place, **options)}"

    def predicate(self, event: Event, form: str = "past", *, gap: bool = False, **options: Any) -> str:
        """A clause without its subject, which is the agent; `gap`: without its thing, too."""
        frame = self._phrase_frame(event) or self.frame(event, form, "A", gap=gap)
        if gap:
            frame = frame._replace(tail=tuple(symbol for symbol in frame.tail if symbol != "T"))
        return self._predicate(frame, event, form, self._person("A", event.agent), **options)

    def _inner(self, symbol: str, outer: Event) -> str:
        event, form = self.inner
        deep, self.deep = self.deep, True
        if symbol == "TO":
            self.mates = tuple(outer.agent.split("&"))
            text = self.predicate(event, "infinitive")
        else:
            text = f"that {self.clause(event, form)}"
        self.deep = deep
        return text

    def _phrase_frame(self, event: Event) -> Frame | None:
        if event.kind == "scene":
            return self.dice.pick(_SCENES[event.detail])
        return _DOINGS[event.detail] if event.kind == "do" else None

    def _person(self, role: str, key: str) -> str:
        if key == self.speaker and key:
            return "i"
        plural = "&" in key or (key == self.hearer and key) or (role == "T" and THINGS[key].plural)
        return "p" if plural else "s"

    def _role(self, role: str, event: Event, *, subject: bool, last: bool = True) -> str:
        if role == "T":
            self.shy = event.other  # "gave Anna the key", not "gave Anna Anna's key"
            pronoun = not THINGS[event.thing].plural if subject else not self.particle
            return self.thing(event.thing, pronoun=pronoun, relative=last)
        if role == "L":
            return self.place(event.place)
        if role == "X":
            return event.agent if subject else event.other
        key = event.agent if role == "A" else event.other
        passive_agent = role == "A" and not subject  # "by Anna", not "by her"
        text = self.person(key, subject=subject, plain=passive_agent)
        self.mates = (*self.mates, *key.split("&"))
        return text

    def _predicate(
        self, frame: Frame, event: Event, form: str, person: str, *, negative: bool = False, manner: str = "",
        place: bool = False, known: bool = False,
    ) -> str:  # fmt: skip
        self.recalled = False
        verb = self.dice.pick(allowed_verbs(self.split, frame, event.thing))
        parts = [group(verb, form, person, negative=negative, passive=frame.passive)]
        self.particle = verb.endswith((" up", " back"))  # "gave back the key", not "gave back it"
        before = (
            bool(manner) and form == "past" and not frame.passive and verb != "be" and self.dice.chance(0.5)
        )
        if before:
            parts.insert(0, manner)
        indefinite = False
        for symbol in frame.tail:
            self.particle = self.particle or symbol == "R"  # nor "gave him it"
            if symbol in "ATRLX":
                word = self._role(symbol, event, subject=False, last=symbol == frame.tail[-1])
            elif symbol == "@":
                word = self.where(event.place)
            elif symbol == "a":
                indefinite = True
                continue
            else:
                word = event.detail if symbol in _DETAILS else symbol
                word = self._inner(symbol, event) if symbol in ("THAT", "TO") else word
                word = self.dice.pick(TRAITS) if symbol == "TRAIT" else word
                word = article(word) if indefinite else word
                indefinite = False
            parts.append(word)
        if manner and not before:
            parts.append(manner)
        place = place and bool(event.place) and not self.recalled  # not "... left in the barn in the barn"
        if place:
            parts.append(self.where(event.place))
        roles = {frame.subject, *frame.tail}
        if known or negative:
            self.told.append(Event("known"))
        elif not self.deep:
            where = event.place if place or roles & {"L", "@"} else ""
            other = event.other if "R" in roles or "X" in frame.tail else ""
            detail = event.detail if roles & _DETAILS or event.kind in ("do", "scene") else ""
            self.told.append(event._replace(place=where, other=other, detail=detail))
        return " ".join(parts)


_DETAILS = frozenset(("FEEL", "SKY", "JOB"))
_DOINGS = {frame.name.split(":", 1)[1]: frame for frame in BY_KIND["do"]}
_SCENES = {
    key: tuple(frame for frame in BY_KIND["scene"] if f"{frame.subject} {frame.verbs[0]}" == key)
    for key in {f"{frame.subject} {frame.verbs[0]}" for frame in BY_KIND["scene"]}
}
