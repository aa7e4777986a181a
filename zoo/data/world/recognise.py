"""Says whether a story is consistent and whether a claim about it is true, from the texts alone."""

from dataclasses import dataclass

from zoo.data.world.lexicon import split_sentences
from zoo.data.world.parse import parse, parse_headline
from zoo.data.world.reader import Fault, Reader


@dataclass(frozen=True)
class Verdict:
    """Whether a text holds together, and if not, why."""

    ok: bool
    reasons: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.ok


def consistent(story_text: str, *, whole: bool = True) -> Verdict:
    """Whether a story holds together. `whole`: it is no mere beginning, so it has 5-12 sentences and no open name."""
    reader = Reader()
    sentences = split_sentences(story_text)
    for number, sentence in enumerate(sentences, 1):
        try:
            reader.read(sentence)
        except Fault as fault:
            return Verdict(False, (f"sentence {number}: {fault}",))
    if whole:
        if not 5 <= len(sentences) <= 12:
            return Verdict(False, (f"{len(sentences)} sentences",))
        for name, can in reader.open.items():
            if len(can) > 1:
                return Verdict(False, (f"{name} is never settled",))
    return Verdict(True)


_OPEN = frozenset(("live", "do", "feel", "think", "job"))  # kinds of which a story need not tell everything


def judge(story_text: str, claim: str) -> str:
    """Whether a story makes a claim "true" or "false", or leaves it "unknown". A claim: sentences, or a headline."""
    reader = Reader()
    try:
        for sentence in split_sentences(story_text):
            reader.read(sentence)
    except Fault:
        return "unknown"
    reader.recalling = True
    for sentence in split_sentences(claim):
        reader.talk.sentence += 9  # nobody is fresh in mind: a pronoun must be clear within the claim
        meanings = parse(sentence) or parse_headline(sentence)
        if not meanings:
            return "unknown"
        try:
            reader.read(sentence)
        except Fault:
            return "unknown" if all(clause.kind in _OPEN for clause in meanings[0].clauses) else "false"
    return "true"
