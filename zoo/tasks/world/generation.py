"""What is written about a story or to go on with it: translation, headline, reply, writing, completion.

Each function makes a task from a world, with the arguments of `zoo.tasks.world.understanding`.  Where many texts are
right, the headline metric asks the world's recogniser, not for the words of one reference; the overlap with the
references is reported beside it.
"""

from __future__ import annotations

from collections.abc import Sequence

from zoo.data.world import Story, World, consistent
from zoo.data.world.lexicon import split_sentences
from zoo.data.world.names import GENDER
from zoo.data.world.nouns import THINGS
from zoo.data.world.oracle import tokens
from zoo.data.world.second import translate
from zoo.tasks import metrics
from zoo.tasks.kinds import Made, Scores, generate, most_frequent, once, overlap, references
from zoo.tasks.task import Example, Prediction
from zoo.tasks.world import asking
from zoo.tasks.world.walk import dice, walk


def translation(*, source: World, train: int = 4000, validation: int = 200, test: int = 500,
                per_story: int = 1, sentences: int = 1) -> Made:  # fmt: skip
    """So many sentences, one after the other, in the second language.  Metric: BLEU; baseline: the source."""

    def items(story: Story) -> list[Example]:
        starts = dice(story, 2).shuffled(range(len(story.lines) - sentences + 1))
        return [
            Example("", " ".join(story.lines[i : i + sentences]),
                    answers=(" ".join(story.translation[i : i + sentences]),))
            for i in starts
        ]  # fmt: skip

    def know(examples: Sequence[Example]) -> list[Prediction]:
        return [" ".join(map(translate, split_sentences(example.text))) for example in examples]

    made = walk(source, items, per_story=per_story, train=train, validation=validation, test=test)
    return generate("translation", made, metric="bleu", oracle=know)


def headline(
    *,
    source: World,
    train: int = 4000,
    validation: int = 200,
    test: int = 500,
    sentences: int = 4,
    draws: int = 5,
) -> Made:
    """A story in a line.  Metric: "events", F1 between what the line says happened and what the nearest reference says,
    in whatever words: truth alone would praise a line about nothing that matters, overlap of words one that is wrong.

    The references of validation and test are ``draws`` headlines of the story; the oracle draws another.  Baseline: the
    first sentence.
    """

    def items(story: Story) -> list[Example]:
        if not story.headline:  # nothing yet that one would tell in a line
            return []
        more = 1 if story.split == "train" else draws
        drawn = [story.headline, *(_again(story, n).headline for n in range(1, more))]
        return [Example("", story.text, answers=tuple(dict.fromkeys(drawn)))]

    def score(examples: Sequence[Example], predictions: Sequence[str]) -> Scores:
        pairs = list(zip(examples, predictions, strict=True))
        return {
            "events": [_events(example, said) for example, said in pairs],
            "true": [asking.true(example.text, said) for example, said in pairs],
            **overlap(examples, predictions),
        }

    def know(examples: Sequence[Example]) -> list[Prediction]:
        return [_again(_story_of(source, example, sentences), draws).headline for example in examples]

    def first(examples: Sequence[Example]) -> list[Prediction]:
        return [split_sentences(example.text)[0].removesuffix(".") for example in examples]

    made = walk(source, items, sentences=sentences, train=train, validation=validation, test=test)
    return generate("headline", made, metric="events", score=score, baseline=first, oracle=know)


def reply(
    *,
    source: World,
    train: int = 4000,
    validation: int = 200,
    test: int = 500,
    sentences: int = 4,
    per_story: int = 2,
) -> Made:
    """The next turn of a dialogue about a story: the text is the story and the turns so far, the query the last one.

    Metric: "right", 1 for a reply that is true in the story and speaks of what was asked.  Baseline: the story's first
    sentence.
    """

    def items(story: Story) -> list[Example]:
        turns = story.dialogue
        return [
            Example("", "\n".join((story.text, *(f"- {turn}" for turn in turns[:i]))), query=turns[i],
                    answers=(turns[i + 1],))
            for i in range(0, len(turns) - 1, 2)
        ]  # fmt: skip

    def score(examples: Sequence[Example], predictions: Sequence[str]) -> Scores:
        pairs = list(zip(examples, predictions, strict=True))
        true = [asking.true(_story(example), said) for example, said in pairs]
        about = [_about(example, said) for example, said in pairs]
        return {
            "right": [a * b for a, b in zip(true, about, strict=True)],
            "true": true,
            "about": about,
            "grammatical": [asking.formed(said) for said in predictions],
            **overlap(examples, predictions),
        }

    def first(examples: Sequence[Example]) -> list[Prediction]:
        return [split_sentences(example.text)[0] for example in examples]

    made = walk(
        source, items, sentences=sentences, per_story=per_story, train=train, validation=validation, test=test
    )
    return generate("reply", made, metric="right", score=score, baseline=first)


