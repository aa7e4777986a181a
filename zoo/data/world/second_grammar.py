"""Whether a sentence of the second language is grammatical: agreement, case, the verb's frame, verb last."""

import re
from dataclasses import dataclass, field
from functools import cache

from zoo.data.world import second_lexicon as words
from zoo.data.world.grammar import FRAMES, Frame
from zoo.data.world.names import GENDER
from zoo.data.world.second import MOVING, OTHER_CASE
from zoo.data.world.second_lexicon import Form

_TOKEN = re.compile(r"[A-Za-z]+(?:-[a-z]+)?|[^\sA-Za-z]")
_SUBORDINATE, _COORDINATE = frozenset(words.SUBORDINATE.values()), frozenset(words.COORDINATE.values())


class Wrong(Exception):
    """The sentence breaks a rule."""


@dataclass
class _Clause:
    """What has been read of a clause: the cases of its noun phrases, who the subject is, its other words."""

    cases: list[str] = field(default_factory=list)
    subject: str = ""  # the agreement that the subject asks of the verb
    nominatives: int = 0
    words: set[str] = field(default_factory=set)
    adjective: bool = False
    attribute: bool = False
    complement: bool = False


@cache
def _needs(frame: Frame) -> tuple[frozenset[str], frozenset[str], bool, int]:
    """The object cases, words and extras that a frame wants: cases, idiom, has adjective, extra nominatives."""
    cases = []
    for role in (frame.subject, *frame.tail):
        if role == "T" and frame.kind not in ("lie", "belong"):
            cases.append("acc")
        elif role == "R" or (role == "X" and frame.subject != "X"):
            cases.append(OTHER_CASE.get(frame.kind, "dat"))
        elif role in ("L", "@"):
            cases.append("all" if frame.kind in MOVING else "loc")
    idiom = frozenset(words.word(part) for part in words.literal(frame.tail))
    adjective = "FEEL" in frame.tail or "SKY" in frame.tail
    return frozenset(cases), idiom, adjective, int("JOB" in frame.tail)


@cache
def _frames() -> dict[str, tuple[Frame, ...]]:
    table: dict[str, list[Frame]] = {}
    for frame in FRAMES:
        converse = frame.subject == "R" and not frame.passive
        for verb in {frame.kind} if converse else set(frame.verbs):
            table.setdefault(verb, []).append(frame)
    return {verb: tuple(frames) for verb, frames in table.items()}


