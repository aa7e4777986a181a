"""Pairs kept back by content: name x place and verb x thing, reserved for validation or for test, never told in train.

A twentieth of the pairs of name and place is reserved for either split, by a hash of the pair; and for every other
thing, one verb of each kind that has at least four.
"""

from functools import cache
from zlib import crc32

from zoo.data.world.grammar import FRAMES, Frame
from zoo.data.world.names import PEOPLE
from zoo.data.world.nouns import PLACES, THINGS

SPLITS: tuple[str, ...] = ("train", "validation", "test")
_PERIOD = 20
_NAMES = frozenset(PEOPLE)
_THING = {noun: i for i, noun in enumerate(THINGS)}
_TURN = {0: "validation", _PERIOD // 2: "test"}


def place_split(name: str, place: str) -> str:
    """The split that this person in this place is reserved for ("" if for none)."""
    if name not in _NAMES or place not in PLACES:
        return ""
    return _TURN.get(crc32(f"{name} {place}".encode()) % _PERIOD, "")


def verb_split(frame: Frame, verb: str, thing: str) -> str:
    """The split that this verb, in a frame of its kind, with this thing is reserved for ("" if for none)."""
    verbs = _verbs_of(frame.kind)
    if len(verbs) < 4 or thing not in _THING:
        return ""
    turn = _THING[thing]
    return (
        {turn % len(verbs): "validation", (turn + 2) % len(verbs): "test"}.get(verbs.index(verb), "")
        if turn % 2
        else ""
    )


@cache
def _verbs_of(kind: str) -> tuple[str, ...]:
    return tuple(
        sorted(
            {
                verb
                for frame in FRAMES
                if frame.kind == kind and "T" in (frame.subject, *frame.tail)
                for verb in frame.verbs
            }
        )
    )


@cache
def allowed_verbs(split: str, frame: Frame, thing: str) -> tuple[str, ...]:
    """The verbs of a frame that this split may use with this thing (all of them for no thing; never none)."""
    return tuple(verb for verb in frame.verbs if verb_split(frame, verb, thing) in ("", split))


@cache
def _barred(split: str, place: str) -> frozenset[str]:
    """The people whom a split may not bring to a place."""
    return frozenset(name for name in PEOPLE if place_split(name, place) not in ("", split))


@cache
def _own(split: str, place: str) -> frozenset[str]:
    """The people who are reserved for a split in a place."""
    return frozenset(name for name in PEOPLE if place_split(name, place) == split)


def allowed_names(split: str, places: list[str], *, own: bool) -> list[str]:
    """The people whom this split may bring to these places; `own`: only those reserved for it with the first place."""
    barred = frozenset().union(*(_barred(split, place) for place in places))
    names = PEOPLE if not own else sorted(_own(split, places[0]))
    return [name for name in names if name not in barred]
