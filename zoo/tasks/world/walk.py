"""From stories to examples."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from zoo.data.world import Story, World
from zoo.data.world.dice import Dice
from zoo.data.world.telling import LONGEST
from zoo.errors import UserError
from zoo.tasks.task import Example

_TASKS = 2**70  # the streams of dice that choose what of a story becomes an item, apart from the story's own


def dice(story: Story, stream: int) -> Dice:
    """Dice for one kind of item."""
    return Dice(story.seed + stream * _TASKS)


def walk(
    source: World,
    items: Callable[[Story], Iterable[Example]],
    *,
    sentences: int = LONGEST,
    per_story: int = 1,
    **counts: int,
) -> Callable[[str], list[Example]]:
    """What makes the examples of a split, ``counts[split]`` of them: story by story, at most ``per_story`` of each.

    Stories are told up to the event that reaches ``sentences``; those that leave an ambiguous name open are passed
    over.
    An item whose answer stands in what is read, where it is to be written and not found, is passed over.

    Raises:
        UserError: the source is no world.
    """
    if not isinstance(source, World):
        raise UserError(
            "this task is about stories of the world: use it with data=world, or choose another task"
        )

    def make(split: str) -> list[Example]:
        made: list[Example] = []
        number = 0
        while len(made) < counts[split]:
            story = source.story(split, number, sentences=sentences)
            fit = [one for one in items(story) if not _given_away(one)] if story.settled else []
            made += [replace(one, item=f"{split}/{number}/{j}") for j, one in enumerate(fit[:per_story])]
            number += 1
        return made[: counts[split]]

    return make


def _given_away(example: Example) -> bool:
    written = not example.spans and " " in example.answers[0]  # a class is one word
    return written and example.answers[0] in f"{example.text} {example.query}"
