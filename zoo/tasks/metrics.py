"""Scores of answers: a number in [0, 1] for each item, larger being better, and some figures of a whole set.

``predictions``: a text (or a tuple of spans) for each item.  ``references``: for each item the texts that are right.
What torchmetrics has and does fast is torchmetrics'.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from torchmetrics.functional.text import rouge_score, sacre_bleu_score, squad

from zoo.analysis import text_statistics
from zoo.tasks.task import Span

Texts = Sequence[str]
References = Sequence[Sequence[str]]


def accuracy(predictions: Texts, references: References) -> list[float]:
    """1 where the prediction is one of the references to the letter, spaces around it apart."""
    return [float(said.strip() in right) for said, right in zip(predictions, references, strict=True)]


def squad_scores(predictions: Texts, references: References) -> dict[str, list[float]]:
    """SQuAD's "exact_match" and "f1": by words, without case, punctuation and articles (Rajpurkar et al. 2016)."""
    scores: dict[str, list[float]] = {"exact_match": [], "f1": []}
    for said, right in zip(predictions, references, strict=True):
        answers: dict[str, Any] = {"answer_start": [0] * len(right), "text": list(right)}
        found = squad([{"prediction_text": said, "id": "0"}], [{"answers": answers, "id": "0"}])
        for name, values in scores.items():
            values.append(float(found[name]) / 100)
    return scores


def rouge(predictions: Texts, references: References) -> dict[str, list[float]]:
    """F1 of "rouge1", "rouge2" and "rougeL" (Lin 2004) against the nearest reference, by letters a-z and digits."""
    keys = ("rouge1", "rouge2", "rougeL")
    scores: dict[str, list[float]] = {key: [] for key in keys}
    for said, right in zip(predictions, references, strict=True):
        for key in keys:  # one by one: together, the reference nearest by the first key would serve for all
            found = rouge_score(said, [list(right)], accumulate="best", rouge_keys=key)
            scores[key].append(float(found[f"{key}_fmeasure"]))
    return scores


def bleu(predictions: Texts, references: References) -> list[float]:
    """BLEU of each sentence alone, words by spaces, one added to the counts of 2- to 4-grams (Lin and Och 2004).

    Torchmetrics' own smoothing still gives 0 where no 4-gram matches, which is every short sentence with a fault.
    """
    return [
        _bleu(said.split(), [one.split() for one in right])
        for said, right in zip(predictions, references, strict=True)
    ]


def _bleu(said: list[str], right: list[list[str]], order: int = 4) -> float:
    if not said:
        return 0.0
    logs = 0.0
    for n in range(1, order + 1):
        most: Counter[tuple[str, ...]] = Counter()
        for one in right:
            most |= Counter(text_statistics.ngrams(one, n))
        mine = Counter(text_statistics.ngrams(said, n))
        matches, total, extra = (mine & most).total(), mine.total(), float(n > 1)
        if not matches + extra:
            return 0.0
        logs += math.log((matches + extra) / (total + extra)) / order
    nearest = min((abs(len(one) - len(said)), len(one)) for one in right)[1]
    return math.exp(logs + min(0.0, 1 - nearest / len(said)))


def corpus_bleu(predictions: Texts, references: References) -> float:
    """SacreBLEU's BLEU of the whole set (13a tokens, no smoothing; Post 2018)."""
    return float(sacre_bleu_score(list(predictions), [list(right) for right in references]))


def chrf(predictions: Texts, references: References, order: int = 6) -> list[float]:
    """chrF: F of character 1- to 6-grams without spaces, recall counting twice, against the nearest reference.

    Popović 2015; right for languages with many endings.  As torchmetrics' chrf_score with no words (500 times as fast),
    but orders for which a text and its reference are too short do not count.
    """
    scores = []
    for said, right in zip(predictions, references, strict=True):
        mine = _characters(said, order)
        scores.append(max(_chrf(mine, _characters(one, order)) for one in right))
    return scores


def _characters(text: str, order: int) -> list[Counter[str]]:
    text = text.strip().replace(" ", "")
    return [Counter(text[i : i + n] for i in range(len(text) - n + 1)) for n in range(1, order + 1)]


def _chrf(mine: list[Counter[str]], its: list[Counter[str]]) -> float:
    orders = [pair for pair in zip(mine, its, strict=True) if pair[0] or pair[1]]
    # with beta = 2, 5 p r / (4 p + r) is 5 matches / (4 reference + mine)
    each = [5 * (a & b).total() / (4 * b.total() + a.total()) for a, b in orders]
    return sum(each) / len(each) if each else 1.0


# --- entities ---------------------------------------------------------------------------------------------------------


def entity_counts(predicted: Iterable[Span], gold: Iterable[Span]) -> tuple[int, int, int]:
    """(right, predicted, gold): an entity is right if both ends and the type are (CoNLL-2003)."""
    found = {span[:3] for span in predicted}
    wanted = {span[:3] for span in gold}
    return len(found & wanted), len(found), len(wanted)


def f1(right: int, found: int, wanted: int) -> float:
    """The harmonic mean of precision and recall; NaN where there is nothing, neither found nor wanted."""
    return 2 * right / (found + wanted) if found + wanted else math.nan


def entity_f1(predicted: Sequence[Iterable[Span]], gold: Sequence[Iterable[Span]]) -> list[float]:
    """F1 of each item; NaN for one without entities in which none was found."""
    return [f1(*entity_counts(*pair)) for pair in zip(predicted, gold, strict=True)]


def corpus_entity_f1(predicted: Sequence[Iterable[Span]], gold: Sequence[Iterable[Span]]) -> float:
    """F1 over all entities of the set, as CoNLL's script and seqeval report it."""
    counts = [entity_counts(*pair) for pair in zip(predicted, gold, strict=True)]
    return f1(*(sum(column) for column in zip(*counts, strict=True))) if counts else math.nan


# --- variety ----------------------------------------------------------------------------------------------------------


def distinct(texts: Texts, n: int = 2) -> float:
    """Different n-grams of words over all n-grams in the texts (Li et al. 2016); NaN where there is none."""
    return text_statistics.distinct((text.split() for text in texts), n)


def repetition(texts: Texts, n: int = 4) -> float:
    """The share of n-grams of words that stood in the same text before; 0 is best (Welleck et al. 2020)."""
    return text_statistics.repetition((text.split() for text in texts), n)
