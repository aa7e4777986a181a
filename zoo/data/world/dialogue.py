"""A dialogue about a story: one asks, the other answers in whole sentences that the story bears out."""

from zoo.data.world.dice import Dice
from zoo.data.world.english import TOLD, English
from zoo.data.world.meaning import Event
from zoo.data.world.retell import Retelling

_ABOUT_THING = (
    "What happened to the {0}?", "Do you remember the {0}?", "Tell me about the {0}.",
    "I missed the part with the {0}.",
    "What was the matter with the {0}?", "How did it go on with the {0}?",
)  # fmt: skip
_ABOUT_PERSON = (
    "And {0}?", "What did {0} do?", "Who was {0}?", "Tell me more about {0}.", "What do you know about {0}?",
    "Why do you speak of {0}?", "What was {0} doing all that time?",
)  # fmt: skip
_THANKS = (
    "Thank you, now I see.",
    "So that is how it was.",
    "What a story!",
    "I would not have thought so.",
    "I see.",
)
_JOINS = ("and", "then", "semicolon")


def _answer(retelling: Retelling, dice: Dice, events: list[Event]) -> str:
    """Two to four of the events, in their order, as one sentence or two."""
    count = min(len(events), dice.pick((2, 3, 3, 4)))
    first = int(dice.random() * (len(events) - count + 1))
    told = events[first : first + count]
    sentences = []
    while told:
        pair, told = told[:2], told[2:]
        sentences.append(retelling.sentence(*pair, relation=dice.pick(_JOINS) if len(pair) > 1 else "plain"))
    return " ".join(sentences)


def dialogue(dice: Dice, split: str, told: English, log: tuple[tuple[int, Event], ...]) -> tuple[str, ...]:
    """Turns in alternation, question first; the answers (every second turn) are true in the story."""
    retelling = Retelling(dice, split, told)
    events = [event for _, event in log if event.kind in TOLD or event.kind in ("go", "meet", "have", "at")]
    things = list(dict.fromkeys(event.thing for event in events if event.thing))
    people = list(dict.fromkeys(name for event in events for name in event.agent.split("&") if name))
    topics = [
        (dice.pick(_ABOUT_THING).format(thing), [e for e in events if e.thing == thing]) for thing in things
    ]
    topics += [
        (dice.pick(_ABOUT_PERSON).format(n), [e for e in events if n in (*e.agent.split("&"), e.other)])
        for n in people
    ]
    topics = [(question, about) for question, about in topics if len(about) > 1] or topics
    turns: list[str] = []
    for question, about in dice.shuffled(topics)[: dice.pick((1, 2, 2, 3))]:
        turns += [question, _answer(retelling, dice, about)]
    return (*turns, dice.pick(_THANKS)) if turns and dice.chance(0.4) else tuple(turns)
