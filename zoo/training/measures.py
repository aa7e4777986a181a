"""What is measured on the trained model itself, before any fine-tuning: the currency that all architectures share."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from zoo.analysis import cloze, continuation, direction, items, writing
from zoo.analysis.text_statistics import Seen, describe
from zoo.data.sources.source import Source
from zoo.data.tokenizer import Tokenizer
from zoo.data.world import World, consistent, grammatical
from zoo.generation.asking import Way
from zoo.models import Transformer
from zoo.training.predictions import keep
from zoo.training.records import write_json

Row = dict[str, Any]


def measure(
    source: Source,
    folder: Path,
    model: Transformer,
    tokenizer: Tokenizer,
    *,
    way: Way | None,
    context: int,
    count: int,
    writes: int,
    say: Callable[[str], Any],
) -> list[Row]:
    """Rows of results.json: cloze, continuation, direction; and what the model writes straight after pre-training.

    Args:
        way: in which the model was trained to be asked, if it writes.
        context: tokens that the model was trained on at once; no text here is longer.
        count: how many held-out texts are used.
        writes: how many prompts are gone on with, in each way that the model has; of the world's stories.
    """
    texts = {
        name: items.beginning(tokenizer, text, context - 2)
        for name, text in itertools.islice(_texts(source), count)
    }
    hidden = cloze.cloze(model, tokenizer, items.cloze_items(texts, per_text=1), way=way)
    keep(folder / "predictions" / "cloze.parquet", [
        {"item": r.item, "score": r.score, "prediction": r.prediction, "answer": r.answer} for r in hidden
    ])  # fmt: skip
    gone_on = continuation.continuation(model, tokenizer, items.continuation_items(texts), way=way)
    keep(folder / "predictions" / "continuation.parquet", [
        {"item": r.item, "score": r.score, "bits": r.bits, "words": r.words} for r in gone_on
    ])  # fmt: skip
    short = list(texts.values())[:32]
    found = direction.direction(model, tokenizer, short, way=way, length=min(context - 2, 48))
    write_json(folder / "direction.json", direction.matrices(found))
    rows = [*cloze.rows(hidden), *continuation.rows(gone_on), *direction.rows(found)]
    for row in rows:
        if row["metric"] in ("accuracy", "bits_per_word", "above_diagonal"):
            say(f"{row['kind']:<12} {row['task']:<12} {row['metric']} {row['value']:.3f}")
    if writes and isinstance(source, World):
        rows += _written(source, folder, model, tokenizer, way, writes, say)
    return rows


def _texts(source: Source) -> Any:
    """Held-out texts with their names."""
    if isinstance(source, World):  # its stories alone, not its second language
        stories = ((i, source.story("test", i)) for i in range(source.stories["test"]))
        return ((f"test/{i}", f"{story.headline}\n{story.text}") for i, story in stories)
    return ((f"test/{i}", text) for i, text in enumerate(source.documents("test")) if len(text) > 80)


def _written(
    world: World,
    folder: Path,
    model: Transformer,
    tokenizer: Tokenizer,
    way: Way | None,
    count: int,
    say: Callable[[str], Any],
) -> list[Row]:
    """Every decoding that the model has, on the same beginnings of test stories."""
    stories = [world.story("test", i) for i in range(count)]
    headlines = [f"{story.headline}\n" for story in stories]
    prompts = [head + story.beginning(1) for head, story in zip(headlines, stories, strict=True)]
    train = [world.story("train", i).text for i in range(min(world.stories["train"], 2000))]
    seen, reference = Seen(train), [story.text for story in stories]
    rows: list[Row] = []
    samples: list[Row] = []

    for decoding in writing.decodings(model, way):
        (made,) = writing.write_directly(model, tokenizer, prompts, [decoding], way=way)
        statistics = describe(
            [story.beginning(1) for story in stories],
            [text[len(head) :] for head, text in zip(headlines, made.texts, strict=True)],
            grammatical=grammatical,
            consistent=lambda text: consistent(text, whole=False),
            seen=seen,
            reference=reference,
        )
        rows += writing.rows(made, statistics)
        samples += [
            {"decoding": decoding.name, "prompt": p, "text": t}
            for p, t in zip(prompts, made.texts, strict=True)
        ]
        say(
            f"{'writing':<12} {decoding.name:<22} grammatical {statistics['grammatical']:.2f}, "
            f"consistent {statistics['consistent']:.2f}, distinct-2 {statistics['distinct_2']:.2f}"
        )
    write_json(folder / "direct_writing.json", samples)
    return rows
