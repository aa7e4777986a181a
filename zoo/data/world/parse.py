"""Reads English back to its meaning: the frames and constructions of `grammar`, matched with backtracking."""

import re
from collections.abc import Iterator
from functools import lru_cache

from zoo.data.world.english import article
from zoo.data.world.grammar import (
    CONSTRUCTIONS,
    GROUPS,
    HEADLINES,
    MANNER_WORDS,
    QUESTIONS,
    SPEAK,
    WORD_SETS,
    Frame,
)
from zoo.data.world.lexicon import (
    FRAMES_OF,
    JOB_NOUNS,
    LONGEST_GROUP,
    NAMES,
    SCENE_SUBJECTS,
    TRAIT_WORDS,
    opens_capital,
    words,
)
from zoo.data.world.meaning import Clause, Meaning, Noun
from zoo.data.world.phrases import Phrases
from zoo.data.world.verbs import inflect

Clauses = list[tuple[int, Clause]]
_SYMBOL = re.compile(r"\{\w+\}|\w+|[^\s\w]")
PATTERNS: tuple[tuple[str, tuple[str, ...]], ...] = tuple(
    (c.name, tuple(_SYMBOL.findall(c.pattern))) for c in CONSTRUCTIONS.values()
)
_HEADLINES = tuple(
    (name, tuple(_SYMBOL.findall(text))) for name, texts in HEADLINES.items() for text in texts
)
_SAID = {inflect(verb, "past") for verb in SPEAK}
_FINITE = frozenset(("past", "perfect", "progressive"))
_QUOTED = frozenset(("present perfect", "present", "will"))
_INFINITIVE = frozenset(("infinitive",))
_REPORTED = frozenset(("perfect", "past"))
_PEOPLE = ("A", "R", "X")
_ASKED = {name: tuple(_SYMBOL.findall(text)) for name, text in QUESTIONS.items()}


