"""Sentences beside the plot, all of them true: mood, talk, reports, plans, what is not so."""

from zoo.data.world.english import TOLD
from zoo.data.world.grammar import QUESTIONS, SPEAK
from zoo.data.world.listed import listed
from zoo.data.world.meaning import Event
from zoo.data.world.nouns import THINGS
from zoo.data.world.telling import Teller
from zoo.data.world.verbs import inflect

_INTENDED = frozenset(listed("go search give return help find take show repair make"))


class Asides(Teller):
    """A teller who can pause."""

    def colour(self, mood: str) -> None:
        """A sentence of its own for a word of the mood (or for two)."""
        english, dice, people = self.english, self.dice, self.speakers()
        kind = dice.pick(
            ("sky", "scene", "feel", "feel", "doing", "both", "both") if people else ("sky", "scene")
        )
        if kind == "feel":
            self.say("plain", self.clause(self.feeling(dice.pick(people), mood)))
        elif kind == "doing":
            relation = dice.pick(("while", "and", "semicolon", "during"))
            pair = dice.shuffled((self.scene(mood), self.doing(dice.pick(people))))
            self.say(relation, *[english.clause(event, "progressive") for event in pair])
        elif kind == "both" and self.deck:
            relation = dice.pick(("and", "semicolon", "because", "when", "so"))
            other = (self.sky if dice.chance(0.4) else self.scene)(self.deck.pop())
            feeling = self.feeling(dice.pick(people), mood)
            pair = [other, feeling] if relation in ("when", "so") else [feeling, other]
            self.say(relation, *[english.clause(event) for event in pair])
        elif kind == "scene":
            self.say("plain", english.clause(self.scene(mood), dice.pick(("past", "progressive"))))
        else:
            self.say("plain", english.clause(self.sky(mood)))

    def aside(self) -> None:
        """A sentence that recalls, reports, denies, asks or intends."""
        kinds = (
            self._report,
            self._report,
            self._deny,
            self._quote,
            self._quote,
            self._ask,
            self._intend,
            self._intend,
        )
        if not self.dice.pick(kinds)():
            self.busy()

    def busy(self) -> None:
        """Somebody is at work (before anybody is introduced, the first of the cast is)."""
        name = self.dice.pick(self.speakers() or [self.plan.cast["A"]])
        self.say(
            "plain",
            self.clause(self.doing(name), self.dice.pick(("past", "progressive")), acting=True),
            late=True,
        )

    def closing(self) -> None:
        """Who has the thing in the end, perhaps with what goes on."""
        english, dice = self.english, self.dice
        held = [(holder, noun) for noun, holder in self.state.holder.items() if holder and "&" not in holder]
        if held:
            front = dice.pick(("in the end, ", "at last, ", "finally, ", ""))
            relation = dice.pick(("plain", "and", "semicolon", "during", "but"))
            parts = [english.clause(Event("have", *dice.pick(held)))]
            if relation == "but" and (lacking := self.lacking(Event("none"))) is not None:
                parts.append(english.clause(lacking, negative=True))
            elif relation != "plain":
                relation = "and" if relation == "but" else relation
                parts.append(english.clause(self.doing(dice.pick(self.speakers())), "progressive"))
            self.say(relation, *parts, front=front)

    def lacking(self, event: Event) -> Event | None:
        """Somebody in an event (or anybody) who does not have something."""
        pairs = [(name, noun) for noun, holder in self.state.holder.items() for name in self.speakers()
                 if holder != name and noun != event.thing]  # fmt: skip
        near = [pair for pair in pairs if pair[0] in (event.agent, event.other)]
        return Event("have", *self.dice.pick(near or pairs)) if pairs else None

    def _facts(self) -> list[Event]:
        return [event for event in self.state.history if event.kind in TOLD]

    def _hearers(self, speaker: str) -> list[str]:
        here = self.state.place_of(speaker)
        return [
            name
            for name in self.speakers()
            if name != speaker and here and self.state.where.get(name) == here
        ]

    def _report(self) -> bool:
        """Somebody says or knows something that has happened."""
        dice, facts, speakers = self.dice, self._facts(), self.speakers()
        if not facts or not speakers:
            return False
        fact, speaker = dice.pick(facts), dice.pick(speakers)
        hearers = [name for name in self._hearers(speaker) if name != fact.agent]  # who did it knows
        kind = "tell" if hearers and dice.chance(0.5) else dice.pick(("know", "say"))
        self.english.inner = (fact, "perfect")
        self.say(
            "plain",
            self.english.clause(Event(kind, speaker, other=dice.pick(hearers) if kind == "tell" else "")),
        )
        return True

    def _intended(self) -> list[Event]:
        """What will happen soon, to people and with things that are known."""
        talk = self.talk
        return [
            event
            for event in self.beats[:2]
            if event.kind in _INTENDED
            and event.agent in talk.people
            and all(name in talk.people for name in event.other.split("&") if name)
            and (not event.thing or event.thing in talk.looks)
        ]

    def _intend(self) -> bool:
        """Somebody wants to do what will happen soon."""
        intended = self._intended()
        if intended:
            event = self.dice.pick(intended)
            self.english.inner = (event, "infinitive")
            self.say("plain", self.english.clause(Event("want", event.agent)))
        return bool(intended)

    def _deny(self) -> bool:
        """Somebody does not have something; or where it lies."""
        lying = [Event("lie", thing=noun, place=place) for noun, place in self.state.spot.items() if place]
        if lying and self.dice.chance(0.5):
            self.say("plain", self.english.clause(self.dice.pick(lying)))
            return True
        lacking = self.lacking(Event("none"))
        if lacking is not None:
            self.say("plain", self.english.clause(lacking, negative=True))
        return lacking is not None

    def _quote(self) -> bool:
        """Somebody says what has happened, or what will be done next."""
        dice, soon = self.dice, self._intended()
        past = [event for event in self._facts() if event.agent in self.speakers()]
        if soon and (not past or dice.chance(0.4)):
            self._speak(dice.pick(soon), "will")
        elif past:
            self._speak(dice.pick(past), "present perfect")
        return bool(soon or past)

    def _speak(self, event: Event, form: str) -> None:
        english, dice, speaker = self.english, self.dice, event.agent
        relation, hearers = dice.pick(("quote", "quote to", "said", "said to")), self._hearers(speaker)
        if not hearers:
            relation = relation.split()[0]
        english.mates = ()
        subject = english.person(speaker, subject=True, plain=relation == "quote")
        hearer = dice.pick(hearers) if relation.endswith("to") else ""
        english.mates = (speaker,)
        other = english.person(hearer, subject=False) if hearer else ""
        english.speaker, english.hearer = speaker, hearer
        words = english.clause(event, form)
        english.speaker = english.hearer = ""
        english.told.clear()
        said = inflect(dice.pick(SPEAK), "past")
        self.say(relation, front="", N=subject, K=subject, M=other, said=said, Q=words[0].upper() + words[1:])

    def _ask(self) -> bool:
        """Somebody asks about a thing that somebody else has, or nobody."""
        english, dice = self.english, self.dice
        wanted = [
            (n, noun) for noun, holder in self.state.holder.items() for n in self.speakers() if holder != n
        ]
        if not wanted:
            return False
        speaker, noun = dice.pick(wanted)
        hearers = self._hearers(speaker) if dice.chance(0.6) else []
        english.mates = ()
        subject = english.person(speaker, subject=True, plain=not hearers)
        hearer = dice.pick(hearers) if hearers else ""
        english.mates = (speaker,)
        other = english.person(hearer, subject=False) if hearer else ""
        english.speaker, english.hearer = speaker, hearer
        thing = english.thing(noun)
        english.speaker = english.hearer = ""
        words = QUESTIONS[dice.pick(tuple(QUESTIONS))].replace("T", thing)
        words = words.replace("BE", "are" if THINGS[noun].plural else "is")
        relation = "asked for" if hearer else "asked"
        self.say(relation, front="", N=subject, K=subject, M=other, Q=words[0].upper() + words[1:])
        return True