class _Reader:
    def __init__(self, tokens: list[str]) -> None:
        self.tokens, self.i = [*tokens, "", "", ""], 0

    def take(self, token: str) -> bool:
        if self.tokens[self.i] == token:
            self.i += 1
            return True
        return False

    def form(self, ahead: int = 0) -> Form | None:
        found = words.forms().get(self.tokens[self.i + ahead])
        return found[0] if found else None

    def sentence(self) -> None:
        first = self.form()
        if first is not None and first.category == "word" and self.tokens[self.i + 1] == ",":
            self.i += 2
        if ":" in self.tokens:
            self.speech()
        else:
            self.clauses()
            self.end(".")

    def end(self, mark: str) -> None:
        if not self.take(mark):
            raise Wrong(f"'{self.tokens[self.i]}' where the sentence should end")

    def speech(self) -> None:
        said = self.clause(speech=True)
        if said.lemma != "say":
            raise Wrong("nobody says it")
        for mark in (":", '"'):
            self.end(mark)
        asked = self.form()
        if (
            asked is not None
            and asked.lemma in ("where", "who", "seen", "looking")
            and asked.category == "word"
        ):
            self.i += 1
            case, _, agreement = self.noun_phrase()
            verb = self.form()
            if (
                case != "nom"
                or verb is None
                or verb.category != "verb"
                or agreement not in ("", verb.agreement)
            ):
                raise Wrong("not a question")
            self.i += 1
            self.end(words.ASK)
        else:
            self.clauses()
        for mark in (".", '"'):
            self.end(mark)

    def clauses(self) -> None:
        self.clause()
        while True:
            if self.tokens[self.i] in _SUBORDINATE:
                self.i += 1
                self.end(",")
            elif self.tokens[self.i] in _COORDINATE:
                self.i += 1
            else:
                return
            self.clause()

    def clause(self, *, relative: bool = False, speech: bool = False) -> Form:
        """Noun phrases, words, complement, then the verb, which closes the clause."""
        clause = _Clause()
        while True:
            form = self.form()
            if self.take(words.NOT):
                form = self.form()
                if form is None or form.category != "verb":
                    raise Wrong("'ne' stands before the verb")
            if self.take(words.THAT[0]):
                self.clause()
                self.end(words.THAT[1])
                clause.complement = True
            elif form is not None and form.category == "verb":
                self.i += 1
                self.check(clause, form, relative=relative, speech=speech)
                return form
            elif form is not None and form.category == "word":
                clause.words.add(self.tokens[self.i])
                self.i += 1
            elif form is not None and form.category == "adjective":
                clause.adjective = True
                if form.case != "nom" or clause.subject not in ("", form.agreement):
                    raise Wrong("the adjective does not agree")
                clause.subject = clause.subject or form.agreement
                self.i += 1
            else:
                before = self.i
                case, _, agreement = self.noun_phrase()
                if case == "nom":
                    last = self.form(-1)  # "the sky grey was": the adjective is the predicate's
                    clause.attribute |= (
                        self.i > before + 1 and last is not None and last.category == "adjective"
                    )
                    clause.nominatives += 1
                    clause.subject = clause.subject or agreement
                elif case in clause.cases:
                    raise Wrong(f"two noun phrases in the {case}")
                else:
                    clause.cases.append(case)

    def check(self, clause: _Clause, verb: Form, *, relative: bool, speech: bool) -> None:
        """Agreement of the verb, and whether one of its frames wants just these cases."""
        if verb.agreement and clause.subject not in ("", verb.agreement):
            raise Wrong("the verb does not agree")
        if speech:
            return
        have = set(clause.cases)
        for frame in _frames().get(verb.lemma, ()):
            cases, idiom, adjective, extra = _needs(frame)
            missing, more = cases - have, have - cases - {"loc"}
            if len(frame.subject) > 1 and frame.subject != "it" and not clause.nominatives:
                continue
            if clause.nominatives > 1 + extra or (frame.subject == "it" and clause.nominatives):
                continue
            gap = {"acc"} if relative else set()
            fits = not more and missing <= gap and idiom <= clause.words
            fits = fits and (adjective == clause.adjective or (adjective and clause.attribute))
            if (
                fits
                and clause.complement == bool({"THAT", "TO"} & set(frame.tail))
                and (not extra or clause.nominatives)
            ):
                return
        raise Wrong(f"'{verb.lemma}' wants other cases")

    def noun_phrase(self) -> tuple[str, str, str]:
        """Case, lemma and agreement of a noun phrase."""
        form = self.form()
        if form is not None and form.category == "noun" and form.case == "gen":
            self.i += 1
        self.take(words.NEW)
        if self.take(words.RELATIVE[0]):
            self.clause(relative=True)
            self.end(words.RELATIVE[1])
        form = self.form()
        if form is None or form.category != "noun" or form.case == "gen":
            raise Wrong(f"'{self.tokens[self.i]}' where a noun should stand")
        self.i += 1
        following = self.form()
        if (
            following is not None
            and following.category == "adjective"
            and form.lemma not in GENDER
            and self._attribute(form, following)
        ):
            self.i += 1
            following = self.form()
        if (
            following is not None
            and following.lemma in GENDER
            and form.lemma not in GENDER
            and following.case == form.case
        ):
            self.i += 1
            form = following
        if self.tokens[self.i] == "eb" and form.lemma in GENDER:
            other = self.form(1)
            named = other is not None and other.lemma in GENDER and other.case == form.case
            if named and (form.case != "nom" or self._closes(2)):
                self.i += 2
                return form.case, form.lemma, "i"
        return form.case, form.lemma, form.agreement

    def _attribute(self, noun: Form, adjective: Form) -> bool:
        """An adjective after a noun is its attribute if it agrees; one in another case is a fault."""
        if adjective.case != noun.case or adjective.agreement != (noun.form or adjective.agreement):
            raise Wrong("the adjective does not agree with its noun")
        return True

    def _closes(self, ahead: int) -> bool:
        """Whether "A eb B" is a pair: the verb that follows is a plural (else "eb" joins two clauses)."""
        for token in self.tokens[self.i + ahead :]:
            for form in words.forms().get(token, ()):
                if form.category == "verb":
                    return form.agreement in ("i", "")
        return False


def grammatical_second(sentence: str) -> bool:
    """Whether this is a sentence of the second language."""
    tokens = _TOKEN.findall(sentence)
    opening = True
    for i, token in enumerate(tokens):
        if opening and token[0].isupper() and token.split("-")[0] not in GENDER:
            tokens[i] = token[0].lower() + token[1:]
        opening = token == '"'
    try:
        reader = _Reader(tokens)
        reader.sentence()
    except (Wrong, RecursionError):
        return False
    return reader.tokens[reader.i] == ""
