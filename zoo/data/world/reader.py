"""Reads a story, keeping who is who, who holds what, who is where, what happened; stops at the first fault."""

from collections.abc import Callable
from typing import ClassVar

from zoo.data.world.discourse import Discourse
from zoo.data.world.grammar import BY_NAME, CONSTRUCTIONS, SETTLING
from zoo.data.world.meaning import Clause, Event, Meaning, Noun
from zoo.data.world.names import AMBIGUOUS, GENDER
from zoo.data.world.parse import parse, parse_headline
from zoo.data.world.state import State, people
from zoo.data.world.times import Clock

_GENDER_OF = {"he": "m", "she": "f", "his": "m", "her": "f"}
# nothing to check but their nouns
BACKGROUND = frozenset(("scene", "sky", "think", "know", "say", "tell", "where", "want"))


class Fault(Exception):
    """What is wrong with a sentence in its story."""


class Reader:
    """Reads a story sentence by sentence, keeping what it has been told."""

    def __init__(self) -> None:
        self.state, self.talk, self.clock = State(), Discourse(), Clock()
        self.open: dict[str, set[str]] = {}  # ambiguous names that are not settled yet: what they may be
        self.log: list[tuple[int, Event]] = []
        self.mates: tuple[str, ...] = ()
        self.speaker = self.hearer = ""
        self.recalling = False  # what is read now is held against the story instead of going on with it

    def read(self, sentence: str) -> None:
        """One more sentence; raises `Fault`."""
        meanings = parse(sentence) or (parse_headline(sentence) if self.recalling else ())
        if not meanings:
            raise Fault("not a sentence of the language")
        self._sentence(meanings[0])
        self.talk.sentence += 1

    def _sentence(self, meaning: Meaning) -> None:
        construction = CONSTRUCTIONS[meaning.relation]
        self._time(meaning.front)
        if meaning.speech:
            self._speech(meaning)
            return
        events: list[Event] = []
        for i, clause in enumerate(meaning.clauses):
            agent = events[0].agent if i and not _has_subject(clause) else ""
            events.append(self._clause(clause, agent))
        if meaning.relation == "having":
            events[0] = events[0]._replace(agent=events[1].agent)
        if meaning.relation == "where":
            events[1] = events[1]._replace(place=events[0].place)
        for clause in meaning.clauses:
            self._time(clause.time)
        order = construction.order if len(construction.order) == len(events) else range(len(events))
        for step in order:
            self._happen(meaning.clauses[step], events[step], known=step in construction.known)

    def _time(self, phrase: str) -> None:
        if phrase:
            if fault := self.clock.refuse(phrase, self.talk.sentence):
                raise Fault(fault)
            self.clock.advance(phrase)

    def _happen(self, clause: Clause, event: Event, *, known: bool) -> None:
        if self.recalling:
            if self.state.true(event, now=False) == clause.negative:
                raise Fault(f"it {'happened' if clause.negative else 'never happened'} that {_told(event)}")
            return
        if event.kind in BACKGROUND:
            if clause.inner is not None:
                self._together(event)
            return
        if clause.negative:
            if self.state.true(event):
                raise Fault(f"it is true that {_told(event)}")
            return
        if known and clause.form == "perfect":
            if not self.state.true(event, now=False):
                raise Fault(f"it never happened that {_told(event)}")
            return
        if fault := self.state.refuse(event):
            raise Fault(fault)
        self.state.apply(event)
        self.log.append((self.talk.sentence, event))

    def _together(self, event: Event) -> None:
        if fault := self.state.refuse(event):
            raise Fault(fault)

    def _speech(self, meaning: Meaning) -> None:
        self.mates = ()
        speaker = self._noun(meaning.speech[0])
        self.mates = (speaker,)
        hearer = self._noun(meaning.speech[1]) if len(meaning.speech) > 1 else ""
        if hearer and (fault := self.state.refuse(Event("talk", speaker, other=hearer))):
            raise Fault(fault)
        self.speaker, self.hearer = speaker, hearer
        clause = meaning.clauses[0]
        event = self._clause(clause, "")
        self.speaker = self.hearer = ""
        if clause.form == "present perfect":
            self._happen(clause._replace(form="perfect"), event, known=True)
        if clause.kind == "where" and self.state.holder.get(event.thing) == speaker:
            raise Fault(f"{speaker} has the {event.thing}")

    # --- clauses and nouns --------------------------------------------------------------------------------------

    def _clause(self, clause: Clause, agent: str) -> Event:
        """The event of a clause, its nouns resolved in the order of the text."""
        roles = {"A": agent}
        self.mates = tuple(people(agent))
        for role, noun in clause.nouns:
            roles[role] = key = self._name(noun.key, clause.kind) if role == "X" else self._noun(noun)
            if role in ("A", "R"):
                self.mates = (*self.mates, *people(key))
        if clause.inner is not None:
            if clause.kind == "want":  # whether it comes to that is not said
                self._clause(clause.inner, roles["A"])
            else:
                self._recall(clause.inner)
        if clause.kind in SETTLING:
            roles["A"] = roles["X"]
        elif "X" in roles:
            roles["R"] = roles["X"]
        place = roles.get("@") or roles.get("L", "")
        detail = clause.detail or _phrase(clause)
        return Event(clause.kind, roles["A"], roles.get("T", ""), roles.get("R", ""), place, detail)

    def _recall(self, clause: Clause, agent: str = "", thing: str = "") -> None:
        """A relative or reported clause: it must have happened."""
        mates = self.mates
        event = self._clause(clause, agent)
        event = event._replace(thing=event.thing or thing)
        self.mates = mates
        if not self.state.true(event, now=clause.form != "perfect"):
            raise Fault(f"it never happened that {_told(event)}")

    def _name(self, name: str, kind: str) -> str:
        """A name that may be several things, where only the kind of clause says which."""
        if name not in AMBIGUOUS:
            return self._known(name)
        can = {"person", AMBIGUOUS[name][1]}
        self.open[name] = self.open.get(name, can) & ({kind} if kind in SETTLING else can)
        if not self.open[name]:
            raise Fault(f"{name} is no {kind}")
        return name

    def _known(self, name: str) -> str:
        if name in AMBIGUOUS:
            if name not in self.open or "person" not in self.open[name]:
                raise Fault(f"nobody called {name} is known")
            self.open[name] = {"person"}
        elif name not in self.talk.people:
            raise Fault(f"{name} has not been introduced")
        self.talk.mention_person(name) if name not in AMBIGUOUS else None
        return name

    def _noun(self, noun: Noun) -> str:
        key = self._WAYS[noun.how](self, noun)
        if not key:
            raise Fault(f"'{noun.key}' is not clear")
        return key

    def _speaker(self, noun: Noun) -> str:
        return self.speaker

    def _hearer(self, noun: Noun) -> str:
        return self.hearer

    def _pronoun(self, noun: Noun) -> str:
        name = self.talk.person(_GENDER_OF[noun.key], self.mates)
        if name:
            self.talk.mention_person(name)
        return name

    def _they(self, noun: Noun) -> str:
        pair = self.talk.they()
        if pair:
            self.talk.mention_pair(pair)
        return pair

    def _pair(self, noun: Noun) -> str:
        for name in people(noun.key):
            self._known(name)
        if len(set(people(noun.key))) < 2:
            raise Fault(f"{noun.key} twice")
        self.talk.mention_pair(noun.key)
        return noun.key

    def _person_name(self, noun: Noun) -> str:
        name = self._known(noun.key)
        if name in self.mates:
            raise Fault(f"{name} twice in a clause")
        if noun.relative is not None:
            self.mates = (name,)
            self._recall(noun.relative, name)
            self.mates = ()
        return name

    def _job(self, noun: Noun) -> str:
        found = [name for name, job in self.state.job.items() if job == noun.key]
        if len(found) != 1:
            raise Fault(f"the {noun.key} is not known")
        return self._person_name(noun._replace(key=found[0]))

    def _new(self, name: str) -> None:
        if name in self.talk.people or name in AMBIGUOUS:
            raise Fault(f"{name} is known already")

    def _title(self, noun: Noun) -> str:
        if self.recalling:
            if self.state.job.get(noun.key) != noun.look:
                raise Fault(f"{noun.key} is not a {noun.look}")
            return self._known(noun.key)
        self._new(noun.key)
        return self._introduce(noun)

    def _introduce(self, noun: Noun) -> str:
        if noun.look in self.state.job.values():
            raise Fault(f"there is a {noun.look} already")
        self.state.job[noun.key] = noun.look
        self.talk.mention_person(noun.key)
        return noun.key

    def _kin(self, noun: Noun) -> str:
        if self.recalling:
            return self._known(noun.key)
        self._new(noun.key)
        owner = (
            self.talk.person(_GENDER_OF[noun.owner]) if noun.owner in _GENDER_OF else self._known(noun.owner)
        )
        if not owner:
            raise Fault(f"'{noun.owner}' is not clear")
        self.talk.mention_person(owner)
        self.talk.mention_person(noun.key)
        return noun.key

    def _a(self, noun: Noun) -> str:
        if self.recalling:
            return self._the(noun)
        if noun.key in self.talk.looks:
            raise Fault(f"there is a {noun.key} already")
        self.talk.looks[noun.key] = noun.look
        self.talk.mention_thing(noun.key)
        return noun.key

    def _it(self, noun: Noun) -> str:
        key = self.talk.thing(plural=noun.number == "p")
        if key:
            self.talk.mention_thing(key)
        return key

    def _the(self, noun: Noun) -> str:
        if noun.key not in self.talk.looks:
            raise Fault(f"no {noun.key} has been mentioned")
        if noun.look and noun.look != self.talk.looks[noun.key]:
            raise Fault(f"the {noun.key} is not {noun.look}")
        if noun.relative is not None:
            mates, self.mates = self.mates, ()
            self._recall(noun.relative, "", noun.key)
            self.mates = mates
        self.talk.mention_thing(noun.key)
        return noun.key

    def _poss(self, noun: Noun) -> str:
        if noun.key not in self.talk.looks:
            raise Fault(f"no {noun.key} has been mentioned")
        owner = self.state.owner.get(noun.key, "")
        if noun.owner in _GENDER_OF:
            fits = (
                owner
                and GENDER[owner] == _GENDER_OF[noun.owner]
                and self.talk.possessor(GENDER[owner], owner, self.mates)
            )
        else:
            fits = owner == {"my": self.speaker, "your": self.hearer}.get(noun.owner, noun.owner)
            if fits and noun.owner in GENDER:
                self.talk.mention_person(owner)
        if not owner or not fits:
            raise Fault(f"{noun.owner} {noun.key}: it is {owner or 'nobody'}'s")
        self.talk.mention_thing(noun.key)
        return noun.key

    def _place(self, noun: Noun) -> str:
        self.talk.mention_place(noun.key)
        return noun.key

    def _there(self, noun: Noun) -> str:
        place = self.talk.there()
        if place:
            self.talk.mention_place(place)
        return place

    _WAYS: ClassVar[dict[str, Callable[["Reader", Noun], str]]] = {
        "name": _person_name, "pronoun": _pronoun, "they": _they, "pair": _pair, "job": _job, "title": _title,
        "called": _title, "kin": _kin, "speaker": _speaker, "hearer": _hearer, "a": _a, "it": _it, "the": _the,
        "poss": _poss, "place": _place, "there": _there,
    }  # fmt: skip


def _has_subject(clause: Clause) -> bool:
    return len(BY_NAME[clause.frame].subject) > 1 or (
        bool(clause.nouns) and clause.nouns[0][0] == BY_NAME[clause.frame].subject
    )


def _phrase(clause: Clause) -> str:
    return clause.frame.split(":", 1)[1] if clause.kind == "do" else ""


def _told(event: Event) -> str:
    return " ".join(part for part in event if part)
