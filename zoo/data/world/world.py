"""The source `world`: documents and stories by split and index."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from zoo.data.world.dice import Dice
from zoo.data.world.heldout import SPLITS
from zoo.data.world.second import translate_headline
from zoo.data.world.story import Story
from zoo.data.world.telling import LONGEST

_TALKED = 0.2  # the share of English documents that end in a dialogue
_DOCUMENT = 9 * 2**60  # the stream of dice that decides what becomes of a story
SIZES: dict[str, int] = {"train": 20_000, "validation": 1_000, "test": 1_000}


class World:
    """A generated micro-world. Document i of a split is a pure function of (seed, split, i), the same on every machine.

    `stories`: how many per split. `second_language`: the share of documents told in the second language.
    """

    name = "world"

    def __init__(
        self, *, seed: int = 0, stories: dict[str, int] | None = None, second_language: float = 0.1
    ) -> None:
        self.seed, self.second_language = seed, second_language
        self.stories = SIZES | (stories or {})
        for split in self.stories:
            self._split(split)
        if not 0 <= second_language <= 1:
            raise ValueError(f"second_language is a share between 0 and 1, not {second_language}")

    def story(self, split: str, i: int, *, sentences: int = LONGEST) -> Story:
        """Story i of a split; told up to the event that reaches so many sentences, if there are more."""
        return Story(self.story_seed(split, i), split, sentences=sentences)

    def story_seed(self, split: str, i: int) -> int:
        """The seed of one story's dice."""
        return (self.seed * len(SPLITS) + SPLITS.index(self._split(split))) * 2**40 + i

    def _split(self, split: str) -> str:
        if split not in SPLITS:
            raise ValueError(f"unknown split {split!r}: the splits are {', '.join(SPLITS)}")
        return split

    def documents(self, split: str) -> Iterator[str]:
        """The documents for pre-training: a headline, a new line, the story, and after some a dialogue about it."""
        for i in range(self.stories[self._split(split)]):
            story = self.story(split, i)
            dice = Dice(story.seed + _DOCUMENT)
            if dice.chance(self.second_language):
                yield "\n".join((translate_headline(story.headline), " ".join(story.translation)))
            elif dice.chance(_TALKED):
                yield "\n".join((story.headline, story.text, *(f"- {turn}" for turn in story.dialogue)))
            else:
                yield f"{story.headline}\n{story.text}"

    def fingerprint(self) -> str:
        """A hash of everything the documents depend on: seed, sizes, share and the sources of the generator."""
        digest = hashlib.sha256(
            repr((self.seed, sorted(self.stories.items()), self.second_language)).encode()
        )
        for path in sorted(Path(__file__).parent.glob("*.py")):
            digest.update(path.read_bytes())
        return digest.hexdigest()[:16]
