"""Minimal corruptions of a story: one change that makes it wrong. The recogniser is measured by how many it rejects.

Form: a verb that does not agree, a wrong verb form, a pronoun in the wrong case, a wrong article.
Content: another name, gender or thing in one place, giver and receiver exchanged, a step of the story left out.
"""

import re
from collections.abc import Callable

from zoo.data.world.dice import Dice
from zoo.data.world.grammar import GROUPS
from zoo.data.world.listed import listed
from zoo.data.world.meaning import Event, Noun
from zoo.data.world.names import GENDER, PEOPLE
from zoo.data.world.nouns import THINGS
from zoo.data.world.state import State
from zoo.data.world.story import Story
from zoo.data.world.times import HOURS, Clock
from zoo.data.world.verbs import inflect

_AGREEMENT = {"was": "were", "were": "was", "is": "are", "are": "is", "has": "have", "am": "is"}
_CASE = {"he": "him", "him": "he", "she": "her", "they": "them", "I": "me", "me": "I"}
_GENDER = {
    "he": "she",
    "she": "he",
    "him": "her",
    "his": "her",
    "her": "his",
    "He": "She",
    "She": "He",
    "His": "Her",
}
_ARTICLE = {"a": "an", "an": "a", "A": "An", "An": "A"}
_PAST = {}
for _says in GROUPS.values():
    for _one in _says:
        if (
            _one.form == "past"
            and not _one.negative
            and not _one.passive
            and _one.verb != "be"
            and " " not in _one.verb
        ):
            _PAST[inflect(_one.verb, "past")] = inflect(_one.verb, "ing")
_NOBODY = Noun("name", "", "s")
_PRONE = frozenset(listed("give return steal sell"))  # kinds in which the two people cannot change places


def _exchange(text: str, table: dict[str, str], dice: Dice) -> str:
    """One word of the table, chosen among all that stand in the text, replaced."""
    found = [m for m in re.finditer(r"[A-Za-z]+", text) if m.group() in table]
    if not found:
        return ""
    hit = dice.pick(found)
    return text[: hit.start()] + table[hit.group()] + text[hit.end() :]


def _name(story: Story, dice: Dice) -> str:
    """One of several mentions of somebody becomes a mention of somebody whom the story does not know."""
    cast = {story.plan.cast[role] for role in "ABC"}
    several = [name for name in sorted(cast) if len(re.findall(rf"\b{name}\b", story.text)) > 1]
    strangers = [name for name in PEOPLE if name not in cast]
    return _exchange(story.text, dict.fromkeys(several, dice.pick(strangers)), dice)


def _other_name(story: Story, dice: Dice) -> str:
    """In one sentence somebody's name becomes that of another in the story, so that what happens can no longer happen.

    That it cannot is decided by replaying the changed events, without looking at the text.
    """
    people = sorted({name for _, event in story.log for name in event.agent.split("&")} - {story.plan.riddle})
    changes = []
    for at, (i, event) in enumerate(story.log):
        for other in people:
            changed = event._replace(agent=other)
            named = other not in (event.agent, event.other) and _names_agent(story, i, event)
            if named and not _possible(story, at, changed):
                changes.append((i, event.agent, other))
    if not changes:
        return ""
    i, name, other = dice.pick(changes)
    return " ".join(
        re.sub(rf"\b{name}\b", other, line) if j == i else line for j, line in enumerate(story.lines)
    )


def _names_agent(story: Story, i: int, event: Event) -> bool:
    """Whether a sentence tells this event only, and names who acts in it, and names them once."""
    once = len(re.findall(rf"\b{event.agent}\b", story.lines[i])) == 1
    clauses = story.sentences[i].meaning.clauses
    named = any(
        clause.kind == event.kind and dict(clause.nouns).get("A", _NOBODY).key == event.agent
        for clause in clauses
    )
    return once and named and [number for number, _ in story.log].count(i) == 1


def _possible(story: Story, at: int, changed: Event) -> bool:
    """Whether the events of the story, with this one changed, can all happen."""
    state = State()
    for i, (_, event) in enumerate(story.log):
        event = changed if i == at else event
        if state.refuse(event):
            return False
        state.apply(event)
    return True


