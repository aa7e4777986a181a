"""Tasks put together from functions: the examples, how answers are scored, what 0 and 1 of the scale are."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from zoo.tasks import metrics
from zoo.tasks.task import Example, Prediction, Span

Make = Callable[[str], list[Example]]
Scores = dict[str, list[float]]
Answer = Callable[[Sequence[Example]], "list[Prediction]"]
Score = Callable[[Sequence[Example], Sequence[Any]], Scores]
Total = Callable[[Sequence[Example], Sequence[Any]], dict[str, float]]


class Made:
    """A `Task`.

    Args:
        make: the examples of a split.
        metric: the headline among what ``score`` gives.
        baseline: what can be said without reading.
        oracle: what a perfect reader would say; by default the first of the answers.
        totals: figures of a whole set that are no mean of items, such as corpus BLEU.
        classes: what an answer, or the type of a span, may be; () where it may be any text.
    """

    def __init__(
        self,
        name: str,
        kind: str,
        metric: str,
        *,
        make: Make,
        score: Score,
        baseline: Answer,
        oracle: Answer | None = None,
        classes: Sequence[str] = (),
        totals: Total | None = None,
    ) -> None:
        self.name, self.kind, self.metric, self.classes = name, kind, metric, tuple(classes)
        self._make, self._score, self._baseline, self._oracle = make, score, baseline, oracle or key
        self._totals = totals

    def examples(self, split: str) -> list[Example]:
        """The items of "train", "validation" or "test", the same in every run."""
        return self._make(split)

    def scores(self, examples: Sequence[Example], predictions: Sequence[Prediction]) -> Scores:
        """Each metric for each item, between 0 and 1, larger is better; NaN where an item has nothing to score."""
        return self._score(examples, predictions)

    def totals(self, examples: Sequence[Example], predictions: Sequence[Prediction]) -> dict[str, float]:
        """Figures of the whole set that are no mean of items."""
        return self._totals(examples, predictions) if self._totals else {}

    def baseline(self, examples: Sequence[Example]) -> list[Prediction]:
        """What can be said without reading.  It scores 0 in the table."""
        return self._baseline(examples)

    def oracle(self, examples: Sequence[Example]) -> list[Prediction]:
        """What a perfect reader of the text would say.  It scores 1 in the table."""
        return self._oracle(examples)


def found(examples: Sequence[Example]) -> list[str]:
    """The classes of examples, or the types of their spans, by alphabet."""
    return sorted({a for e in examples for a in e.answers} | {s.label for e in examples for s in e.spans})


def key(examples: Sequence[Example]) -> list[Prediction]:
    """The right answers."""
    return [example.answers[0] for example in examples]


def spans(examples: Sequence[Example]) -> list[Prediction]:
    """The right spans."""
    return [example.spans for example in examples]


def references(examples: Sequence[Example]) -> list[tuple[str, ...]]:
    """What is right, for each item."""
    return [example.answers for example in examples]


def most_frequent(make: Make) -> Answer:
    """The answer that is most frequent in train (of equals the first by alphabet), whatever is asked."""

    def baseline(examples: Sequence[Example]) -> list[Prediction]:
        counts = Counter(example.answers[0] for example in make("train"))
        best = min(counts, key=lambda answer: (-counts[answer], answer), default="")
        return [best] * len(examples)

    return baseline


def looked_up(make: Make) -> Answer:
    """Every text that train names, as what it mostly is there, wherever it stands: the baseline of CoNLL-2003 (Tjong
    Kim Sang and De Meulder 2003), which looks at no context."""

    def baseline(examples: Sequence[Example]) -> list[Prediction]:
        train = make("train")
        names = {example.text[span.start : span.end] for example in train for span in example.spans}
        counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for example in train:
            labels = {(span.start, span.end): span.label for span in example.spans}
            for start, end in _named(example.text, names):
                counts[example.text[start:end]][labels.get((start, end), "")] += 1
        mostly = {name: min(seen, key=lambda label: (-seen[label], label)) for name, seen in counts.items()}
        known = {name for name, label in mostly.items() if label}
        return [
            tuple(Span(a, b, mostly[example.text[a:b]]) for a, b in _named(example.text, known))
            for example in examples
        ]

    return baseline


def _named(text: str, names: set[str]) -> Iterator[tuple[int, int]]:
    """Where a text of ``names`` stands, by whole words, the longest first."""
    words = [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]
    longest = max((len(re.findall(r"\w+|[^\w\s]", name)) for name in names), default=0)
    at = 0
    while at < len(words):
        ends = range(min(at + longest, len(words)), at, -1)
        end = next((end for end in ends if text[words[at][0] : words[end - 1][1]] in names), None)
        if end:
            yield words[at][0], words[end - 1][1]
        at = end or at + 1


def once(make: Make) -> Make:
    """``make``, its lists kept."""
    made: dict[str, list[Example]] = {}

    def kept(split: str) -> list[Example]:
        if split not in made:
            made[split] = make(split)
        return made[split]

    return kept


def classify(
    name: str,
    make: Make,
    *,
    classes: Sequence[str] = (),
    oracle: Answer | None = None,
) -> Made:
    """One of ``classes``.  Metric: accuracy; baseline: the majority of train."""

    def score(examples: Sequence[Example], predictions: Sequence[str]) -> Scores:
        return {"accuracy": metrics.accuracy(predictions, references(examples))}

    make = once(make)
    return Made(name, "classify", "accuracy", make=make, score=score, baseline=most_frequent(make), oracle=oracle,
                classes=classes or found(make("train")))  # fmt: skip


def tag(
    name: str, make: Make, *, classes: Sequence[str] = (), metric: str = "f1", marks: bool = False
) -> Made:
    """Spans with types.  Metric: entity-level F1; baseline: what train names, looked up without reading.

    With ``marks``: "f1", the marked spans and what was said of them left out; "f1_all", all spans; "marked", the share
    of marked spans that are found with their type; "settled", the same of unmarked spans whose text is marked elsewhere
    in the example: what stands between has settled what it is.  ``metric``: which of these is the headline.
    """

    def score(examples: Sequence[Example], predictions: Sequence[tuple[Span, ...]]) -> Scores:
        plain, said = _unmarked(examples, predictions)
        if not marks:
            return {"f1": metrics.entity_f1(said, plain)}
        every = [example.spans for example in examples]
        return {
            "f1": metrics.entity_f1(said, plain),
            "f1_all": metrics.entity_f1(predictions, every),
            "marked": _found(predictions, [[s for s in spans if s.marked] for spans in every]),
            "settled": _found(predictions, [settled(example) for example in examples]),
        }

    def totals(examples: Sequence[Example], predictions: Sequence[tuple[Span, ...]]) -> dict[str, float]:
        plain, said = _unmarked(examples, predictions)
        return {"corpus_f1": metrics.corpus_entity_f1(said, plain)}

    make = once(make)
    return Made(name, "tag", metric, make=make, score=score, totals=totals, oracle=spans,
                baseline=looked_up(make), classes=classes or found(make("train")))  # fmt: skip


def settled(example: Example) -> list[Span]:
    """The unmarked spans whose text is marked elsewhere in the example."""
    open_ = {example.text[span.start : span.end] for span in example.spans if span.marked}
    return [s for s in example.spans if not s.marked and example.text[s.start : s.end] in open_]


def _found(predictions: Sequence[tuple[Span, ...]], wanted: Sequence[Sequence[Span]]) -> list[float]:
    """The share of the wanted spans that are found with their type; NaN where none is wanted."""
    pairs = list(zip(predictions, wanted, strict=True))
    return [metrics.entity_counts(*pair)[0] / len(pair[1]) if pair[1] else math.nan for pair in pairs]


def _unmarked(
    examples: Sequence[Example], predictions: Sequence[tuple[Span, ...]]
) -> tuple[list[list[Span]], list[list[Span]]]:
    """The spans that are not marked, and the predicted ones that touch no marked span."""
    plain = [[span for span in example.spans if not span.marked] for example in examples]
    said = [
        [
            span
            for span in spans
            if not any(m.marked and m.start < span.end and span.start < m.end for m in example.spans)
        ]
        for example, spans in zip(examples, predictions, strict=True)
    ]
    return plain, said


def extract(name: str, make: Make, *, oracle: Answer | None = None) -> Made:
    """Words of the text.  Metrics: SQuAD's F1 (headline), exact match; baseline: the most frequent answer of train."""

    def score(examples: Sequence[Example], predictions: Sequence[str]) -> Scores:
        return metrics.squad_scores(predictions, references(examples))

    make = once(make)
    return Made(name, "extract", "f1", make=make, score=score, baseline=most_frequent(make), oracle=oracle)


