"""What can be reached at best: an oracle's score in each task, what the left text gives away, the entropy."""

from collections.abc import Callable

import numpy as np

from zoo.data.world import oracle
from zoo.data.world.measure import Figure, share
from zoo.data.world.recognise import judge
from zoo.data.world.second import translate
from zoo.data.world.story import Story


def riddles(sample: list[Story], train: list[Story]) -> list[Figure]:
    """The marked part of the tagging task: what the left text gives away, what the whole story does."""
    guesses = [guess for story in sample for guess in oracle.left_guess(story.seed, story.split)]
    mean = sum(guesses) / max(len(guesses), 1)
    learnt, of = oracle.left_classifier(train, sample)
    marked = [(story, entity) for story in sample for entity in story.entities if entity.marked]
    known = {id(story): oracle.types(story.text) for story in sample}
    right = sum(known[id(story)][story.text[e.start : e.end]] == e.type for story, e in marked)
    before = [question.before for story in sample for question in story.questions]
    late = [question.marked for story in sample for question in story.questions]
    return [
        Figure(
            "marked names: best guess from the left text",
            "<= 60 %",
            f"{mean:.2%} of {len(guesses):,}",
            mean <= 0.6,
        ),
        share("marked names: naive Bayes on the left text", "<= 60 %", learnt, of, learnt <= 0.6 * of),
        share("marked names: from the whole story", "100 %", right, len(marked), right == len(marked)),
        share(
            "questions before the passage",
            "about half",
            sum(before),
            len(before),
            0.4 * len(before) < sum(before) < 0.6 * len(before),
        ),
        share(
            "questions decided after the answer has stood",
            "> 10 %",
            sum(late),
            len(late),
            sum(late) > 0.1 * len(late),
        ),
    ]


def ceilings(sample: list[Story]) -> list[Figure]:
    """What an oracle scores in each task, from text alone."""
    few = sample[:200]  # these oracles read the story once for every candidate
    first = sum(oracle.mood_guess(story.text, words=1) == story.mood for story in sample)
    questions = [oracle.answer(s.text, q.text) == q.answer for s in few for q in s.questions]
    return [
        _score("topic", [oracle.topic_guess(story.text) == story.topic for story in sample]),
        _score("mood", [oracle.mood_guess(story.text) == story.mood for story in sample]),
        share(
            "mood from its first telling word alone",
            "<= 75 %",
            first,
            len(sample),
            first <= 0.75 * len(sample),
        ),
        _score("statements", [judge(s.text, text) == label for s in sample for text, label in s.statements]),
        _score("questions", questions),
        _score(
            "translation, exact",
            [translate(a) == b for s in sample for a, b in zip(s.lines, s.translation, strict=True)],
        ),
        _score(
            "replies true in the story",
            [judge(s.text, r) == "true" for s in sample for r in s.dialogue[1::2]],
        ),
        _score(
            "headlines true in the story", [judge(story.text, story.headline) == "true" for story in sample]
        ),
    ]


def _score(task: str, right: list[bool]) -> Figure:
    return share(f"oracle: {task}", ">= 95 %", sum(right), len(right), sum(right) >= 0.95 * len(right))


def targets(sample: list[Story]) -> list[Figure]:
    """The targets of the generation tasks: their length, how many are right, and the information in a story."""
    bits = [oracle.entropy(story.seed, story.split) for story in sample]
    a_token = sum(bit for bit, _ in bits) / sum(count for _, count in bits)
    figures = [
        Figure("derivation entropy of a story", "> 1 bit a token", f"{a_token:.2f} bits a token", a_token > 1)
    ]
    kinds: dict[str, Callable[[Story], str]] = {
        "headline": lambda story: story.headline,
        "dialogue reply": lambda story: story.dialogue[1],
        "translation of two sentences": lambda story: " ".join(story.translation[:2]),
        "continuation by three sentences": lambda story: " ".join(story.lines[-3:]),
    }
    for task, target in kinds.items():
        sizes = [len(oracle.tokens(target(story))) for story in sample]
        within = sum(15 <= size <= 60 for size in sizes)
        figures.append(
            share(f"{task}: 15-60 tokens", "> 50 %", within, len(sizes), within > 0.5 * len(sizes))
        )
    for task in ("headline", "dialogue reply"):
        pairs = [(kinds[task](story), kinds[task](oracle.again(story))) for story in sample]
        same = sum(first == second for first, second in pairs)
        figures.append(
            share(f"{task}: drawn again, the same", "< 20 %", same, len(pairs), same < 0.2 * len(pairs))
        )
        overlap = float(np.mean([oracle.overlap(second, first) for first, second in pairs]))
        figures.append(
            Figure(f"{task}: drawn again, overlap (F1)", "the ceiling", f"{overlap:.3f}", overlap < 1)
        )
    return figures
