"""Spawned processes (trainer=ddp): their share of the cores, signals for them, and what they have to say."""

from __future__ import annotations

import logging
import multiprocessing
import os
import re
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from lightning import Trainer
from lightning.pytorch.callbacks import Callback
from torch.multiprocessing import ProcessRaisedException

from zoo.errors import Interrupted, UserError
from zoo.training.memory import keep_freed_memory


def quiet() -> None:
    """Lightning's own notes say nothing that the run does not."""
    for name in ("lightning.pytorch", "lightning.fabric", "pytorch_lightning"):
        logging.getLogger(name).setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="lightning")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")


class Threads(Callback):
    """Two processes that each start as many threads as there are cores slow each other down tenfold."""

    def __init__(self, threads: int | None) -> None:
        self.threads = threads

    def on_fit_start(self, trainer: Trainer, module: Any) -> None:
        if trainer.world_size > 1:
            quiet()
            keep_freed_memory()
            torch.set_num_threads(self.threads or max(1, (os.cpu_count() or 1) // trainer.num_devices))


@contextmanager
def signals_reach_ranks() -> Iterator[None]:
    """SIGTERM, which only this process gets, is passed on to those it has spawned; Ctrl-C they get themselves."""

    def pass_on(signum: int, _: Any) -> None:
        ranks = multiprocessing.active_children()
        for rank in ranks:
            if rank.pid:
                os.kill(rank.pid, signum)
        if not ranks:
            raise Interrupted(signum)

    before = {
        signal.SIGTERM: signal.signal(signal.SIGTERM, pass_on),
        signal.SIGINT: signal.signal(signal.SIGINT, lambda signum, frame: None),
    }
    try:
        yield
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)


@contextmanager
def what_a_rank_said() -> Iterator[None]:
    """An error of a spawned process comes as text; those that are not faults of the program are raised as they were."""
    try:
        yield
    except ProcessRaisedException as error:
        if said := re.search(r"^zoo\.errors\.UserError: (.+)$", str(error), re.MULTILINE):
            raise UserError(said[1]) from error
        if said := re.search(r"^zoo\.errors\.Interrupted: stopped by (\w+)$", str(error), re.MULTILINE):
            raise Interrupted(signal.Signals[said[1]]) from error
        raise