class Parser(Phrases):
    """The parses of one sentence. Clauses are remembered by position, so that alternatives cost little."""

    def __init__(self, tokens: list[str], finite: frozenset[str] = _FINITE) -> None:
        super().__init__(tokens)
        self.finite = finite  # the forms that a main clause may have
        self.length = len(tokens)
        self.memory: dict[tuple[int, frozenset[str]], Clauses] = {}

    def headlines(self) -> Iterator[Meaning]:
        """Every meaning of a whole headline."""
        for name, pattern in _HEADLINES:
            yield from self._match(name, pattern, 0, 0, (), (), "")

    def meanings(self) -> Iterator[Meaning]:
        """Every meaning of the whole sentence."""
        front, start = "", 0
        for end, phrase in self.time(0):
            if self.words[end] == ",":
                front, start = phrase, end + 1
        for name, pattern in PATTERNS:
            if pattern[0][0] == "{" or pattern[0] == self.words[start]:
                yield from self._match(name, pattern, 0, start, (), (), front)

    def _match(
        self, name: str, pattern: tuple[str, ...], at: int, i: int, clauses: tuple[Clause, ...],
        people: tuple[Noun, ...], front: str,
    ) -> Iterator[Meaning]:  # fmt: skip
        if at == len(pattern):
            if i == self.length:
                yield Meaning(name, clauses, front, people)
            return
        symbol = pattern[at]
        if symbol[0] != "{":
            if self.words[i] == symbol:
                yield from self._match(name, pattern, at + 1, i + 1, clauses, people, front)
            return
        if symbol in ("{N}", "{K}", "{M}"):
            nouns = self.people(i) if symbol == "{N}" else self.person(i, subject=symbol == "{K}")
            for end, noun in nouns:
                if symbol == "{K}" and noun.how == "pronoun":
                    continue
                yield from self._match(name, pattern, at + 1, end, clauses, (*people, noun), front)
        elif symbol == "{said}":
            if self.words[i] in _SAID:
                yield from self._match(name, pattern, at + 1, i + 1, clauses, people, front)
        else:
            for end, clause in self._symbol(symbol, i, clauses):
                yield from self._match(name, pattern, at + 1, end, (*clauses, clause), people, front)

    def _symbol(self, symbol: str, i: int, before: tuple[Clause, ...]) -> Clauses:
        if symbol == "{S}":
            return self.clauses(i, self.finite)
        if symbol == "{Q}":
            return self.question(i) if self.words[i] in ("where", "who", "have") else self.clauses(i, _QUOTED)
        if symbol == "{G}":
            return self.predicates(i, "person", "s", frozenset(("gerund",)))
        if BY_SUBJECT[before[0].frame] != "A":  # who goes on is who acted
            return []
        person = before[0].nouns[0][1].number
        form = "infinitive" if symbol == "{I}" else "past"
        return self.predicates(i, "person", person, frozenset((form,)))

    def question(self, i: int) -> Clauses:
        """A question about a thing."""
        found: Clauses = []
        for name, pattern in _ASKED.items():
            at = pattern.index("T")
            for end, noun in self.thing(i + at, subject=False):
                be = inflect("be", "present", noun.number)
                said = tuple(be if symbol == "BE" else symbol for symbol in pattern)
                stop = end + len(pattern) - at - 1
                if self.words[i : i + at] == said[:at] and self.words[end:stop] == said[at + 1 :]:
                    found.append((stop, Clause("where", name, "present", False, name, (("T", noun),))))
        return found

    # --- clauses ------------------------------------------------------------------------------------------------

    def clauses(self, i: int, forms: frozenset[str]) -> Clauses:
        """Clauses with a subject, in one of these forms."""
        key = (i, forms)
        if key not in self.memory:
            self.memory[key] = found = []
            for subject in SCENE_SUBJECTS.get(self.words[i], ()):
                if self.words[i : i + len(subject)] == subject:
                    name = " ".join(subject)
                    number = "p" if PLURAL[name] else "s"
                    found += self.predicates(i + len(subject), name, number, forms)
            for kind, nouns in (("person", self.people(i)), ("thing", self.things(i, subject=True))):
                for end, noun in nouns:
                    role = "A" if kind == "person" else "T"
                    for stop, clause in self.predicates(end, kind, noun.number, forms):
                        role = BY_SUBJECT[clause.frame]
                        found.append((stop, clause._replace(nouns=((role, noun), *clause.nouns))))
        return self.memory[key]

    def people(self, i: int) -> list[tuple[int, Noun]]:
        """Subjects that are people, with their relative clauses."""
        found = []
        for end, noun in self.person(i, subject=True):
            found.append((end, noun))
            if self.words[end] == "," and self.words[end + 1] == "who" and noun.how in ("name", "job"):
                for stop, clause in self.predicates(end + 2, "person", noun.number, frozenset(("perfect",))):
                    if self.words[stop] == ",":
                        found.append((stop + 1, noun._replace(relative=clause)))
        return found

    def things(self, i: int, *, subject: bool) -> list[tuple[int, Noun]]:
        """Things, with their relative clauses."""
        found = []
        for end, noun in self.thing(i, subject=subject):
            found.append((end, noun))
            if noun.how == "the" and self.words[end] == "that":
                for middle, agent in self.person(end + 1, subject=True):
                    for stop, clause in self.predicates(
                        middle, "person", agent.number, frozenset(("perfect",)), gap=True
                    ):
                        found.append(
                            (
                                stop,
                                noun._replace(relative=clause._replace(nouns=(("A", agent), *clause.nouns))),
                            )
                        )
        return found

    def predicates(
        self, i: int, subject: str, number: str, forms: frozenset[str], *, gap: bool = False
    ) -> Clauses:
        """Verb groups that agree with the subject, with all that follows the verb."""
        found: Clauses = []
        manner = self.words[i] if self.words[i] in MANNER_WORDS else ""
        start = i + 1 if manner else i
        for n in range(LONGEST_GROUP, 0, -1):
            for verb, form, negative, passive, persons in GROUPS.get(self.words[start : start + n], ()):
                if form not in forms or number not in persons or (manner and form != "past"):
                    continue
                for frame in FRAMES_OF.get((verb, passive), ()):
                    if not _fits(frame, subject) or (gap and "T" not in frame.tail):
                        continue
                    clause = Clause(frame.kind, verb, form, negative, frame.name, (), manner=manner)
                    found += self.tail(start + n, frame, 0, clause, gap)
        return found

    def tail(self, i: int, frame: Frame, at: int, clause: Clause, gap: bool) -> Clauses:
        """What a frame wants after its verb, then adverbials."""
        if at == len(frame.tail):
            return self.adverbials(i, clause)
        symbol, word = frame.tail[at], self.words[i]
        if symbol == "T" and gap:
            return self.tail(i, frame, at + 1, clause, gap)
        if symbol in "ATRLX@":
            found: Clauses = []
            for end, noun in self._role(symbol, i):
                found += self.tail(
                    end, frame, at + 1, clause._replace(nouns=(*clause.nouns, (symbol, noun))), gap
                )
            return found
        if symbol == "THAT":
            inner = self.clauses(i + 1, _REPORTED) if word == "that" else []
            return [(end, clause._replace(inner=told)) for end, told in inner]
        if symbol == "TO":
            inner = self.predicates(i, "person", "s", _INFINITIVE)
            return [(end, clause._replace(inner=told)) for end, told in inner]
        if symbol == "a":
            if article(self.words[i + 1]) != f"{word} {self.words[i + 1]}":
                return []
        elif symbol == "JOB":
            if word not in JOB_NOUNS:
                return []
            clause = clause._replace(detail=word)
        elif symbol == "TRAIT":
            if word not in TRAIT_WORDS:
                return []
        elif symbol in WORD_SETS:
            if word not in WORD_SETS[symbol]:
                return []
            clause = clause._replace(detail=word)
        elif word != symbol:
            return []
        return self.tail(i + 1, frame, at + 1, clause, gap)

    def _role(self, symbol: str, i: int) -> list[tuple[int, Noun]]:
        if symbol == "T":
            return self.things(i, subject=False)
        if symbol == "L":
            return self.place(i)
        if symbol == "@":
            return self.where(i)
        if symbol == "X":
            return [(i + 1, Noun("name", self.words[i], "s"))] if self.words[i] in NAMES else []
        return self.person(i, subject=False)

    def adverbials(self, i: int, clause: Clause) -> Clauses:
        """The clause as it is, and with a manner, a place, a time after it."""
        found = [(i, clause)]
        if self.words[i] in MANNER_WORDS and not clause.manner:
            clause = clause._replace(manner=self.words[i])
            i += 1
            found.append((i, clause))
        for end, noun in self.where(i):
            clause = clause._replace(nouns=(*clause.nouns, ("@", noun)))
            found.append((end, clause))
            i = end
        for end, phrase in self.time(i):
            found.append((end, clause._replace(time=phrase)))
        return found


