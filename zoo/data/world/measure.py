"""How one sees that the world is good: each property with its target and the figure measured."""

import re
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from zoo.data.ngram import KneserNey
from zoo.data.world import oracle
from zoo.data.world.corrupt import CORRUPTIONS, corrupt
from zoo.data.world.grammar import BY_NAME
from zoo.data.world.heldout import SPLITS, place_split, verb_split
from zoo.data.world.lexicon import split_sentences
from zoo.data.world.meaning import Clause
from zoo.data.world.names import PEOPLE
from zoo.data.world.nouns import PLACES
from zoo.data.world.parse import grammatical
from zoo.data.world.recognise import consistent
from zoo.data.world.second import translate_headline
from zoo.data.world.second_grammar import grammatical_second
from zoo.data.world.story import Story
from zoo.data.world.world import World

_WORD = re.compile(r"[A-Za-z]+")


class Figure(NamedTuple):
    """One property: what is wanted, what was measured, whether it holds."""

    name: str
    target: str
    measured: str
    holds: bool


def share(name: str, target: str, hits: int, total: int, holds: bool) -> Figure:
    """A figure that is a share of a total (which must not be empty)."""
    return Figure(name, target, f"{hits / max(total, 1):.2%} of {total:,}", holds and total > 0)


def stories(world: World, split: str, n: int) -> list[Story]:
    """The first n stories of a split (more than the world's own size may be asked for)."""
    return [world.story(split, i) for i in range(n)]


def forms(sample: list[Story]) -> list[Figure]:
    """Length, words, depth, templates; and that the recogniser accepts what the world writes."""
    depths: Counter[int] = Counter()
    templates: Counter[str] = Counter()
    types = {word.lower() for story in sample for word in _WORD.findall(story.text)}
    for story in sample:
        depths.update(sentence.depth for sentence in story.sentences)
        templates.update(sentence.template for sentence in story.sentences)
    lengths = [len(story.sentences) for story in sample]
    total = depths.total()
    deep = total - depths[1]
    most, count = templates.most_common(1)[0]
    fine = sum(bool(consistent(story.text)) for story in sample)
    good = sum(grammatical(line) for story in sample for line in story.lines)
    second = [
        line for story in sample for line in (*story.translation, translate_headline(story.headline) + ".")
    ]
    accepted = sum(map(grammatical_second, second))
    return [
        Figure(
            "sentences in a story",
            "5-12",
            f"{min(lengths)}-{max(lengths)}",
            min(lengths) >= 5 and max(lengths) <= 12,
        ),
        Figure("word types in English", "800-1,500", f"{len(types):,}", 800 <= len(types) <= 1500),
        share("sentences of clause depth >= 2", ">= 20 %", deep, total, deep >= 0.2 * total),
        share(
            f"most frequent of {len(templates):,} templates ({most})",
            "<= 2 %",
            count,
            total,
            count <= 0.02 * total,
        ),
        share("own sentences accepted", "100 %", good, total, good == total),
        share("own stories accepted", "100 %", fine, len(sample), fine == len(sample)),
        share(
            "own sentences of the second language accepted",
            "100 %",
            accepted,
            len(second),
            accepted == len(second),
        ),
    ]


def corruptions(sample: list[Story]) -> list[Figure]:
    """What share of each minimal corruption is rejected."""
    figures = []
    for kind in CORRUPTIONS:
        texts = [text for story in sample if (text := corrupt(story, kind, story.seed))]
        rejected = sum(not consistent(text) for text in texts)
        figures.append(
            share(
                f"corruption rejected: {kind}", ">= 99 %", rejected, len(texts), rejected >= 0.99 * len(texts)
            )
        )
    return figures


def reserved_places(text: str) -> Counter[str]:
    """By split: how many pairs of a person and a place that stand together in a story are reserved for it."""
    words = set(_WORD.findall(text))
    pairs = (place_split(name, place) for name in words & set(PEOPLE) for place in words & set(PLACES))
    return Counter(split for split in pairs if split)


