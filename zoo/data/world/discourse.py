"""What has been mentioned, and what a pronoun can therefore mean.

A pronoun is clear when exactly one person (thing, pair, place) mentioned in this sentence or the one before fits it and
is not already in the same clause. The writer uses a pronoun only then; the recogniser takes anything else for a fault.
"""

from zoo.data.world.names import GENDER
from zoo.data.world.nouns import THINGS

PERSONAL: dict[str, tuple[str, str]] = {
    "he": ("m", "he"),
    "him": ("m", "he"),
    "she": ("f", "she"),
    "her": ("f", "she"),
}


class Discourse:
    """The mentions of a story so far, by sentence."""

    def __init__(self) -> None:
        self.sentence = 0
        self.people: dict[str, int] = {}  # name: the sentence that last mentioned it
        self.things: dict[str, int] = {}
        self.looks: dict[str, str] = {}  # thing: its adjective ("" if it has none)
        self.pair = ("", -9)
        self.place = ("", -9)

    def mention_person(self, name: str) -> None:
        """Somebody (or a pair) is named or meant."""
        self.people[name] = self.sentence

    def mention_pair(self, key: str) -> None:
        """Two people are named or meant together."""
        self.pair = (key, self.sentence)
        for name in key.split("&"):
            self.people[name] = self.sentence

    def mention_thing(self, noun: str) -> None:
        """A thing is named or meant."""
        self.things[noun] = self.sentence

    def mention_place(self, noun: str) -> None:
        """A place is named or meant."""
        self.place = (noun, self.sentence)

    def person(self, gender: str, mates: tuple[str, ...] = ()) -> str:
        """The one person that "he" ("m") or "she" ("f") can mean beside these clause mates, or ""."""
        recent, found = self.sentence - 1, ""
        for name, sentence in self.people.items():
            if sentence >= recent and GENDER[name] == gender and name not in mates:
                if found:
                    return ""
                found = name
        return found

    def possessor(self, gender: str, owner: str, mates: tuple[str, ...]) -> bool:
        """Whether "his" or "her" clearly means this owner: first in the clause, or the only one it can be."""
        return mates[:1] == (owner,) or self.person(gender) == owner

    def thing(self, *, plural: bool) -> str:
        """The one thing that "it" (or "them") can mean, or ""."""
        recent, found = self.sentence - 1, ""
        for noun, sentence in self.things.items():
            if sentence >= recent and THINGS[noun].plural == plural:
                if found:
                    return ""
                found = noun
        return found

    def they(self) -> str:
        """The pair that "they" can mean, or ""."""
        return self.pair[0] if self.pair[1] >= self.sentence - 1 else ""

    def there(self) -> str:
        """The place that "there" can mean, or ""."""
        return self.place[0] if self.place[1] >= self.sentence - 1 else ""
