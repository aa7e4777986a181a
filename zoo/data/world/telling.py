"""The common ground of telling: sentences written down, time, and the words that carry the mood."""

from zoo.data.world.dice import Dice
from zoo.data.world.english import English
from zoo.data.world.grammar import CONSTRUCTIONS
from zoo.data.world.listed import listed
from zoo.data.world.meaning import Event
from zoo.data.world.moods import FEELINGS, MANNERS, PLAIN_MANNERS, SCENES, SKIES
from zoo.data.world.nouns import ACTIVITIES
from zoo.data.world.plan import Plan
from zoo.data.world.times import END, FRONT, HOURS, LOOSE, NEXT_DAY, OPENERS, Clock

LONGEST = 12  # sentences
_BRISK = frozenset(listed("go give return put search follow take show make repair thank help wait do talk"))
_LOCAL = frozenset(listed("find lose meet talk do make break repair wait thank show take"))
_HOURS = sorted(HOURS, key=HOURS.__getitem__)
_LOOSE = tuple(phrase for phrase in LOOSE if phrase in FRONT)
_GOING_ON = tuple(phrase for phrase in _LOOSE if phrase not in ("at last", "finally", "in the end"))
_NEXT = tuple(NEXT_DAY)


class Teller:
    """One story being told. `sentences` and `log` (sentence number, event) are what it leaves behind."""

    def __init__(self, plan: Plan, dice: Dice) -> None:
        self.plan, self.dice = plan, dice
        self.english = English(dice, plan.split, plan.jobs, plan.looks)
        self.state, self.talk, self.clock = self.english.state, self.english.talk, Clock()
        self.beats = list(plan.beats)  # events still to be told
        self.deck = list(plan.deck)  # moods still to be shown
        self.riddle: dict[int, str] = {}  # after how many events the ambiguous name is due
        self.sentences: list[str] = []
        self.log: list[tuple[int, Event]] = []

    def say(
        self, relation: str, *parts: str, front: str | None = None, late: bool = False, **named: str
    ) -> None:
        """Write a sentence down, and let happen what it told.

        `front`: what stands before it; if None, a time by chance. `late`: that time may stand at its end instead.
        """
        text = CONSTRUCTIONS[relation].pattern.format_map(_Parts(parts, named))
        if front is None:
            phrase = self.time() if self.dice.chance(0.3 if self.sentences else 0.75) else ""
            if phrase in END and late and self.dice.chance(0.5):
                text = f"{text[:-1]} {phrase}."
            elif phrase:
                text = f"{phrase}, {text}"
        else:
            text = front + text
        self._happen(CONSTRUCTIONS[relation].order if len(self.english.told) > 1 else (0,))
        self.sentences.append(text[0].upper() + text[1:])
        self.talk.sentence += 1

    def _happen(self, order: tuple[int, ...]) -> None:
        """What the clauses of the sentence told happens, in the order of time."""
        told, self.english.told = self.english.told, []
        for step in order if told else ():
            if told[step].kind != "known":
                self.state.apply(told[step])
                self.log.append((len(self.sentences), told[step]))

    def time(self) -> str:
        """A phrase of time that does not turn the clock back."""
        dice, clock = self.dice, self.clock
        if not self.sentences:
            return dice.pick(OPENERS)
        if dice.chance(0.4):
            return dice.pick(_LOOSE if len(self.beats) < 3 else _GOING_ON)
        later = [phrase for phrase in _HOURS if HOURS[phrase] > clock.hour][:5]
        phrase = dice.pick(later if later and clock.hour < 19 else _NEXT)
        clock.advance(phrase)
        return phrase

    def crowded(self) -> bool:
        """Whether the story would grow too long if every event and every mood had a sentence of its own."""
        return len(self.sentences) + len(self.beats) + len(self.deck) + len(self.riddle) >= LONGEST - 1

    def manner(self, event: Event) -> str:
        """How it is done: a word of the mood, a plain one, or mostly nothing."""
        if event.kind not in _BRISK:
            return ""
        if self.deck and self.dice.chance(0.7 if self.crowded() else 0.35):
            return self.dice.pick(MANNERS[self.deck.pop()])
        return self.dice.pick(PLAIN_MANNERS) if self.dice.chance(0.15) else ""

    def clause(self, event: Event, form: str = "past", *, acting: bool = False) -> str:
        """A main clause, perhaps with its manner and its place."""
        manner = self.manner(event) if form == "past" else ""
        place = event.kind in _LOCAL and (event.kind == "do" or self.dice.chance(0.4))
        return self.english.clause(event, form, manner=manner, place=place, acting=acting)

    def speakers(self) -> list[str]:
        """The people whom the story has introduced."""
        return [name for name in self.talk.people if name != self.plan.riddle]

    # --- what is true besides the plot ----------------------------------------------------------------------------

    def scene(self, mood: str) -> Event:
        """Something to see or hear."""
        return Event("scene", detail=" ".join(self.dice.pick(SCENES[mood])))

    def sky(self, mood: str) -> Event:
        """The weather."""
        return Event("sky", detail=self.dice.pick(SKIES[mood]))

    def feeling(self, name: str, mood: str) -> Event:
        """How somebody feels."""
        return Event("feel", name, detail=self.dice.pick(FEELINGS[mood]))

    def doing(self, name: str) -> Event:
        """What somebody is at."""
        return Event("do", name, detail=self.dice.pick(ACTIVITIES[self.plan.topic]))


class _Parts(dict[str, str]):
    """The parts of a sentence for `str.format_map`: in turn for the clauses, by name for the rest."""

    def __init__(self, parts: tuple[str, ...], named: dict[str, str]) -> None:
        super().__init__(named)
        self.parts = iter(parts)

    def __missing__(self, symbol: str) -> str:
        return next(self.parts)
