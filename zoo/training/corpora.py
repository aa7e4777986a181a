"""The run's data under Lightning: made once, then read by every rank from the same cache."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hydra.utils import instantiate
from lightning import LightningDataModule

from zoo.data.stream import Corpus, prepare
from zoo.objectives import Batch
from zoo.training.loader import Reader, TrainingBatches, evaluation_batches


def corpus_of(config: dict, progress: Callable[[str], Any] | None = None) -> Corpus:
    """The source of ``config`` under its tokenizer, from the cache or made now."""
    return prepare(instantiate(config["data"]), instantiate(config["tokenizer"]), progress=progress)


class Corpora(LightningDataModule):
    """Training batches from where the run stands, and the validation batches."""

    def __init__(self, config: dict, progress: Callable[[str], Any] | None = None) -> None:
        super().__init__()
        self.config, self.progress = config, progress
        self._corpus: Corpus | None = None

    @property
    def corpus(self) -> Corpus:
        if self._corpus is None:
            self._corpus = corpus_of(self.config, self.progress)
        return self._corpus

    def __getstate__(self) -> dict[str, Any]:
        # A spawned rank maps the cache itself instead of being sent a copy.
        return {**self.__dict__, "_corpus": None, "progress": None}

    def reader(self, split: str) -> Reader:
        return Reader(
            getattr(self.corpus, split),
            self.corpus.tokenizer,
            instantiate(self.config["objective"]),
            context=self.config["context"],
        )

    def train_dataloader(self) -> TrainingBatches:
        config, trainer = self.config, self.trainer
        batches = TrainingBatches(
            self.reader("train"),
            batch_size=config["batch_size"],
            updates=config["steps"],
            seed=config["seed"],
            micro_batches=config["trainer"]["micro_batches"],
            same_batch=config["same_batch"],
            rank=trainer.global_rank if trainer else 0,
            ranks=trainer.world_size if trainer else 1,
        )
        batches.first = (trainer.global_step if trainer else 0) * batches.micro_batches
        return batches

    def validation_batches(self) -> list[Batch]:
        """The same rows and noise for every run on this data."""
        rows = self.config["trainer"]["validation_rows"]
        return evaluation_batches(self.reader("validation"), rows=rows, batch_size=self.config["batch_size"])
