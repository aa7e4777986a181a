"""Metrics against reference implementations and literal counts, on random inputs."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torchmetrics.functional.text import bleu_score, chrf_score
from torchmetrics.text import ROUGEScore, SQuAD

from zoo.tasks import metrics
from zoo.tasks.task import Span

WORDS = ("the", "a", "cat", "Cat,", "dog", "saw", "it", "runs", "away.", "42")
TEXT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join)
ITEMS = st.lists(st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3)), min_size=1, max_size=5)


@settings(max_examples=50, deadline=None)
@given(ITEMS)
def test_squad_is_torchmetrics_squad(items):
    reference = SQuAD()
    for i, (said, right) in enumerate(items):
        answers = {"answer_start": [0] * len(right), "text": right}
        reference.update([{"prediction_text": said, "id": str(i)}], [{"answers": answers, "id": str(i)}])
    ours = metrics.squad_scores(*zip(*items, strict=True))
    for name, value in reference.compute().items():
        assert 100 * sum(ours[name]) / len(items) == pytest.approx(float(value), abs=1e-3)


def rouge_literally(said, right, n):
    def words(text):
        return "".join(c if c.isalnum() else " " for c in text.lower()).split()

    a, b = words(said), words(right)
    if n == "L":
        table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
        for i, x in enumerate(a):
            for j, y in enumerate(b):
                table[i + 1][j + 1] = table[i][j] + 1 if x == y else max(table[i][j + 1], table[i + 1][j])
        common, total = table[-1][-1], len(a) + len(b)
    else:
        mine, its = ([tuple(x[i : i + n]) for i in range(len(x) - n + 1)] for x in (a, b))
        common, total = sum(min(mine.count(g), its.count(g)) for g in set(mine)), len(mine) + len(its)
    return 2 * common / total if common else 0.0


@settings(max_examples=50, deadline=None)
@given(ITEMS)
def test_rouge_is_a_literal_count_and_torchmetrics_own(items):
    ours = metrics.rouge(*zip(*items, strict=True))
    for key, n in (("rouge1", 1), ("rouge2", 2), ("rougeL", "L")):
        for value, (said, right) in zip(ours[key], items, strict=True):
            assert value == pytest.approx(max(rouge_literally(said, one, n) for one in right), abs=1e-5)
    first = [(said, right[0]) for said, right in items]
    one = metrics.rouge([said for said, _ in first], [[right] for _, right in first])
    reference = ROUGEScore(rouge_keys=("rouge1", "rouge2", "rougeL"))
    reference.update(*map(list, zip(*first, strict=True)))
    for key, values in one.items():
        mean = float(reference.compute()[f"{key}_fmeasure"])
        assert sum(values) / len(values) == pytest.approx(mean, abs=1e-5)


@settings(max_examples=100, deadline=None)
@given(TEXT, st.lists(TEXT, min_size=1, max_size=3))
def test_bleu_is_torchmetrics_smoothed_where_that_is_not_0(said, right):
    [ours] = metrics.bleu([said], [right])
    theirs = float(bleu_score([said], [right], smooth=True))
    assert ours == pytest.approx(theirs, abs=1e-5) or (theirs == 0 and 0 <= ours <= 1)


def test_bleu_by_hand():
    assert metrics.bleu(["a b c d e", "a b", "x y"], [["a b c d e"], ["a b"], ["a b"]]) == [1.0, 1.0, 0.0]
    # 3 of 4 words, 1 of 3 pairs, no longer ones; as long as the reference
    expected = (3 / 4 * 2 / 4 * 1 / 3 * 1 / 2) ** 0.25
    assert metrics.bleu(["a b x d"], [["a b c d"]])[0] == pytest.approx(expected)
    assert metrics.bleu(["a"], [["a b c"]])[0] == pytest.approx(math.exp(1 - 3))  # too short
    assert metrics.corpus_bleu(["a b c d", "e f g h"], [["a b c d"], ["e f g i"]]) == pytest.approx(
        (7 / 8 * 5 / 6 * 3 / 4 * 1 / 2) ** 0.25
    )


@settings(max_examples=100, deadline=None)
@given(
    TEXT.filter(lambda t: len(t) > 12), st.lists(TEXT.filter(lambda t: len(t) > 12), min_size=1, max_size=3)
)
def test_chrf_is_torchmetrics_chrf(said, right):
    _, each = chrf_score([said], [right], n_word_order=0, return_sentence_level_score=True)
    assert metrics.chrf([said], [right])[0] == pytest.approx(float(each[0]), abs=1e-5)


SPANS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(1, 3), st.sampled_from(("PER", "LOC"))), max_size=4
).map(lambda raw: [Span(start, start + length, label) for start, length, label in raw])


@given(st.lists(st.tuples(SPANS, SPANS), min_size=1, max_size=5))
def test_entity_f1_is_a_literal_recount(items):
    """As seqeval counts: sets of (item, type, start, end)."""
    said, gold = zip(*items, strict=True)
    found = {(i, s.label, s.start, s.end) for i, spans in enumerate(said) for s in spans}
    wanted = {(i, s.label, s.start, s.end) for i, spans in enumerate(gold) for s in spans}
    precision = len(found & wanted) / len(found) if found else 0.0
    recall = len(found & wanted) / len(wanted) if wanted else 0.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    ours = metrics.corpus_entity_f1(said, gold)
    assert ours == pytest.approx(f1) if found | wanted else math.isnan(ours)
    for value, one in zip(metrics.entity_f1(said, gold), items, strict=True):
        assert math.isnan(value) == (not one[0] and not one[1])
        assert math.isnan(value) or value == pytest.approx(metrics.corpus_entity_f1([one[0]], [one[1]]))


def test_marked_or_not_is_no_part_of_a_prediction():
    assert metrics.entity_f1([[Span(0, 3, "PER")]], [[Span(0, 3, "PER", True)]]) == [1.0]


@given(ITEMS)
def test_every_score_is_between_0_and_1_and_right_is_1(items):
    said, right = zip(*items, strict=True)
    for give in (said, [""] * len(said), [one[0] for one in right]):
        scores = {
            "accuracy": metrics.accuracy(give, right),
            "bleu": metrics.bleu(give, right),
            "chrf": metrics.chrf(give, right),
            **metrics.squad_scores(give, right),
        }
        for values in scores.values():
            assert all(0 <= value <= 1.000001 for value in values)
    for values in scores.values():
        assert values == pytest.approx([1.0] * len(values))


def test_variety():
    assert metrics.distinct(["a b a b"], 2) == pytest.approx(2 / 3)
    assert metrics.distinct(["a b", "a b"], 1) == 0.5
    assert metrics.repetition(["a b c d a b c d"], 4) == pytest.approx(1 / 5)
    assert metrics.repetition(["a b c d", "a b c d"], 4) == 0
    assert math.isnan(metrics.distinct([], 1))
    rng = random.Random(0)
    text = " ".join(rng.choices(WORDS, k=200))
    grams = [tuple(text.split()[i : i + 4]) for i in range(197)]
    assert metrics.repetition([text]) == pytest.approx(sum(g in grams[:i] for i, g in enumerate(grams)) / 197)
