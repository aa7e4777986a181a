"""Direct writing: what a pre-trained model makes of a prompt, by every decoding it has, and how fast."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from zoo.analysis.rows import row
from zoo.data.tokenizer import Tokenizer
from zoo.generation import GREEDY, Sampling, generate
from zoo.generation.asking import Way, usual
from zoo.generation.text import FILLING
from zoo.models import Transformer

SAMPLED = Sampling(temperature=0.8, top_p=0.95)
# Of the ways that have them.  Diffusion at its best: many more than there are masks, so that most are filled alone.
ITERATIONS = {"mask_predict": 10, "diffusion": 256}


@dataclass(frozen=True)
class Decoding:
    """A way to write: the arguments of ``zoo.generation.generate``, under a name."""

    name: str
    sampling: Sampling = GREEDY
    method: str | None = None
    iterations: int = 10

    @property
    def options(self) -> dict[str, Any]:
        """For a row of ``results.json``."""
        chosen: dict[str, Any] = {"temperature": self.sampling.temperature}
        chosen |= {k: v for k in ("top_k", "top_p") if (v := getattr(self.sampling, k)) is not None}
        return chosen | ({"iterations": self.iterations} if self.method in ITERATIONS else {})


@dataclass(frozen=True)
class Writing:
    """What each prompt became, prompt included; ``tokens`` written in ``seconds``."""

    decoding: Decoding
    prompts: tuple[str, ...]
    texts: tuple[str, ...]
    tokens: int
    seconds: float


def decodings(model: Transformer, way: Way | None = None, *, sampled: Sampling = SAMPLED) -> list[Decoding]:
    """Every way that ``model`` has, greedy and sampled: what fills has four, what writes has the one in which it was
    trained to be asked (``way``; None: ``usual``)."""
    able = model.capabilities
    methods: dict[str, str | None] = {name: name for name in FILLING} if "fill" in able else {}
    if "write" in able:
        names: dict[Way, str] = {"on": "write_on", "spans": "span_by_span", "whole": "whole_text"}
        methods[names[way or usual(model)]] = None
    return [
        Decoding(f"{name}_{manner}", sampling, method, ITERATIONS.get(name, 10))
        for name, method in methods.items()
        for manner, sampling in (("greedy", GREEDY), ("sampled", sampled))
    ]


def write_directly(
    model: Transformer,
    tokenizer: Tokenizer,
    prompts: Sequence[str],
    ways: Sequence[Decoding] | None = None,
    *,
    way: Way | None = None,
    max_new_tokens: int = 48,
    seed: int = 0,
    batch: int = 64,
) -> list[Writing]:
    """The texts of all ``prompts``, ``batch`` at a time, by each of ``ways`` (None: all ``decodings``).

    Tokens are counted in the texts: what was written after an <eos> or filled in and replaced again is no output.

    Raises:
        UserError: as ``zoo.generation.generate``.
    """
    made = []
    for one in decodings(model, way) if ways is None else ways:
        texts: list[str] = []
        start = time.perf_counter()
        for first in range(0, len(prompts), batch):
            texts += generate(
                model,
                tokenizer,
                prompts[first : first + batch],
                max_new_tokens=max_new_tokens,
                sampling=one.sampling,
                method=one.method,
                iterations=one.iterations,
                seed=seed + first,
                way=way,
            )
        seconds = time.perf_counter() - start
        new = _length(tokenizer, texts) - _length(tokenizer, prompts)
        made.append(Writing(one, tuple(prompts), tuple(texts), max(new, 0), seconds))
    return made


def _length(tokenizer: Tokenizer, texts: Sequence[str]) -> int:
    return sum(map(len, tokenizer.encode_batch(list(texts))))


def rows(writing: Writing, statistics: Mapping[str, float]) -> list[dict[str, Any]]:
    """``writing``'s speed and its ``statistics`` (of ``text_statistics.describe``) as rows of ``results.json``;
    none for nan, where there was nothing to count."""
    speed = {"tokens_per_s": writing.tokens / writing.seconds}
    return [
        row(
            "direct_writing",
            writing.decoding.name,
            metric,
            value,
            len(writing.texts),
            writing.decoding.options,
        )
        for metric, value in {**statistics, **speed}.items()
        if not math.isnan(value)
    ]
