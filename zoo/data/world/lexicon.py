"""The words of English in the world, as the parser looks them up, and the cutting of text into words."""

import re

from zoo.data.world.grammar import FRAMES, GROUPS, Frame
from zoo.data.world.names import GENDER
from zoo.data.world.nouns import JOBS, KIN, LOOKS, PLACES, THINGS, TRAITS
from zoo.data.world.times import PHRASES

NAMES: frozenset[str] = frozenset(GENDER)
JOB_NOUNS: frozenset[str] = frozenset(job for jobs in JOBS.values() for job in jobs)
LOOK_WORDS: frozenset[str] = frozenset(LOOKS)
TRAIT_WORDS: frozenset[str] = frozenset(TRAITS)
LONGEST_GROUP: int = max(len(words) for words in GROUPS)

_WORD = re.compile(r"[A-Za-z]+|'s|[^\sA-Za-z]")


def words(sentence: str) -> list[str]:
    """The words and marks of a sentence; a capital that only opens a sentence or a quotation is taken away."""
    tokens = _WORD.findall(sentence)
    opening = True
    for i, token in enumerate(tokens):
        if opening and token not in NAMES and token != "I" and token[0].isupper():
            tokens[i] = token[0].lower() + token[1:]
        elif token[0].isupper() and token not in NAMES and token != "I":
            tokens[i] = "?" + token  # a capital in the middle of a sentence: no word of the language
        opening = token == '"'
    return tokens


def opens_capital(sentence: str) -> bool:
    """Whether a sentence begins as one: with a capital or a quotation mark and a capital."""
    return sentence.lstrip('"')[:1].isupper()


def split_sentences(text: str) -> list[str]:
    """The sentences of a story. A full stop outside a quotation closes one, or a quotation that ends with it."""
    out, start, quoted = [], 0, False
    for i, mark in enumerate(text):
        if mark == '"':
            quoted = not quoted
            ends = text[i - 1] == "." or (text[i - 1] == "?" and not text.startswith("asked", i + 2))
            closes = not quoted and i > start and ends and text[i + 1 : i + 2] in (" ", "")
        else:
            closes = mark == "." and not quoted
        if closes:
            out.append(text[start : i + 1])
            start = i + 2
    if text[start:].strip():
        out.append(text[start:])
    return out


FRAMES_OF: dict[tuple[str, bool], tuple[Frame, ...]] = {}
for _frame in FRAMES:
    for _verb in dict.fromkeys(_frame.verbs):
        FRAMES_OF[_verb, _frame.passive] = (*FRAMES_OF.get((_verb, _frame.passive), ()), _frame)

SCENE_SUBJECTS: dict[str, tuple[tuple[str, ...], ...]] = {}
for _subject in sorted({frame.subject for frame in FRAMES if len(frame.subject) > 1}):
    _key = tuple(_subject.split())
    SCENE_SUBJECTS[_key[0]] = (*SCENE_SUBJECTS.get(_key[0], ()), _key)

TIME_WORDS: dict[str, tuple[tuple[str, ...], ...]] = {}
for _phrase in sorted(PHRASES, key=lambda phrase: -len(phrase.split())):
    _key = tuple(_phrase.split())
    TIME_WORDS[_key[0]] = (*TIME_WORDS.get(_key[0], ()), _key)

PREPOSITIONS: frozenset[str] = frozenset(place.preposition for place in PLACES.values())
__all__ = ["FRAMES_OF", "JOB_NOUNS", "KIN", "LOOK_WORDS", "NAMES", "PLACES", "PREPOSITIONS", "SCENE_SUBJECTS", "THINGS",
           "TIME_WORDS", "TRAIT_WORDS", "opens_capital", "split_sentences", "words"]  # fmt: skip
