"""What written text is like, from the text alone: variety, repetition, copying, distance from a reference.

Words are runs of letters and digits, and single punctuation marks, as they are written.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import pairwise

import numpy as np

from zoo.data import sentences

_WORD = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")
_FINISHED = re.compile(r"[.!?…。！？][\"'”’»」』）)\]]*$")
NAN = float("nan")


def words(text: str) -> list[str]:
    """Its words and punctuation marks."""
    return _WORD.findall(text)


def ngrams(text: Sequence[str], n: int) -> list[tuple[str, ...]]:
    """All runs of ``n`` words."""
    return [tuple(text[i : i + n]) for i in range(len(text) - n + 1)]


def distinct(texts: Iterable[Sequence[str]], n: int) -> float:
    """Different n-grams / n-grams, over all texts together (Li et al. 2016); nan where there are none."""
    found = [gram for text in texts for gram in ngrams(text, n)]
    return len(set(found)) / len(found) if found else NAN


def repetition(texts: Iterable[Sequence[str]], n: int = 4) -> float:
    """Share of the n-grams that stand earlier in the same text (seq-rep-n, Welleck et al. 2020); nan where there are
    none."""
    counts = [(len(set(found)), len(found)) for text in texts if (found := ngrams(text, n))]
    total = sum(count for _, count in counts)
    return 1 - sum(different for different, _ in counts) / total if total else NAN


def copied(texts: Iterable[Sequence[str]], seen: Callable[[tuple[str, ...]], bool], n: int = 8) -> float:
    """Share of the n-grams that were ``seen``; nan where there are none."""
    found = [gram for text in texts for gram in ngrams(text, n)]
    return sum(map(seen, found)) / len(found) if found else NAN


def jensen_shannon(one: Counter[Hashable], other: Counter[Hashable]) -> float:
    """Distance of two distributions, given as counts: 0 where they are the same, 1 (bit) where they share nothing
    (Lin 1991); nan where one has no counts."""
    if not one or not other:
        return NAN
    both = [(one[key] / one.total(), other[key] / other.total()) for key in one.keys() | other.keys()]
    # fsum: the keys of a set come in another order in every process.
    total = math.fsum(x * math.log2(2 * x / (p + q)) for p, q in both for x in (p, q) if x) / 2
    return min(max(total, 0.0), 1.0)


class Seen:
    """Whether a run of n words stands in some texts: 8 bytes for each different one.

    A 64-bit hash stands for the run, so one in about 10^13 others is taken for one of a million that were seen.
    """

    def __init__(self, texts: Iterable[str], n: int = 8) -> None:
        self.n = n
        self._ids: dict[str, int] = {}
        hashes = []
        for text in texts:
            ids = np.array(
                [self._ids.setdefault(word, len(self._ids)) for word in words(text)], dtype=np.uint64
            )
            if len(ids) >= n:
                hashes.append(_hash(np.lib.stride_tricks.sliding_window_view(ids, n)))
        self._hashes = np.unique(np.concatenate(hashes)) if hashes else np.zeros(0, dtype=np.uint64)

    def __call__(self, gram: tuple[str, ...]) -> bool:
        """Raises ValueError for a run of another length."""
        if len(gram) != self.n:
            raise ValueError(f"{len(gram)} words, where runs of {self.n} are kept")
        if not all(word in self._ids for word in gram):
            return False
        wanted = _hash(np.array([[self._ids[word] for word in gram]], dtype=np.uint64))[0]
        at = int(np.searchsorted(self._hashes, wanted))
        return at < len(self._hashes) and bool(self._hashes[at] == wanted)


def _hash(ids: np.ndarray) -> np.ndarray:
    """(M, n) uint64 -> (M,): splitmix64's finaliser, word after word."""
    state = np.zeros(len(ids), dtype=np.uint64)
    for column in ids.T:
        state = (state + column + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state ^= state >> np.uint64(31)
    return state


def split(text: str) -> list[str]:
    """Its sentences, and lines that are none."""
    pieces = (text[a:b].strip() for a, b in pairwise([*sentences.starts(text), len(text)]))
    return [piece for piece in pieces if piece]


def finished(prompt: str, text: str) -> str:
    """``text`` without a last sentence that was broken off, unless it is all that was written after ``prompt``.

    A text is cut where the tokens end, which says nothing; but who never ends a sentence is not to get away with it.
    """
    new = _after(prompt, text)
    if len(new) < 2 or _FINISHED.search(text[new[-1] :].rstrip()):
        return text
    return text[: new[-1]].rstrip()


def new_sentences(prompt: str, text: str) -> list[str]:
    """The sentences of ``finished(prompt, text)`` that end after ``prompt``: those written, and the one written on."""
    text = finished(prompt, text)
    return [text[a:b].strip() for a, b in pairwise([*_after(prompt, text), len(text)])]


def _after(prompt: str, text: str) -> list[int]:
    """Where the sentences of ``text`` start that end after ``prompt``."""
    marks = [*sentences.starts(text), len(text)]
    return [a for a, b in pairwise(marks) if b > len(prompt) and text[max(a, len(prompt)) : b].strip()]


def describe(
    prompts: Sequence[str],
    texts: Sequence[str],
    *,
    grammatical: Callable[[str], object] | None = None,
    consistent: Callable[[str], object] | None = None,
    seen: Callable[[tuple[str, ...]], bool] | None = None,
    reference: Sequence[str] | None = None,
) -> dict[str, float]:
    """What ``texts``, each begun with its prompt, are like, in shares of 1; nan where there is nothing to count.

    Args:
        grammatical: of a sentence; asked of ``new_sentences``.
        consistent: of ``finished`` texts, prompts included.  One of which nothing was written counts as not
            consistent.
        seen: of 8 words that stand in a row; ``Seen(training texts)``.
        reference: texts whose lengths of sentences (in words) and frequencies of words these are held against.  Two
            samples of the same world differ, too: describe some of its own texts to see by how much.

    Returns:
        grammatical, consistent, copied, sentence_length_distance, unigram_distance, where asked for; distinct_1,
        distinct_2, distinct_3, repetition and words_per_text of what was written, prompts left out.
    """
    written = [
        words(text[len(prompt) :] if text.startswith(prompt) else text)
        for prompt, text in zip(prompts, texts, strict=True)
    ]
    lines = [
        line for prompt, text in zip(prompts, texts, strict=True) for line in new_sentences(prompt, text)
    ]
    found: dict[str, float] = {}
    if grammatical is not None:
        found["grammatical"] = _share([bool(grammatical(line)) for line in lines])
    if consistent is not None:
        found["consistent"] = _share(
            [
                bool(new_sentences(prompt, text) and consistent(finished(prompt, text)))
                for prompt, text in zip(prompts, texts, strict=True)
            ]
        )
    for n in (1, 2, 3):
        found[f"distinct_{n}"] = distinct(written, n)
    found["repetition"] = repetition(written)
    if seen is not None:
        found["copied"] = copied(written, seen)
    if reference is not None:
        found["sentence_length_distance"] = jensen_shannon(
            _lengths(lines), _lengths(line for text in reference for line in split(text))
        )
        found["unigram_distance"] = jensen_shannon(
            Counter(word for text in written for word in text),
            Counter(word for text in reference for word in words(text)),
        )
    found["words_per_text"] = sum(map(len, written)) / len(written) if written else NAN
    return found


def _lengths(lines: Iterable[str]) -> Counter[Hashable]:
    return Counter(len(words(line)) for line in lines)


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags) if flags else NAN