def overlap(examples: Sequence[Example], predictions: Sequence[str]) -> Scores:
    """How near each text is to its references: exact, ROUGE, BLEU, chrF."""
    right = references(examples)
    return {
        "exact": metrics.accuracy(predictions, right),
        **metrics.rouge(predictions, right),
        "bleu": metrics.bleu(predictions, right),
        "chrf": metrics.chrf(predictions, right),
    }


def of_the_set(examples: Sequence[Example], predictions: Sequence[str]) -> dict[str, float]:
    """Corpus BLEU, and how varied the texts are."""
    return {
        "corpus_bleu": metrics.corpus_bleu(predictions, references(examples)),
        "distinct_1": metrics.distinct(predictions, 1),
        "distinct_2": metrics.distinct(predictions, 2),
        "repetition": metrics.repetition(predictions),
    }


def copy(examples: Sequence[Example]) -> list[Prediction]:
    """The text itself."""
    return [example.text for example in examples]


def generate(
    name: str,
    make: Make,
    *,
    metric: str,
    score: Score = overlap,
    baseline: Answer = copy,
    oracle: Answer | None = None,
) -> Made:
    """A text.  ``metric``: the headline among what ``score`` gives; baseline: a copy of the source."""
    make = once(make)
    return Made(name, "generate", metric, make=make, score=score, totals=of_the_set, baseline=baseline,
                oracle=oracle)  # fmt: skip
