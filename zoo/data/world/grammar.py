"""The grammar of English in the world, as data: frames of verbs and constructions of sentences.

`english` writes from these tables and `parse` reads with them, so that they cannot disagree.

A frame is `kind | verbs | subject | what follows the verb`. Roles: A agent, T thing, R other person, L place,
X a name that may be anything, @ "at the place", FEEL, SKY, JOB; THAT is a clause, TO an infinitive;
lower-case words stand for themselves.
"""

from typing import NamedTuple

from zoo.data.world.moods import FEELINGS, MANNERS, PLAIN_MANNERS, SCENES, SKIES
from zoo.data.world.nouns import ACTIVITIES
from zoo.data.world.verbs import read_groups

GO = "go, walk, run, hurry, rush, stroll, wander, march, ride, cycle, travel, return"
_FRAMES = f"""
go | {GO} | A | to L | x5
go | come | A | to L
go | reach | A | L
go | arrive | A | @
find | find, discover, spot, come across | A | T
find | find, discover, spot, come across | T | by A | passive
take | pick up, collect, fetch | A | T
lose | lose, drop, misplace, mislay | A | T
lose | drop, misplace | T | by A | passive
put | leave, hide, forget, store | A | T @
put | leave, hide, forget | T | @ by A | passive
give | give, hand, pass, send, lend, bring | A | T to R | x2
give | give, hand, pass, lend, bring | A | R T | x2
give | give, hand, pass, lend, bring | T | to R by A | passive
give | get, receive, borrow, accept | R | T from A
return | return, give back, bring back, carry back | A | T to R
return | bring, carry | T | back to R by A | passive
return | return | T | to R by A | passive
return | get back, win back | R | T from A
sell | sell | A | T to R
sell | buy | R | T from A
steal | steal, snatch, grab, take | A | T from R
steal | steal, snatch, take | T | from R by A | passive
have | have, have, have, keep, hold, carry, own | A | T
make | make, build, craft, design | A | T
make | make, build, craft, design | T | by A | passive
break | break, damage, crack, ruin | A | T
break | break, damage, crack, ruin | T | by A | passive
repair | repair, mend, fix, restore | A | T
repair | repair, mend, fix, restore | T | by A | passive
meet | meet, greet, notice, see, join | A | R
meet | greet, notice, see, join | R | by A | passive
search | look for, search for, hunt for, seek | A | T
ask | ask, question | A | R about T
show | show | A | R T
show | show | A | T to R
thank | thank, hug, praise | A | R
thank | thank | A | R for T
wait | wait | A | for R
follow | follow, chase | A | R to L
help | help, comfort, encourage | A | R
talk | talk, chat, joke, laugh | A | with R
feel | be, feel, look, seem | A | FEEL | x4
feel | grow, become | A | more and more FEEL
feel | feel, be | A | FEEL all day
feel | look, seem, be | A | rather FEEL
feel | feel, become | A | FEEL without knowing why
feel | be, seem | A | FEEL that day
feel | look, seem | A | FEEL to everyone
feel | be, feel | A | so FEEL that nobody spoke
intro | be | A | a TRAIT JOB
intro | work | A | as a JOB
job | be | A | a JOB
live | live | A | near L
at | be, stay, wait, stand, sit, work | A | @
at | spend | A | the day @
at | have | A | work to do @
lie | be, lie | T | @
belong | belong | T | to R
know | know, remember, believe, hear, notice | A | THAT
want | want, hope, plan, decide, promise | A | TO
say | say, explain, whisper, announce, report | A | THAT
tell | tell, inform, remind, assure | A | R THAT
think | think of, talk about, dream of, ask about, speak of | A | X
think | think of, talk about, dream of | A | X all day
think | think of, talk of, hear of | A | X for the first time in years
think | miss, love | A | X more than ever
think | mention, remember | A | X
think | forget, leave | A | X long ago
think | tell | A | everyone about X
think | sing, write | A | a song about X
think | hear, read, know | A | a story about X
think | have, keep, paint | A | a picture of X
think | write, think, worry | A | about X every week
"""
# what settles a name that may be two things: kind | verb | subject | rest
_SETTLING = """
person | write, send | X | a long letter to R
person | marry | X | a JOB
person | visit, help | X | R every summer
person | know | X | R from childhood
person | teach | X | R to swim and sing
person | have | X | two small children
place | be | X | a small town by the river
place | be | X | a village with a white church
place | lie | X | on the other side of the hills
place | have | X | a thousand houses and one doctor
place | be | X | two days away on foot
place | have | X | narrow streets and a famous tower
animal | be | X | a small brown dog
animal | bark | X | at everyone
animal | have | X | four white paws and a long tail
animal | sleep | X | in a basket by the stove
animal | chase | X | the geese every day
animal | eat | X | two bones before supper
ship | be | X | a ship with three masts
ship | have | X | blue sails and a wooden deck
ship | carry | X | salt and timber along the coast
ship | lie | X | at anchor in the bay
ship | sail | X | from port to port
ship | need | X | a new coat of paint
"""


