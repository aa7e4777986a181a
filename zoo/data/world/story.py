"""A story and what is known about it. Everything but the text is worked out only when it is asked for."""

from dataclasses import dataclass
from functools import cached_property

from zoo.data.world.annotate import Entity, Examiner, Question, entities, settling
from zoo.data.world.dialogue import dialogue
from zoo.data.world.dice import Dice
from zoo.data.world.meaning import Event, Meaning
from zoo.data.world.narrate import Narrator
from zoo.data.world.parse import parse
from zoo.data.world.plan import plan
from zoo.data.world.retell import headline
from zoo.data.world.second import second
from zoo.data.world.shape import depth, template
from zoo.data.world.telling import LONGEST


@dataclass(frozen=True)
class Sentence:
    """One sentence and where it stands in the story (characters from `start` to before `end`)."""

    text: str
    start: int
    end: int

    @cached_property
    def meaning(self) -> Meaning:
        """What it means."""
        return parse(self.text)[0]

    @property
    def depth(self) -> int:
        """How deep its clauses are nested; 1 is a single clause."""
        return depth(self.meaning)

    @property
    def template(self) -> str:
        """What remains of it without its words."""
        return template(self.meaning)


class Story:
    """One story: its `text`, and what is known about it, lazily."""

    def __init__(
        self,
        seed: int,
        split: str,
        dice: Dice | None = None,
        *,
        riddle_type: str = "",
        annotation: int = 0,
        sentences: int = LONGEST,
    ) -> None:
        """From a seed. `sentences`: told up to the event that reaches so many; the same words as those of the whole.

        For the oracle: other dice, another type of the ambiguous name, other annotations.
        """
        dice = dice or Dice(seed)
        self.seed, self.split, self.plan, self.annotation = seed, split, plan(dice, split), annotation
        self.longest = sentences
        if riddle_type:
            self.plan = self.plan._replace(riddle_type=riddle_type)
        narrator = Narrator(self.plan, dice)
        narrator.tell(sentences)
        self.lines: tuple[str, ...] = tuple(narrator.sentences)
        self.log: tuple[tuple[int, Event], ...] = tuple(narrator.log)
        self.text: str = " ".join(self.lines)
        self.topic, self.mood = self.plan.topic, self.plan.mood
        self._told = narrator.english

    def _dice(self, stream: int) -> Dice:
        """Fresh dice for one kind of annotation, so that none depends on which others were asked for."""
        return Dice(self.seed + (stream + 16 * self.annotation) * 2**60)

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """The sentences with their spans over `text`."""
        found, start = [], 0
        for line in self.lines:
            found.append(Sentence(line, start, start + len(line)))
            start += len(line) + 1
        return tuple(found)

    @property
    def settled(self) -> bool:
        """Whether what its ambiguous name is, if it has one, is said by its end."""
        name = self.plan.riddle
        return not name or name not in self.text or settling(self.log, name) is not None

    @property
    def _spans(self) -> list[tuple[int, int]]:
        return [(sentence.start, sentence.end) for sentence in self.sentences]

    def beginning(self, sentences: int) -> str:
        """The first sentences, to be gone on with: right is whatever keeps `consistent(beginning + " " + rest)`."""
        return " ".join(self.lines[:sentences])

    @cached_property
    def headline(self) -> str:
        """The story in a line."""
        return headline(self._dice(1), self.split, self._told, self.log)

    @cached_property
    def translation(self) -> tuple[str, ...]:
        """The sentences in the second language, in the order of `sentences`."""
        return tuple(second(sentence.meaning) for sentence in self.sentences)

    @cached_property
    def entities(self) -> tuple[Entity, ...]:
        """Every name in the text, with its type."""
        return entities(self.text, self._spans, self.log, self.plan.riddle, self.plan.riddle_type)

    def _examiner(self, stream: int) -> Examiner:
        return Examiner(
            self._dice(stream), self.split, self.text, self._spans, self._told, self.log, self.plan.riddle
        )

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """Questions whose answers stand in the text."""
        return self._examiner(2).questions()

    @cached_property
    def statements(self) -> tuple[tuple[str, str], ...]:
        """Sentences about the story, each "true", "false" or "unknown"."""
        return self._examiner(3).statements()

    @cached_property
    def versions(self) -> tuple[tuple[str, str], ...]:
        """Sentences about what happened, each as it was and with something wrong."""
        return self._examiner(6).versions()

    @cached_property
    def dialogue(self) -> tuple[str, ...]:
        """Turns about the story, alternately a question and its answer."""
        return dialogue(self._dice(4), self.split, self._told, self.log)
