"""Every answer as text, and back: what a model that writes or fills is taught to say, and what is understood of it."""

from __future__ import annotations

from zoo.tasks.task import Example, Prediction, Span

_BETWEEN = "; "  # between two entities of an answer, each a name and its type


def worded(kind: str, example: Example) -> str:
    """The right answer of ``example`` as a model should say it."""
    if kind == "tag":
        return _BETWEEN.join(f"{example.text[s.start : s.end]} {s.label}" for s in example.spans)
    return example.answers[0]


def understood(kind: str, classes: tuple[str, ...], example: Example, said: str) -> Prediction:
    """What ``said`` answers: a class only if it is one, the entities that are found in the text, in its order."""
    said = said.strip()
    if kind == "classify":
        return said if said in classes else ""
    return _entities(classes, example.text, said) if kind == "tag" else said


def _entities(classes: tuple[str, ...], text: str, said: str) -> tuple[Span, ...]:
    found, position = [], 0
    for part in said.split(_BETWEEN.strip()):
        name, _, label = part.strip().rpartition(" ")
        at = text.find(name, position) if name and label in classes else -1
        if at >= 0:
            position = at + len(name)
            found.append(Span(at, position, label))
    return tuple(found)
