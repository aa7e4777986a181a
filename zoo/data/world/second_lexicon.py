"""The second language: its words and their forms.

Stems are made from syllables, one for every English lemma, the same everywhere. Nouns have a class, their last vowel,
and take an ending for number and case; adjectives follow their noun and agree with it in class, number and case;
verbs close the clause and agree with who acts: o a man, a a woman, i several, u the speaker, ai the hearer, else its
class.
"""

from functools import cache
from typing import NamedTuple
from zlib import crc32

from zoo.data.world.grammar import FRAMES, MANNER_WORDS, SPEAK, WORD_SETS
from zoo.data.world.listed import listed
from zoo.data.world.names import GENDER
from zoo.data.world.nouns import JOBS, KIN, LOOKS, PLACES, THINGS, TRAITS
from zoo.data.world.times import PHRASES

CASES: dict[str, str] = {
    "nom": "",
    "acc": "n",
    "dat": "ti",
    "abl": "fo",
    "com": "mi",
    "loc": "su",
    "all": "du",
    "gen": "ke",
}
TENSES: dict[str, str] = {
    "past": "it", "perfect": "ol", "progressive": "em", "present": "as", "present perfect": "is",
    "will": "ur",
    "infinitive": "en", "gerund": "and",
}  # fmt: skip
AGREEMENTS: tuple[str, ...] = ("o", "a", "i", "u", "ai", "e")
PRONOUNS: dict[str, str] = {
    "he": "lo",
    "she": "la",
    "I": "mu",
    "you": "vu",
    "it": "te",
    "them": "tei",
    "there": "das",
}
# which word stands after the clause that comes first: the subordinate one, whichever English has first
SUBORDINATE: dict[str, str] = {
    "because": "kem", "since": "kem", "when": "pol", "soon": "pol", "once": "pol", "after": "tir", "afterwards": "tir",
    "having": "tir", "before": "sen", "earlier": "sen", "leading": "sen", "while": "vam", "during": "vam",
    "although": "gor",
    "though": "gor", "until": "dun", "purpose": "pas",
}  # fmt: skip
COORDINATE: dict[str, str] = {
    "and": "eb", "both": "eb", "list": "eb", "semicolon": "eb", "then": "ten", "but": "mas", "so": "dap", "where": "lok"
}  # fmt: skip
NOT, NEW, THAT, RELATIVE, ASK = "ne", "um", ("to", "tan"), ("yo", "ya"), "ka"
_SMALL = set(listed("a the of to in on by with for and at from as about into its than"))
_PARTICLES = {
    NOT,
    NEW,
    *THAT,
    *RELATIVE,
    ASK,
    *PRONOUNS.values(),
    *SUBORDINATE.values(),
    *COORDINATE.values(),
}


class Form(NamedTuple):
    """What a word of the second language is: its category and its features."""

    category: str  # noun adjective verb word particle
    lemma: str
    case: str = ""
    agreement: str = ""
    form: str = ""


def literal(frame_tail: tuple[str, ...]) -> list[str]:
    """The words of a frame that stand for themselves and mean something."""
    return [word for word in frame_tail if word.islower() and word not in _SMALL]


def _lemmas() -> dict[str, list[str]]:
    scene = {
        frame.subject.split()[-1] for frame in FRAMES if len(frame.subject) > 1 and frame.subject != "it"
    }
    nouns = {*THINGS, *PLACES, *KIN, *(job for jobs in JOBS.values() for job in jobs), *scene, "day", "story"}
    adjectives = {*LOOKS, *TRAITS, *WORD_SETS["FEEL"], *WORD_SETS["SKY"]}
    verbs = {verb for frame in FRAMES for verb in frame.verbs} | set(SPEAK)
    words = {*MANNER_WORDS, *PHRASES, *(word for frame in FRAMES for word in literal(frame.tail))}
    questions = {"where", "who", "seen", "looking"}
    return {
        "noun": sorted(nouns), "adjective": sorted(adjectives), "verb": sorted(verbs), "word": sorted(words | questions)
    }  # fmt: skip