def _gender(story: Story, dice: Dice) -> str:
    """One pronoun changes its gender, in a story in which nobody is of that gender."""
    genders = {GENDER[name] for name in GENDER if re.search(rf"\b{name}\b", story.text)}
    return _exchange(story.text, _GENDER, dice) if len(genders) == 1 else ""


def _roles(story: Story, dice: Dice) -> str:
    """In a sentence about one transfer, the two people change places (their names, where both are named)."""
    sentences = list(story.lines)
    alone = [i for i, _ in story.log if sum(number == i for number, _ in story.log) == 1]
    steps = [(i, e) for i, e in story.log if i in alone and e.kind in _PRONE and _named_once(sentences[i], e)]
    if not steps:
        return ""
    i, event = dice.pick(steps)
    swap = {event.agent: event.other, event.other: event.agent}
    sentences[i] = re.sub("|".join(swap), lambda m: swap[m.group()], sentences[i])
    return " ".join(sentences)


def _named_once(sentence: str, event: Event) -> bool:
    found = re.findall("|".join(GENDER), sentence)
    if event.agent not in GENDER or event.other not in GENDER:
        return False
    return GENDER[event.agent] == GENDER[event.other] and sorted(found) == sorted([event.agent, event.other])


def _omitted(story: Story, dice: Dice) -> str:
    """The sentence in which the thing first comes into somebody's hands is left out."""
    first = next(
        (i for i, e in story.log if e.kind in ("have", "find", "make") and i < len(story.lines) - 1), None
    )
    return " ".join(line for i, line in enumerate(story.lines) if i != first) if first is not None else ""


def _thing(story: Story, dice: Dice) -> str:
    """One of several mentions of the thing becomes another thing of the same number."""
    thing = story.plan.cast["T"]
    if len(re.findall(rf"\b{thing}\b", story.text)) < 2:
        return ""
    others = [
        noun for noun in THINGS if noun not in story.text and THINGS[noun].plural == THINGS[thing].plural
    ]
    return _exchange(story.text, {thing: dice.pick(others)}, dice)


def _time(story: Story, dice: Dice) -> str:
    """A time of day becomes dawn, after a later hour of the same day has been told."""
    clock, late = Clock(), []
    for i, sentence in enumerate(story.sentences):
        if clock.hour > HOURS["at dawn"] and sentence.meaning.front in HOURS:
            late.append((i, len(sentence.meaning.front)))
        for phrase in (sentence.meaning.front, *(clause.time for clause in sentence.meaning.clauses)):
            clock.advance(phrase)
    if not late:
        return ""
    at, length = dice.pick(late)
    return " ".join("At dawn" + line[length:] if i == at else line for i, line in enumerate(story.lines))


def _negation(story: Story, dice: Dice) -> str:
    """Somebody who does not have a thing is said to have it."""
    found = list(re.finditer(r"did not (have|keep|hold|carry|own)\b", story.text))
    if not found:
        return ""
    hit = dice.pick(found)
    return story.text[: hit.start()] + inflect(hit.group(1), "past") + story.text[hit.end() :]


CORRUPTIONS: dict[str, Callable[[Story, Dice], str]] = {
    "agreement": lambda story, dice: _exchange(story.text, _AGREEMENT, dice),
    "verb form": lambda story, dice: _exchange(story.text, _PAST, dice),
    "case": lambda story, dice: _exchange(story.text, _CASE, dice),
    "article": lambda story, dice: _exchange(story.text, _ARTICLE, dice),
    "gender": _gender,
    "stranger": _name,
    "other name": _other_name,
    "thing": _thing,
    "roles": _roles,
    "omission": _omitted,
    "time": _time,
    "negation": _negation,
}


def corrupt(story: Story, kind: str, seed: int) -> str:
    """The story with one corruption of a kind; "" where it offers none."""
    text = CORRUPTIONS[kind](story, Dice(seed))
    return text if text != story.text else ""