def writing(
    *,
    source: World,
    train: int = 4000,
    validation: int = 200,
    test: int = 500,
    sentences: int = 6,
    written: int = 3,
) -> Made:
    """How a story goes on, the last ``written`` of its sentences.

    Metric: "told", the share of that many sentences that tell an event and come before the first fault: a sentence
    that is not of the language, contradicts the story, or only repeats one of it.  "held" counts sentences that tell
    none too.  Baseline: its last sentence, again and again.
    """

    def items(story: Story) -> list[Example]:
        kept = len(story.lines) - written
        return [Example("", story.beginning(kept), answers=(" ".join(story.lines[kept:]),))]

    def score(examples: Sequence[Example], predictions: Sequence[str]) -> Scores:
        pairs = list(zip(examples, predictions, strict=True))
        gone = [asking.gone_on(split_sentences(example.text), said, written) for example, said in pairs]
        return {
            "told": [told for _, told in gone],
            "held": [held for held, _ in gone],
            "consistent": [float(held == 1) for held, _ in gone],
            "whole": [float(bool(consistent(f"{example.text} {said.strip()}"))) for example, said in pairs],
            "grammatical": [asking.formed(said) for said in predictions],
            "distinct_2": [metrics.distinct([said]) for said in predictions],
            "new": [asking.new(example.text, said) for example, said in pairs],
            **metrics.rouge(predictions, references(examples)),
        }

    def last(examples: Sequence[Example]) -> list[Prediction]:
        return [" ".join(split_sentences(example.text)[-1:] * written) for example in examples]

    made = walk(source, items, sentences=sentences, train=train, validation=validation, test=test)
    return generate("writing", made, metric="told", score=score, baseline=last)


def completion(
    *,
    source: World,
    train: int = 4000,
    validation: int = 200,
    test: int = 500,
    sentences: int = 4,
    per_story: int = 1,
) -> Made:
    """The rest of a sentence: the text is the story so far and the sentence's first words.

    Metric: "held", 1 where the sentence is completed as the language and the story allow, and nothing follows it.
    Baseline: the most frequent rest in train.
    """

    def items(story: Story) -> list[Example]:
        throw, found = dice(story, 3), []
        for i in throw.shuffled(range(1, len(story.lines))):
            words = story.lines[i].split()
            if len(words) > 5:
                cut = throw.pick(range(2, len(words) - 2))
                text = f"{story.beginning(i)} {' '.join(words[:cut])}"
                found.append(Example("", text, answers=(" ".join(words[cut:]),)))
        return found

    def score(examples: Sequence[Example], predictions: Sequence[str]) -> Scores:
        held, formed = [], []
        for example, said in zip(examples, predictions, strict=True):
            *before, start = split_sentences(example.text)
            sentence = f"{start} {said.strip()}"
            formed.append(asking.formed(sentence) if len(split_sentences(sentence)) == 1 else 0.0)
            held.append(formed[-1] and asking.gone_on(before, sentence, 1)[0])
        return {"held": held, "grammatical": formed, **overlap(examples, predictions)}

    made = once(
        walk(
            source,
            items,
            sentences=sentences,
            per_story=per_story,
            train=train,
            validation=validation,
            test=test,
        )
    )
    return generate("completion", made, metric="held", score=score, baseline=most_frequent(made))


def _again(story: Story, draw: int) -> Story:
    """The same story, everything that has many right answers drawn once more."""
    return Story(story.seed, story.split, annotation=story.annotation + draw, sentences=story.longest)


def _story_of(source: World, example: Example, sentences: int) -> Story:
    split, number, _ = example.item.split("/")
    return source.story(split, int(number), sentences=sentences)


def _asked(question: str) -> set[str]:
    """The people and things that a question names."""
    return {word for word in tokens(question) if word in GENDER or word in THINGS}


def _story(example: Example) -> str:
    return example.text.split("\n")[0]


def _events(example: Example, said: str) -> float:
    claimed = asking.claims(example.text, said)
    return max(asking.shared(claimed, asking.claims(example.text, one)) for one in example.answers)


def _about(example: Example, said: str) -> float:
    """1 where somebody or something that the question names takes part in what the reply tells."""
    parts = {
        part
        for event in asking.claims(_story(example), said)
        for part in (*event.agent.split("&"), *event.other.split("&"), event.thing)
    }
    return float(bool(parts & _asked(example.query)))