class Frame(NamedTuple):
    """One way to build a clause around a verb; a heavier one is told more often."""

    name: str
    kind: str
    verbs: tuple[str, ...]
    subject: str
    tail: tuple[str, ...]
    passive: bool
    weight: int = 1

    @property
    def plural(self) -> bool:
        """Whether a subject that is fixed ("the bells") is a plural."""
        return self.subject.endswith(("s", "children"))


def _frame(row: str) -> Frame:
    kind, verbs, subject, tail, *rest = (part.strip() for part in row.split("|"))
    passive = "passive" in rest
    weight = next((int(part[1:]) for part in rest if part.startswith("x")), 1)
    name = f"{kind}:{subject}-{verbs.split(',')[0]}-{tail.replace(' ', '.')}" + ("*" if passive else "")
    verb_list = tuple(verb.strip() for verb in verbs.split(","))
    return Frame(name, kind, verb_list, subject, tuple(tail.split()), passive, weight)


_WHERE = ("", " outside", " in the distance", " all around", " nearby", " for hours")


def _phrases() -> list[Frame]:
    """Activities and scenes: the verb and the rest of the phrase are fixed together."""
    frames = []
    for phrases in ACTIVITIES.values():
        for phrase in phrases:
            verb, *rest = phrase.split()
            frames.append(Frame(f"do:{phrase}", "do", (verb,), "A", tuple(rest), False))
    for scenes in SCENES.values():
        frames += [
            Frame(f"scene:{subject} {verb}{where}", "scene", (verb,), subject, tuple(where.split()), False)
            for subject, verb in scenes
            for where in _WHERE
        ]
    for subject in ("the sky", "the weather", "the whole valley", "the world outside"):
        for tail in ("SKY", "SKY all day", "rather SKY", "SKY and strange", "more SKY than before"):
            name = f"sky:{subject} {tail}"
            frames.append(Frame(name, "sky", ("be", "look", "seem"), subject, tuple(tail.split()), False))
    for tail in (
        "a SKY day",
        "a SKY sort of day",
        "SKY outside",
        "a long SKY day",
        "SKY and quiet everywhere",
    ):
        frames.append(Frame(f"sky:it {tail}", "sky", ("be",), "it", tuple(tail.split()), False))
    return frames


FRAMES: tuple[Frame, ...] = tuple(
    [_frame(row) for row in (_FRAMES + _SETTLING).strip().splitlines() if row.strip()] + _phrases()
)
BY_NAME: dict[str, Frame] = {frame.name: frame for frame in FRAMES}
BY_KIND: dict[str, tuple[Frame, ...]] = {
    kind: tuple(frame for frame in FRAMES if frame.kind == kind for _ in range(frame.weight))
    for kind in dict.fromkeys(f.kind for f in FRAMES)
}
SETTLING: tuple[str, ...] = ("person", "place", "animal", "ship")  # kinds that say what X is

