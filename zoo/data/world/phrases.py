"""Reads noun phrases and adverbials. A reader takes a position and returns all ways to go on: (end, what it read)."""

from zoo.data.world.english import article
from zoo.data.world.lexicon import (
    JOB_NOUNS,
    KIN,
    LOOK_WORDS,
    NAMES,
    PLACES,
    PREPOSITIONS,
    THINGS,
    TIME_WORDS,
    TRAIT_WORDS,
)
from zoo.data.world.meaning import Noun
from zoo.data.world.names import GENDER

Read = list[tuple[int, Noun]]
_END = ("", "", "", "", "", "")  # so that looking ahead needs no bounds
_FIXED = {
    (True, "he"): Noun("pronoun", "he", "s"), (True, "she"): Noun("pronoun", "she", "s"),
    (False, "him"): Noun("pronoun", "he", "s"), (False, "her"): Noun("pronoun", "she", "s"),
    (True, "they"): Noun("they", "they", "p"), (True, "I"): Noun("speaker", "I", "i"),
    (False, "me"): Noun("speaker", "I", "i"),
    (True, "you"): Noun("hearer", "you", "p"), (False, "you"): Noun("hearer", "you", "p"),
}  # fmt: skip


class Phrases:
    """The words of one sentence, read phrase by phrase."""

    def __init__(self, tokens: list[str]) -> None:
        self.words = (*tokens, *_END)

    def person(self, i: int, *, subject: bool) -> Read:
        """A person, or two: name, pronoun, job, introduction."""
        word, second, third = self.words[i : i + 3]
        if word in NAMES:
            if second == "'s":
                return self._kin(i + 2, word)
            if second == "and" and third in NAMES:
                # two readings: "Anna and Ben" together, or Anna alone before "and Ben ..."
                return [(i + 3, Noun("pair", f"{word}&{third}", "p")), (i + 1, Noun("name", word, "s"))]
            if second == "the" and third in JOB_NOUNS:
                return [(i + 3, Noun("title", word, "s", look=third))]
            return [(i + 1, Noun("name", word, "s"))]
        found = _FIXED.get((subject, word))
        if found:
            kin = self._kin(i + 1, word) if word == "her" else []
            return [(i + 1, found), *kin]
        if word == "his" or word == "her":
            return self._kin(i + 1, word)
        if word == "the" and second in JOB_NOUNS:
            return [(i + 2, Noun("job", second, "s"))]
        if word == "a" or word == "an":
            return self._called(i)
        return []

    def _kin(self, i: int, owner: str) -> Read:
        kin, name = self.words[i], self.words[i + 1]
        if kin in KIN and name in NAMES and KIN[kin] in ("", GENDER[name]):
            return [(i + 2, Noun("kin", name, "s", look=kin, owner=owner))]
        return []

    def _called(self, i: int) -> Read:
        """ "a kind baker called Anna" """
        if article(self.words[i + 1]) != f"{self.words[i]} {self.words[i + 1]}":
            return []
        j = i + 2 if self.words[i + 1] in TRAIT_WORDS else i + 1
        job, called, name = self.words[j : j + 3]
        if job in JOB_NOUNS and called in ("called", "named") and name in NAMES:
            return [
                (j + 3, Noun("called", name, "s", look=job, trait=self.words[i + 1] if j > i + 1 else ""))
            ]
        return []

    def thing(self, i: int, *, subject: bool) -> Read:
        """A thing: new, known, owned, or a pronoun."""
        word = self.words[i]
        if word == "it":
            return [(i + 1, Noun("it", "it", "s"))]
        if word == "them":
            return [] if subject else [(i + 1, Noun("it", "them", "p"))]
        if word in ("the", "a", "an", "some"):
            return self._described(i, word)
        owner, j = word, i + 1
        if word in NAMES and self.words[j] == "'s":
            j += 1
        elif word not in ("his", "her", "my", "your"):
            return []
        noun = self.words[j]
        return [(j + 1, Noun("poss", noun, _number(noun), owner=owner))] if noun in THINGS else []

    def _described(self, i: int, word: str) -> Read:
        look, noun, end = "", self.words[i + 1], i + 2
        if noun in LOOK_WORDS:
            look, noun, end = noun, self.words[i + 2], i + 3
        if noun not in THINGS:
            return []
        number = _number(noun)
        if word == "the":
            return [(end, Noun("the", noun, number, look))]
        fits = (
            number == "p"
            if word == "some"
            else number == "s" and article(look or noun) == f"{word} {look or noun}"
        )
        return [(end, Noun("a", noun, number, look))] if fits else []

    def place(self, i: int) -> Read:
        """A place as an object: "the market"."""
        if self.words[i] == "the" and self.words[i + 1] in PLACES:
            return [(i + 2, Noun("place", self.words[i + 1], "s"))]
        return []

    def where(self, i: int) -> Read:
        """A place as an adverbial: "at the market", "there"."""
        word = self.words[i]
        if word == "there":
            return [(i + 1, Noun("there", "there", "s"))]
        if word in PREPOSITIONS and self.words[i + 1] == "the":
            place = PLACES.get(self.words[i + 2])
            if place is not None and place.preposition == word:
                return [(i + 3, Noun("place", place.noun, "s"))]
        return []

    def time(self, i: int) -> list[tuple[int, str]]:
        """A phrase of time (the longest)."""
        for phrase in TIME_WORDS.get(self.words[i], ()):
            if self.words[i : i + len(phrase)] == phrase:
                return [(i + len(phrase), " ".join(phrase))]
        return []


def _number(noun: str) -> str:
    return "p" if noun in THINGS and THINGS[noun].plural else "s"
