"""A generated micro-world in plain English, with a recogniser of its grammar and of its stories' consistency."""

from zoo.data.world.annotate import Entity, Question
from zoo.data.world.parse import grammatical
from zoo.data.world.recognise import Verdict, consistent, judge
from zoo.data.world.second_grammar import grammatical_second
from zoo.data.world.story import Sentence, Story
from zoo.data.world.world import World

__all__ = [
    "Entity",
    "Question",
    "Sentence",
    "Story",
    "Verdict",
    "World",
    "consistent",
    "grammatical",
    "grammatical_second",
    "judge",
]
