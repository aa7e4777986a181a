"""Tells the meaning of a sentence in the second language: verb last, cases for roles, subordinate clauses first.

Nothing is taken over from the English sentence but its meaning: active and passive, "gave Ben the key" and "gave the
key to Ben", "because" before or after come out alike.
"""

from zoo.data.world import second_lexicon as words
from zoo.data.world.grammar import BY_NAME
from zoo.data.world.meaning import Clause, Meaning, Noun
from zoo.data.world.names import GENDER
from zoo.data.world.nouns import THINGS
from zoo.data.world.parse import parse, parse_headline

OTHER_CASE: dict[str, str] = {
    "give": "dat", "return": "dat", "sell": "dat", "show": "dat", "tell": "dat", "ask": "dat", "wait": "dat",
    "belong": "dat",
    "steal": "abl", "meet": "acc", "thank": "acc", "help": "acc", "follow": "acc", "talk": "com", "think": "abl",
    "person": "com",
}  # fmt: skip
_SUBORDINATE_SECOND = {"because", "afterwards", "earlier", "leading", "during", "though", "until", "purpose"}
MOVING = {"go", "follow"}


def second(meaning: Meaning) -> str:
    """The sentence in the second language."""
    clauses = meaning.clauses
    subject = next((clause for clause in clauses if _actor(clause) is not None), None)
    actor = _actor(subject) if subject is not None else None
    parts = [_clause(clause, actor if _actor(clause) is None else None) for clause in clauses]
    if meaning.speech:
        return _speech(meaning, parts[0])
    if meaning.relation in words.SUBORDINATE:
        late = meaning.relation in _SUBORDINATE_SECOND
        first, then = (parts[1], parts[0]) if late else (parts[0], parts[1])
        text = f"{first} {words.SUBORDINATE[meaning.relation]}, {then}"
    elif len(parts) > 1:
        text = f" {words.COORDINATE[meaning.relation]} ".join(parts)
    else:
        text = parts[0]
    if meaning.front:
        text = f"{words.word(meaning.front)}, {text}"
    return f"{text[0].upper()}{text[1:]}."


def _speech(meaning: Meaning, quoted: str) -> str:
    speaker, *hearers = meaning.speech
    parts = [
        _front(meaning),
        *_noun(speaker, "nom"),
        *(part for hearer in hearers for part in _noun(hearer, "dat")),
    ]
    asks = f" {words.ASK}" if meaning.clauses[0].kind == "where" else ""
    parts.append(words.verb("say", "past", _agreement(speaker)))
    text = " ".join(filter(None, parts))
    return f'{text[0].upper()}{text[1:]}: "{quoted[0].upper()}{quoted[1:]}{asks}."'


def _front(meaning: Meaning) -> str:
    return f"{words.word(meaning.front)}," if meaning.front else ""


def _actor(clause: Clause) -> Noun | None:
    nouns = dict(clause.nouns)
    frame = BY_NAME.get(clause.frame)
    if frame is not None and frame.subject == "X":
        return nouns["X"]
    return nouns.get("A") or (
        nouns.get("T") if frame is not None and frame.kind in ("lie", "belong") else None
    )


def _agreement(noun: Noun) -> str:
    if noun.how in ("speaker", "hearer"):
        return {"speaker": "u", "hearer": "ai"}[noun.how]
    if noun.number == "p":
        return "i"
    if noun.how == "pronoun":
        return {"he": "o", "she": "a"}[noun.key]
    if noun.key in GENDER:
        return {"m": "o", "f": "a"}[GENDER[noun.key]]
    return "e" if noun.how == "it" else words.class_of(noun.key)