SPEAK: tuple[str, ...] = ("say", "whisper", "answer", "shout", "call")  # verbs beside a quotation
GROUPS = read_groups(
    {verb for frame in FRAMES if not frame.passive for verb in frame.verbs} | set(SPEAK),
    {verb for frame in FRAMES if frame.passive for verb in frame.verbs},
)

MANNER_WORDS: frozenset[str] = frozenset(word for words in MANNERS.values() for word in words) | set(
    PLAIN_MANNERS
)
WORD_SETS: dict[str, frozenset[str]] = {
    "FEEL": frozenset(word for words in FEELINGS.values() for word in words),
    "SKY": frozenset(word for words in SKIES.values() for word in words),
}

# A sentence: {S} clause, {V} predicate of the same subject, {I} infinitive,
# {G} gerund, {Q} quoted clause, {N} speaker, {K} speaker (no pronoun), {M} hearer. What follows "|" is the order in
# which the clauses happen and which of them must be true already (k), so that "Before she left, ..." and
# "because he had lost ..." are told apart.
_CONSTRUCTIONS = {
    "plain": "{S}.|0",
    "and": "{S}, and {S}.|0 1",
    "then": "{S}, and then {S}.|0 1",
    "both": "{S} and {V}.|0 1",
    "list": "{S}, {V} and {V}.|0 1 2",
    "but": "{S}, but {S}.|0 1",
    "so": "{S}, so {S}.|0 1",
    "because": "{S} because {S}.|0 1k",
    "since": "because {S}, {S}.|0k 1",
    "when": "when {S}, {S}.|0 1",
    "soon": "as soon as {S}, {S}.|0 1",
    "once": "once {S}, {S}.|0 1",
    "after": "after {S}, {S}.|0 1",
    "afterwards": "{S} after {S}.|1 0",
    "having": "after {G}, {S}.|0 1",
    "before": "before {S}, {S}.|1 0",
    "earlier": "{S} before {S}.|0 1",
    "leading": "{S} before {G}.|0 1",
    "while": "while {S}, {S}.|0 1",
    "during": "{S} while {S}.|0 1",
    "although": "although {S}, {S}.|0k 1",
    "though": "{S}, although {S}.|0 1k",
    "until": "{S} until {S}.|0 1",
    "purpose": "{S} {I}.|0 1",
    "where": "{S}, where {S}.|0 1",
    "semicolon": "{S}; {S}.|0 1",
    "quote": '"{Q}," {said} {K}.|0',
    "quote to": '"{Q}," {N} told {M}.|0',
    "said": '{N} {said}, "{Q}."|0',
    "said to": '{N} {said} to {M}, "{Q}."|0',
    "asked": '"{Q}?" asked {K}.|0',
    "asked for": '{N} asked {M}, "{Q}?"|0',
}

QUESTIONS: dict[str, str] = {
    "where": "where BE T",
    "who": "who has T",
    "seen": "have you seen T",
    "looking": "who took T",
}


class Construction(NamedTuple):
    """One way to join clauses: how it is written, the clauses in the order of time, those that are known to be true."""

    name: str
    pattern: str
    order: tuple[int, ...]
    known: frozenset[int]


def _construction(name: str, row: str) -> Construction:
    pattern, _, order = row.rpartition("|")
    steps = order.split()
    return Construction(
        name,
        pattern,
        tuple(int(step[0]) for step in steps),
        frozenset(int(step[0]) for step in steps if step.endswith("k")),
    )


# Headlines: clauses in the present tense, no full stop.
HEADLINES: dict[str, tuple[str, ...]] = {
    "plain": ("{S}",),
    "and": ("{S}, and {S}", "{S}, and {S}, and {S}"),
    "semicolon": ("{S}; {S}", "{S}; {S}; {S}"),
    "then": ("{S}, then {S}", "{S}, then {S}, then {S}"),
    "but": ("{S}, but {S}", "{S}, but {S}, but {S}"),
}
CONSTRUCTIONS: dict[str, Construction] = {
    name: _construction(name, row) for name, row in _CONSTRUCTIONS.items()
}
