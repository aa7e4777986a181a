"""The oracle's guesses, the information in a story, and the measurements that the documentation prints."""

import random

import pytest

from zoo.data.world import World, ceilings, grammatical, measure
from zoo.data.world.dice import CountingDice, Dice
from zoo.data.world.narrate import Narrator
from zoo.data.world.oracle import entropy, left_guess, overlap, tokens


def test_the_left_text_says_nothing_about_a_marked_name():
    guesses = [guess for i in range(150) for guess in left_guess(World().story_seed("test", i), "test")]
    assert len(guesses) > 100
    assert set(guesses) == {0.5}


def test_the_oracle_sees_a_leak(monkeypatch):
    """A teller that hints at the type before it names the name."""
    riddle = Narrator._riddle

    def leaky(self, step):
        if self.plan.riddle_type == "person":
            self.busy()
        riddle(self, step)

    monkeypatch.setattr(Narrator, "_riddle", leaky)
    guesses = [guess for i in range(60) for guess in left_guess(World().story_seed("test", i), "test")]
    assert sum(guesses) / len(guesses) > 0.9


def test_counting_dice_draw_the_same_and_count_bits():
    plain, counting = Dice(5), CountingDice(5)
    draws = [(dice.pick("abcd"), dice.chance(0.25), dice.shuffled("abc")) for dice in (plain, counting)]
    assert draws[0] == draws[1]
    assert counting.bits == pytest.approx(2 + (2 if draws[1][1] else 0.415) + 2.585, abs=1e-3)


def test_entropy_of_a_story():
    bits, count = entropy(World().story_seed("test", 3), "test")
    assert count == len(tokens(World().story("test", 3).text))
    assert 1 < bits / count < 4


def test_overlap():
    assert overlap("a b c", "a b c") == 1
    assert overlap("a b", "c d") == 0
    assert overlap("a b c d", "a b") == pytest.approx(2 / 3)


def test_join_is_the_inverse_of_tokens():
    for i in range(100):
        text = World().story("train", i).text
        assert measure.join(tokens(text)) == text


def test_all_figures_hold_at_a_small_size():
    world = World(seed=1)
    sample, train = measure.stories(world, "test", 150), measure.stories(world, "train", 150)
    figures = [
        *measure.forms(sample)[2:],
        *measure.heldout(world, 50),
        *ceilings.riddles(sample, train),
        *ceilings.ceilings(sample[:40]),
        *ceilings.targets(sample),
    ]
    assert [figure for figure in figures if not figure.holds and "naive Bayes" not in figure.name] == []


def test_figures_see_faults():
    sample = measure.stories(World(), "test", 20)
    sample[3].text = sample[3].text.replace(" was ", " were ", 1).replace(" had ", " have ", 1)
    accepted = {figure.name: figure.holds for figure in measure.forms(sample)}
    assert not accepted["own stories accepted"]


def test_a_5_gram_writes_sentences_but_no_stories():
    figures = measure.ngram(World(), tokens=150_000, samples=20)
    assert figures[0].holds


@pytest.mark.slow
def test_a_5_gram_of_5_million_tokens_writes_no_stories():
    figures = measure.ngram(World(), tokens=5_000_000, samples=300)
    assert figures[0].holds, figures


def test_shuffled_words_are_not_grammatical():
    random.seed(0)
    wrong = 0
    for i in range(40):
        for line in World().story("train", i).lines:
            words = tokens(line)[:-1]
            random.shuffle(words)
            wrong += grammatical(measure.join([*words, "."]))
    assert wrong <= 8  # "Anna saw Ben." turned round is a sentence