def _stem(category: str, number: int) -> str:
    """Verbs begin with a vowel and adjectives end in "sh", so that no word has two readings."""
    out = "aeiou"[number % 5] if category == "verb" else ""
    count = 1 + number % 2
    for _ in range(count):
        number, consonant = divmod(number, 15)
        number, vowel = divmod(number, 5)
        out += "ptkbdgmnslrvzfh"[consonant] + "aeiou"[vowel]
    return out + ("sh" if category == "adjective" else "ptkbdgmnslrvzfh"[number % 15])


@cache
def _stems() -> dict[tuple[str, str], str]:
    """Every stem, all different: a hash of the lemma chooses it, the next free one is taken where two collide."""
    taken: set[str] = set()
    stems = {}
    for category, lemmas in _lemmas().items():
        for lemma in lemmas:
            number = crc32(f"{category} {lemma}".encode())
            while (stem := _stem(category, number)) in taken or stem in _PARTICLES:
                number += 1
            taken.add(stem)
            stems[category, lemma] = stem
    return stems


def class_of(lemma: str) -> str:
    """The class of a noun: a, o or e."""
    return "aoe"[crc32(f"class {lemma}".encode()) % 3]


def noun(lemma: str, case: str, *, plural: bool = False) -> str:
    """A noun: stem, class, i for a plural, case."""
    return f"{_stems()['noun', lemma]}{class_of(lemma)}{'r' if plural else ''}{CASES[case]}"


def adjective(lemma: str, agreement: str, case: str, *, plural: bool = False) -> str:
    """An adjective, agreeing with a noun of this class."""
    return f"{_stems()['adjective', lemma]}{agreement}{'r' if plural else ''}{CASES[case]}"


def verb(lemma: str, form: str, agreement: str) -> str:
    """A verb: stem, tense, agreement; infinitive and gerund agree with nothing."""
    return f"{_stems()['verb', lemma]}{TENSES[form]}{'' if form in ('infinitive', 'gerund') else agreement}"


def word(lemma: str) -> str:
    """A word without endings: a manner, a time, part of an idiom."""
    return f"{_stems()['word', lemma]}im"


def name(key: str, case: str) -> str:
    """A name with its case."""
    return f"{key}-{CASES[case]}" if CASES[case] else key


def pronoun(key: str, case: str) -> str:
    """A pronoun with its case."""
    return f"{PRONOUNS[key]}{CASES[case]}"


@cache
def forms() -> dict[str, tuple[Form, ...]]:
    """Every word of the second language with what it may be."""
    table: dict[str, set[Form]] = {}
    for category, lemma in _stems():
        if category == "noun":
            for case in CASES:
                for plural in (False, True):
                    agreement = "i" if plural else class_of(lemma)
                    written = noun(lemma, case, plural=plural)
                    table.setdefault(written, set()).add(
                        Form("noun", lemma, case, agreement, class_of(lemma))
                    )
        elif category == "adjective":
            for case in CASES:
                for agreement in "aoei":
                    for plural in (False, True):
                        written = adjective(lemma, agreement, case, plural=plural)
                        table.setdefault(written, set()).add(
                            Form("adjective", lemma, case, agreement, "r" if plural else "")
                        )
        elif category == "verb":
            for form in TENSES:
                for agreement in AGREEMENTS:
                    written = verb(lemma, form, agreement)
                    found = agreement if form not in ("infinitive", "gerund") else ""
                    table.setdefault(written, set()).add(Form("verb", lemma, "", found, form))
        else:
            table.setdefault(word(lemma), set()).add(Form("word", lemma))
    for case in CASES:
        for key in GENDER:
            table.setdefault(name(key, case), set()).add(
                Form("noun", key, case, {"f": "a", "m": "o"}[GENDER[key]])
            )
        for key in PRONOUNS:
            table.setdefault(pronoun(key, case), set()).add(Form("noun", key, case, ""))
    return {written: tuple(sorted(found)) for written, found in table.items()}
