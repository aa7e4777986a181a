"""English verb forms, and verb groups: auxiliaries with the verb, agreeing with the subject.

`group` writes a verb group and `read_groups` makes the table that reads one back by calling the writer: they cannot
disagree.
"""

from functools import cache
from typing import NamedTuple

from zoo.data.world.listed import listed

# base: past, participle (where the rules below would go wrong)
_IRREGULAR = """
be was been; have had had; go went gone; run ran run; ride rode ridden; come came come; find found found; lose
lost lost; leave left left; hide hid hidden; forget forgot forgotten; give gave given; lend lent lent; send
sent sent; bring brought brought; get got got; steal stole stolen; take took taken; sell sold sold; buy bought
bought; keep kept kept; hold held held; make made made; build built built; break broke broken; meet met met;
see saw seen; feel felt felt; sing sang sung; ring rang rung; fall fell fallen; weep wept wept; say said said;
tell told told; know knew known; think thought thought; speak spoke spoken; read read read; write wrote
written; learn learnt learnt; draw drew drawn; feed fed fed; shear sheared shorn; sweep swept swept;
understand understood understood; lie lay lain; hear heard heard; show showed shown; begin began begun; win
won won; dream dreamt dreamt; sleep slept slept; mislay mislaid mislaid; set set set; seek sought sought; put
put put; let let let; wear wore worn; stand stood stood; sit sat sat; spend spent spent; become became become;
grow grew grown; eat ate eaten; teach taught taught; lead led led
"""
_PRINCIPAL = {base: (past, part) for base, past, part in (row.split() for row in _IRREGULAR.split(";"))}
_DOUBLED = set(
    listed(
        "run forget get drop hug travel plan stop gut trim stir grab begin win set sit chat spot hum scrub"
    )
)
_VOWELS = "aeiou"

PERSONS = ("i", "s", "p")  # I; he, she, it; we, you, they
_BE = {"past": {"i": "was", "s": "was", "p": "were"}, "present": {"i": "am", "s": "is", "p": "are"}}
_HAVE = {"i": "have", "s": "has", "p": "have"}
_DO = {"i": "do", "s": "does", "p": "do"}

# form: auxiliaries when affirmed, auxiliaries when denied, form of the verb; BE, HAVE and DO agree with the subject
FORMS: dict[str, tuple[str, str, str]] = {
    "past": ("", "did not", "past"),
    "perfect": ("had", "had not", "participle"),
    "progressive": ("BE", "BE not", "ing"),
    "will": ("will", "will not", "base"),
    "present": ("", "DO not", "present"),
    "present perfect": ("HAVE", "HAVE not", "participle"),
    "infinitive": ("to", "not to", "base"),
    "gerund": ("", "not", "ing"),
}


class Group(NamedTuple):
    """What a verb group says: the verb, its form, whether it is denied or passive, and the subjects it agrees with."""

    verb: str
    form: str
    negative: bool
    passive: bool
    persons: str


def inflect(verb: str, form: str, person: str = "s") -> str:
    """One word of a verb: base, past, participle, ing or present ("pick up", "past" -> "picked up")."""
    head, _, particle = verb.partition(" ")
    word = _inflect(head, form, person)
    return f"{word} {particle}" if particle else word


def _inflect(verb: str, form: str, person: str) -> str:
    if verb == "be" and form in _BE:
        return _BE[form][person]
    if form == "base" or (form == "present" and person != "s"):
        return verb
    if form == "present":
        return (
            "has"
            if verb == "have"
            else verb[:-1] + "ies"
            if _soft_y(verb)
            else verb + ("es" if _hisses(verb) else "s")
        )
    if form == "ing":
        if verb == "lie":
            return "lying"
        return (verb + verb[-1] if verb in _DOUBLED else _drop_e(verb)) + "ing"
    if verb in _PRINCIPAL:
        return _PRINCIPAL[verb][0 if form == "past" else 1]
    if verb in _DOUBLED:
        return verb + verb[-1] + "ed"
    return verb[:-1] + "ied" if _soft_y(verb) else verb + ("d" if verb.endswith("e") else "ed")


def _soft_y(verb: str) -> bool:
    return verb.endswith("y") and verb[-2] not in _VOWELS


def _hisses(verb: str) -> bool:
    return verb.endswith(("s", "sh", "ch", "x", "z", "o"))


def _drop_e(verb: str) -> str:
    return verb[:-1] if verb.endswith("e") and verb[-2] != "e" and verb != "be" else verb


def _auxiliary(word: str, person: str) -> str:
    # the only tense of an agreeing auxiliary is told by its form: HAVE and DO are present, BE is the progressive's past
    return {"BE": _BE["past"], "HAVE": _HAVE, "DO": _DO}.get(word, {}).get(person, word)


@cache
def group(verb: str, form: str, person: str = "s", *, negative: bool = False, passive: bool = False) -> str:
    """The verb group: ("find", "perfect", negative) -> "had not found"; ("steal", "past", passive) -> "was stolen"."""
    if passive:
        return f"{group('be', form, person, negative=negative)} {inflect(verb, 'participle')}"
    affirmed, denied, verb_form = FORMS[form]
    if negative and verb != "be" and "not" in denied and denied.startswith(("did", "DO")):
        verb_form = "base"  # "did not have"
    if verb == "be" and verb_form in _BE:  # "was not", not "did not be"
        return inflect(verb, verb_form, person) + (" not" if negative else "")
    auxiliaries = [_auxiliary(word, person) for word in (denied if negative else affirmed).split()]
    return " ".join([*auxiliaries, inflect(verb, verb_form, person)])


def read_groups(active: set[str], passive: set[str]) -> dict[tuple[str, ...], tuple[Group, ...]]:
    """Every verb group of these verbs by its words, with what it says (more than one thing where words coincide)."""
    table: dict[tuple[str, ...], dict[tuple[str, str, bool, bool], str]] = {}
    for is_passive, verbs in ((False, sorted(active)), (True, sorted(passive))):
        for verb in verbs:
            for form in FORMS:
                if form == "progressive" and (is_passive or verb == "be"):
                    continue
                for negative in (False, True):
                    for person in PERSONS:
                        words = tuple(
                            group(verb, form, person, negative=negative, passive=is_passive).split()
                        )
                        says = table.setdefault(words, {})
                        key = (verb, form, negative, is_passive)
                        says[key] = says.get(key, "") + person
    return {
        words: tuple(Group(*key, persons) for key, persons in says.items()) for words, says in table.items()
    }