def reserved_verbs(story: Story) -> Counter[str]:
    """By split: how many pairs of a verb and the thing it is about are reserved for it."""
    found: Counter[str] = Counter()
    for sentence in story.sentences:
        for clause in sentence.meaning.clauses:
            for verb, frame, thing in _verbs(clause, ""):
                found[verb_split(BY_NAME[frame], verb, thing)] += 1
    del found[""]
    return found


def _verbs(clause: Clause, gap: str) -> Iterable[tuple[str, str, str]]:
    things = [noun.key for role, noun in clause.nouns if role == "T"] or [gap]
    if clause.frame in BY_NAME:
        yield clause.verb, clause.frame, things[0]
    for _, noun in clause.nouns:
        if noun.relative is not None:
            yield from _verbs(noun.relative, noun.key)
    if clause.inner is not None:
        yield from _verbs(clause.inner, "")


def heldout(world: World, n: int) -> list[Figure]:
    """That the splits share no story, and that reserved pairs stand only where they are reserved for."""
    samples = {split: stories(world, split, n) for split in SPLITS}
    texts = {split: {story.text for story in sample} for split, sample in samples.items()}
    shared = sum(len(texts[a] & texts[b]) for a, b in (*pairwise(SPLITS), (SPLITS[0], SPLITS[2])))
    figures = [Figure("stories shared by two splits", "0", str(shared), shared == 0)]
    for split, sample in samples.items():
        places = [reserved_places(story.text) for story in sample]
        verbs = [reserved_verbs(story) for story in sample]
        strange = sum(
            sum(count for own, count in found.items() if own != split) for found in (*places, *verbs)
        )
        figures.append(
            Figure(f"pairs in {split} that are reserved for another split", "0", str(strange), strange == 0)
        )
        if split != "train":
            own = sum(found[split] > 0 for found in places)
            figures.append(
                share(f"stories of {split} with a name x place of its own", "100 %", own, n, own == n)
            )
            taught = sum(found[split] > 0 for found in verbs)
            figures.append(
                share(f"stories of {split} with a verb x thing of its own", "> 0", taught, n, taught > 0)
            )
    return figures


def join(words: list[str]) -> str:
    """Words and marks as text: the inverse of `oracle.tokens` for what the world writes."""
    text, quoted = "", False
    for word in words:
        if word == '"':
            text += '"' if quoted or not text else ' "'
            quoted = not quoted
        elif word in ".,;?" or word == "'s" or text.endswith(' "') or text == '"':
            text += word
        else:
            text += f" {word}" if text else word
    return text


def ngram(world: World, tokens: int, samples: int, order: int = 5) -> list[Figure]:
    """What a Kneser-Ney model of so many tokens writes, as the recogniser sees it, and how well it predicts."""
    ids: dict[str, int] = {"\n": 0}
    stream: list[int] = [0]
    held = len(stream)
    i = 0
    while len(stream) < tokens:
        stream += [ids.setdefault(word, len(ids)) for word in oracle.tokens(world.story("train", i).text)]
        stream.append(0)
        i += 1
    test = [0]
    for story in stories(world, "test", 200):
        test += [ids.setdefault(word, len(ids)) for word in oracle.tokens(story.text)] + [0]
    model = KneserNey(order=order).fit(np.array(stream), len(ids))
    bits = model.loss(np.array(test)) / np.log(2)
    words = list(ids)
    rng = np.random.default_rng(world.seed)
    texts = []
    for _ in range(samples):
        drawn = model.sample([0], 400, rng, stop=0)
        texts.append(join([words[int(one)] for one in drawn if one != 0]))
    fine = sum(bool(consistent(text)) for text in texts)
    lines = [line for text in texts for line in split_sentences(text)]
    formed = sum(grammatical(line.strip()) for line in lines)
    return [
        share(f"stories of a {order}-gram of {len(stream) - held:,} tokens that are consistent", "< 5 %", fine, samples,
               fine < 0.05 * samples),
        Figure("  of its sentences, grammatical", "", f"{formed / max(len(lines), 1):.1%} of {len(lines):,}", True),
        Figure("  its loss on the test split", "", f"{bits:.2f} bits a token", True),
    ]  # fmt: skip
