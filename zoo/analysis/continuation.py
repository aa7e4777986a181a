"""Continuation: the same prefixes, everything to their right hidden, in bits per word and accuracy on the same tokens.

The chain rule of each capability stands in ``scoring``: here the right side is empty.  An encoder is told how many
tokens there are, an encoder-decoder has to say where they end, a decoder is asked for neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from zoo.analysis.items import Item, gaps
from zoo.analysis.rows import row
from zoo.analysis.scoring import score
from zoo.data.tokenizer import Tokenizer
from zoo.generation.asking import Way
from zoo.models import Transformer


@dataclass(frozen=True)
class ContinuationResult:
    """``bits`` of the continuation, of which ``stop_bits`` say where it ends; ``right`` of its ``tokens`` tokens are
    guessed from the truth before them; ``words``: between white space."""

    item: str
    bits: float
    stop_bits: float
    right: int
    tokens: int
    words: int

    @property
    def score(self) -> float:
        """Accuracy."""
        return self.right / self.tokens


def continuation(
    model: Transformer,
    tokenizer: Tokenizer,
    items: Sequence[Item],
    *,
    way: Way | None = None,
    batch_tokens: int = 8192,
) -> list[ContinuationResult]:
    """How likely ``model`` finds what is hidden in each item after what stands before it; what stands after is cut off.
    ``way``: as in ``score``.

    Raises:
        UserError: as ``score``.
    """
    cut = [Item(item.item, item.text[: item.end], item.start, item.end) for item in items]
    scores = score(model, tokenizer, gaps(tokenizer, cut), way=way, batch_tokens=batch_tokens)
    return [
        ContinuationResult(
            item.item, one.bits, one.stop_bits, one.right, one.tokens, len(item.hidden.split())
        )
        for item, one in zip(cut, scores, strict=True)
    ]


def rows(
    results: Sequence[ContinuationResult], options: dict[str, Any] | None = None
) -> list[dict[str, Any]]:
    """``results`` as rows of ``results.json``; ``bits_per_word`` has the stop included."""
    words, tokens = sum(one.words for one in results), sum(one.tokens for one in results)
    return [
        row("continuation", "continuation", metric, value, len(results), options)
        for metric, value in (
            ("accuracy", sum(one.right for one in results) / max(tokens, 1)),
            ("bits_per_word", sum(one.bits for one in results) / max(words, 1)),
            ("stop_bits_per_word", sum(one.stop_bits for one in results) / max(words, 1)),
        )
    ]
