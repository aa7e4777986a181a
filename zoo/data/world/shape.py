"""The shape of a sentence: how deep its clauses are nested, and which template it is an instance of."""

from zoo.data.world.grammar import BY_NAME
from zoo.data.world.meaning import Clause, Meaning


def depth(meaning: Meaning) -> int:
    """Clause depth: 1 for a single clause, one more for a conjunction, a relative, a reported or a quoted clause."""
    joined = len(meaning.clauses) > 1 or bool(meaning.speech)
    relative = max((_depth(noun.relative) for noun in meaning.speech if noun.relative is not None), default=0)
    return max(joined + max(map(_depth, meaning.clauses)), 1 + relative)


def _depth(clause: Clause) -> int:
    inside = [noun.relative for _, noun in clause.nouns if noun.relative is not None]
    inside += [clause.inner] if clause.inner is not None else []
    return 1 + max(map(_depth, inside), default=0)


def template(meaning: Meaning) -> str:
    """The sentence without its words: construction, adverbials, and for every clause its frame, form and relatives.

    Two sentences with one template differ in words only: in names, nouns, pronouns, adjectives and verbs of one kind.
    """
    front = "front " if meaning.front else ""
    return f"{front}{meaning.relation}: {' / '.join(map(_template, meaning.clauses))}"


def _template(clause: Clause) -> str:
    parts = [_frame(clause), clause.form]
    parts += [
        mark
        for mark, there in (("not", clause.negative), ("manner", clause.manner), ("time", clause.time))
        if there
    ]
    for role, noun in clause.nouns:
        parts += [role] if role == "@" else []
        parts += [f"{role}({_template(noun.relative)})"] if noun.relative is not None else []
    parts += [f"that({_template(clause.inner)})"] if clause.inner is not None else []
    return " ".join(parts)


def _frame(clause: Clause) -> str:
    """The frame without its verb; what is fixed together (activities, scenes) counts as one frame each kind."""
    frame = BY_NAME.get(clause.frame)
    if frame is None or clause.kind == "do":
        return clause.kind
    return f"{clause.kind} {frame.subject if len(frame.subject) == 1 else 'N'}-{'.'.join(frame.tail)}"