def _fits(frame: Frame, subject: str) -> bool:
    if subject == "person":
        return frame.subject in _PEOPLE
    return frame.subject == "T" if subject == "thing" else frame.subject == subject


PLURAL = {frame.subject: frame.plural for frames in FRAMES_OF.values() for frame in frames}
BY_SUBJECT = {frame.name: frame.subject for frames in FRAMES_OF.values() for frame in frames}


_LONGEST = 80  # words: twice what the world writes; longer text is no sentence, and need not cost time


def _tokens(sentence: str) -> list[str]:
    tokens = words(sentence) if opens_capital(sentence) else []
    return tokens if len(tokens) <= _LONGEST else []


@lru_cache(maxsize=4096)
def parse(sentence: str) -> tuple[Meaning, ...]:
    """Every meaning of a sentence (usually one; none if it is not a sentence of the language)."""
    tokens = _tokens(sentence)
    return tuple(Parser(tokens).meanings()) if tokens else ()


def parse_headline(headline: str) -> tuple[Meaning, ...]:
    """Every meaning of a headline: clauses in the present tense."""
    tokens = _tokens(headline)
    return tuple(Parser(tokens, frozenset(("present",))).headlines()) if tokens else ()


def grammatical(sentence: str) -> bool:
    """Whether this is a sentence of the world's English."""
    return bool(parse(sentence.strip()))