def _clause(clause: Clause, dropped: Noun | None, *, inside: bool = False) -> str:
    """Subject, time, place, other person, thing, manner, verb. `dropped`: whom a verb without subject agrees with."""
    frame = BY_NAME.get(clause.frame)
    if frame is None:  # a question
        asked = clause.nouns[0][1]
        is_there = words.verb("be", "present", _agreement(asked))
        return " ".join([words.word(clause.frame), *_noun(asked, "nom"), is_there])
    nouns, actor = dict(clause.nouns), _actor(clause)
    subject = actor or dropped
    agreement = _agreement(subject) if subject is not None else "e"
    parts: list[str] = []
    if actor is not None and actor.how not in ("pronoun", "they", "speaker", "hearer"):
        parts += _noun(actor, "nom")
    if len(frame.subject) > 1 and frame.subject != "it":  # "the bells"
        heard = frame.subject.split()[-1]
        parts.append(words.noun(heard, "nom", plural=frame.plural))
        agreement = "i" if frame.plural else words.class_of(heard)
    parts += [words.word(clause.time)] if clause.time else []
    case = "all" if clause.kind in MOVING else "loc"
    for role, noun in clause.nouns:
        if role in ("L", "@"):
            parts += _noun(noun, case if role == "L" or "@" in frame.tail else "loc")
    other = nouns.get("R") or (nouns.get("X") if frame.subject != "X" else None)
    if other is not None and other is not actor:
        parts += _noun(other, OTHER_CASE.get(clause.kind, "dat"))
    thing = nouns.get("T")
    if thing is not None and thing is not actor:
        parts += _noun(thing, "acc")
    if clause.inner is not None:
        parts += [words.THAT[0], _clause(clause.inner, None), words.THAT[1]]
    parts += _detail(clause, agreement, frame.tail)
    parts += [words.word(clause.manner)] if clause.manner else []
    parts += [words.NOT] if clause.negative else []
    converse = frame.subject == "R" and not frame.passive  # "got" is "gave", seen from the other side
    parts.append(words.verb(clause.kind if converse else clause.verb, clause.form, agreement))
    return " ".join(parts)


def _detail(clause: Clause, agreement: str, tail: tuple[str, ...]) -> list[str]:
    parts = [words.word(part) for part in words.literal(tail)]
    if clause.kind in ("feel", "sky"):
        parts.insert(0, words.adjective(clause.detail, agreement if agreement in "aoei" else "e", "nom"))
    elif clause.detail:
        parts.insert(0, words.noun(clause.detail, "nom"))
    return parts


def _noun(noun: Noun, case: str) -> list[str]:
    """A noun phrase in a case: owner, relative clause, noun, adjective."""
    relative = []
    if noun.relative is not None:
        agent = _actor(noun.relative)
        relative = [
            words.RELATIVE[0],
            _clause(noun.relative, noun if agent is None else None),
            words.RELATIVE[1],
        ]
    if noun.how == "pair":
        first, other = noun.key.split("&")
        return [words.name(first, case), "eb", words.name(other, case)]
    if noun.how in ("pronoun", "speaker", "hearer", "it", "there"):
        return [words.pronoun(noun.key, case)]
    if noun.how in ("name", "title", "called", "kin"):
        return [*relative, *_apposition(noun, case), words.name(noun.key, case)]
    plural = noun.key in THINGS and THINGS[noun.key].plural
    parts = [_owner(noun.owner)] if noun.owner else [words.NEW] if noun.how == "a" else []
    parts += [*relative, words.noun(noun.key, case, plural=plural)]
    if noun.look and noun.how in ("a", "the"):
        parts.append(words.adjective(noun.look, words.class_of(noun.key), case, plural=plural))
    return parts


def _apposition(noun: Noun, case: str) -> list[str]:
    """What stands before a name: "her sister", "a kind baker"."""
    if noun.how == "name":
        return []
    parts = [_owner(noun.owner)] if noun.owner else [words.NEW] if noun.how == "called" else []
    parts.append(words.noun(noun.look, case))
    if noun.trait:
        parts.append(words.adjective(noun.trait, words.class_of(noun.look), case))
    return parts


def _owner(owner: str) -> str:
    pronoun = {"his": "he", "her": "she", "my": "I", "your": "you"}.get(owner)
    return words.pronoun(pronoun, "gen") if pronoun else words.name(owner, "gen")


def translate_headline(headline: str) -> str:
    """A headline in the second language, without a full stop; "" if it is none."""
    meanings = parse_headline(headline)
    return second(meanings[0]).removesuffix(".") if meanings else ""


def translate(sentence: str) -> str:
    """An English sentence of the world in the second language; "" if it is none."""
    meanings = parse(sentence)
    return second(meanings[0]) if meanings else ""
