"""The documents' applications on the micro-world: ten tasks, each a function of a `World`."""

from zoo.tasks.world.generation import completion, headline, reply, translation, writing
from zoo.tasks.world.understanding import entities, mood, pair, questions, topic

__all__ = [
    "completion", "entities", "headline", "mood", "pair", "questions", "reply", "topic", "translation", "writing",
]  # fmt: skip
