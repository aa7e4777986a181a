"""Samples during training: who writes on continues a held-out text, the others fill its blanks."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from lightning import Trainer
from lightning.pytorch.loggers import TensorBoardLogger
from rich.markup import escape

from zoo.data.stream import Corpus
from zoo.data.tokenizer import Tokenizer
from zoo.generation import GREEDY, Sampling, generate
from zoo.generation.asking import Way, usual
from zoo.models import Transformer
from zoo.training.loggers import WeightsAndBiases
from zoo.training.records import write_text
from zoo.training.terminal import console

_PROMPT, _MORE, _SHOWN = 8, 40, 32  # tokens: of a prompt, written after it, of a text with blanks
_EVERY = 6  # every so many tokens one is a blank


class Samples:
    """The same few held-out prompts at each validation, appended to ``samples.jsonl``."""

    def __init__(
        self, corpus: Corpus, *, count: int, context: int, folder: Path, way: Way | None = None
    ) -> None:
        self.way = way
        self.tokenizer, self.path = corpus.tokenizer, folder / "samples.jsonl"
        # Cut around its blanks a text can become more tokens than it was: leave room in the context.
        self.shown, self.room = min(_SHOWN, context // 2), context // 2
        stream = corpus.validation
        starts = [int(start) for start in stream.documents[:-1] if start + self.shown <= len(stream)]
        self.texts = [stream.tokens[start : start + self.shown].tolist() for start in starts[:count]]

    def cut_after(self, update: int) -> None:
        """Forget samples past ``update``: a resumed run takes them again."""
        if self.path.exists():
            lines = self.path.read_text(encoding="utf-8").splitlines(keepends=True)
            kept = [line for line in lines if line.endswith("\n") and json.loads(line)["update"] <= update]
            write_text(self.path, "".join(kept))

    def prompts(self, model: Transformer) -> list[str]:
        """As text, with <mask> or <extra_id_i> where there are blanks."""
        way = None if "fill" in model.capabilities else self.way or usual(model)
        if way in (None, "whole"):
            return [_with_blanks(text, self.tokenizer, None) for text in self.texts]
        if way == "spans":
            return [_with_blanks(text, self.tokenizer, self.tokenizer.sentinels) for text in self.texts]
        return [self.tokenizer.decode(text[: min(_PROMPT, self.shown // 2)]) for text in self.texts]

    def show(self, trainer: Trainer, model: Transformer, update: int) -> None:
        """To the terminal, the file and the dashboards."""
        pairs = self.take(model, update)
        for prompt, text in pairs:
            console.print(f"  [dim]{_one_line(prompt)}[/dim] → {_one_line(text)}")
        for logger in trainer.loggers:
            if pairs and isinstance(logger, WeightsAndBiases):
                logger.log_samples(pairs, update)
            elif isinstance(logger, TensorBoardLogger):
                lines = "\n\n".join(f"{prompt} → {text}" for prompt, text in pairs)
                logger.experiment.add_text("samples", lines, global_step=update)

    def take(self, model: Transformer, update: int) -> list[tuple[str, str]]:
        """(prompt, what the model made of it) for each prompt."""
        prompts = self.prompts(model)
        if not prompts:
            return []
        writes_on = "write" in model.capabilities and (self.way or usual(model)) == "on"
        with torch.random.fork_rng(devices=[]):
            made = generate(
                model,
                self.tokenizer,
                prompts,
                max_new_tokens=min(_MORE, self.room),
                sampling=Sampling(temperature=0.8) if writes_on else GREEDY,
                iterations=1,
                way=self.way,
            )
        pairs = list(zip(prompts, made, strict=True))
        with self.path.open("a", encoding="utf-8") as file:
            for prompt, text in pairs:
                file.write(json.dumps({"update": update, "prompt": prompt, "text": text}) + "\n")
        return pairs


def _one_line(text: str) -> str:
    return escape(" ".join(text.split()))


def _with_blanks(text: list[int], tokenizer: Tokenizer, sentinels: tuple[int, ...] | None) -> str:
    """Every few tokens one is hidden: by <mask>, or by the next sentinel."""
    blanks = range(_EVERY, len(text), _EVERY)
    ids = list(text)
    for number, place in enumerate(blanks):
        if sentinels is None:
            ids[place] = tokenizer.mask
        elif number < len(sentinels):
            ids[place] = sentinels[number]
    return tokenizer.decode(ids, skip_specials=False)
