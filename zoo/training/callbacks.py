"""What happens between updates: metrics, validation, samples, checkpoints, and stopping in an orderly way."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lightning import Trainer
from lightning.pytorch.callbacks import Callback

from zoo.errors import Interrupted
from zoo.models import Transformer
from zoo.objectives import Batch
from zoo.training import checkpoints
from zoo.training.module import Pretraining


class Clock:
    """Seconds of training alone, without validation, samples and checkpoints."""

    def __init__(self) -> None:
        self._since = time.perf_counter()
        self._paused = 0.0

    def lap(self) -> float:
        """Seconds since the last lap, pauses left out."""
        seconds = self.read()
        self._since, self._paused = time.perf_counter(), 0.0
        return seconds

    def read(self) -> float:
        """Seconds since the last lap so far."""
        return time.perf_counter() - self._since - self._paused

    @contextmanager
    def pause(self) -> Iterator[None]:
        begun = time.perf_counter()
        yield
        self._paused += time.perf_counter() - begun


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Ctrl-C and SIGTERM raise ``Interrupted`` at once: for work that is kept piece by piece."""

    def stop(signum: int, _: Any) -> None:
        raise Interrupted(signum)

    before = {signum: signal.signal(signum, stop) for signum in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)


class AfterUpdate(Callback):
    """Calls ``after_update`` once per optimiser step, whatever the number of micro-batches."""

    _seen = -1

    def on_train_start(self, trainer: Trainer, module: Any) -> None:
        self._seen = trainer.global_step
        self.begin(trainer, module)

    def on_train_batch_end(self, trainer: Trainer, module: Any, *_: Any) -> None:
        if trainer.global_step != self._seen:
            self._seen = trainer.global_step
            self.after_update(trainer, module, trainer.global_step)

    def begin(self, trainer: Trainer, module: Pretraining) -> None:
        """Before the first update of this session."""

    def after_update(self, trainer: Trainer, module: Pretraining, update: int) -> None:
        raise NotImplementedError


def log(trainer: Trainer, metrics: dict[str, float], update: int) -> None:
    """To every logger."""
    for logger in trainer.loggers:
        logger.log_metrics(metrics, step=update)


class Metrics(AfterUpdate):
    """``train/*`` and ``speed/*`` every ``every`` updates, and the same to ``show`` for the terminal.

    Args:
        tokens: source tokens per update.
        flops: training FLOPs per source token, None where unknown.
        peak: FLOP/s of this machine's own large matrix product, for the utilisation.
    """

    def __init__(
        self,
        *,
        every: int,
        updates: int,
        tokens: int,
        flops: float | None,
        peak: float | None,
        clock: Clock,
        show: Callable[[int, dict[str, float]], None],
    ) -> None:
        self.every, self.updates, self.tokens, self.flops, self.peak = every, updates, tokens, flops, peak
        self.clock, self.show = clock, show
        self.totals = {"tokens_in_loss": 0, "training_seconds": 0.0}
        self._last, self._before = (
            0,
            0.0,
        )  # the last logged update, and seconds since it in an earlier session

    def begin(self, trainer: Trainer, module: Pretraining) -> None:
        self.clock.lap()

    def after_update(self, trainer: Trainer, module: Pretraining, update: int) -> None:
        if update % self.every and update != self.updates:
            return
        seconds, self._before = self.clock.lap() + self._before, 0.0
        pooled = module.meter.compute()
        self.totals["training_seconds"] += seconds
        self.totals["tokens_in_loss"] += pooled.pop("count")
        module.meter.reset()
        if pooled["loss"] != pooled["loss"]:
            module.stop_on_nan()
        speed = (update - self._last) * self.tokens / seconds
        self._last = update
        metrics = {f"train/{name}": value for name, value in pooled.items()}
        metrics |= {
            "train/lr": trainer.optimizers[0].param_groups[0]["lr"],
            "tokens_seen": update * self.tokens,
        }
        metrics |= {"train/gradient_norm": float(module.gradient_norm)}
        metrics |= {**self.totals, "speed/tokens_per_s": speed}
        if self.flops and self.peak:
            metrics["speed/flops_utilisation"] = speed * self.flops / self.peak
        log(trainer, metrics, update)
        self.show(update, metrics)

    def state_dict(self) -> dict[str, Any]:
        return {"totals": self.totals, "last": self._last, "before": self.clock.read() + self._before}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.totals, self._last, self._before = dict(state["totals"]), state["last"], state["before"]


class Validation(AfterUpdate):
    """Held-out loss every ``every`` updates and at the end; keeps the best weights; shows samples."""

    def __init__(
        self,
        *,
        every: int,
        updates: int,
        tokens: int,
        batches: Callable[[], list[Batch]],
        folder: Path,
        clock: Clock,
        show: Callable[[int, dict[str, float]], None],
        sample: Callable[[Trainer, Transformer, int], None],
    ) -> None:
        self.every, self.updates, self.tokens, self.folder = every, updates, tokens, folder
        self.batches, self.clock, self.show, self.sample = batches, clock, show, sample
        self.history: dict[int, float] = {}

    def begin(self, trainer: Trainer, module: Pretraining) -> None:
        self._loaded = self.batches()

    def after_update(self, trainer: Trainer, module: Pretraining, update: int) -> None:
        if update % self.every and update != self.updates:
            return
        with self.clock.pause():
            found = module.evaluate(self._loaded)
            found.pop("count")
            metrics = {f"val/{name}": value for name, value in found.items()}
            log(trainer, {**metrics, "tokens_seen": update * self.tokens}, update)
            best = found["loss"] < min(self.history.values(), default=float("inf"))
            self.history[update] = found["loss"]
            if trainer.is_global_zero:
                module.check_finite()
                if best:
                    weights = {"state_dict": module.state_dict(), "update": update, "validation": found}
                    checkpoints.save(weights, self.folder / "checkpoints" / checkpoints.BEST)
                self.show(update, metrics)
                self.sample(trainer, module.model, update)

    def state_dict(self) -> dict[str, Any]:
        return {"history": self.history}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.history = {int(update): loss for update, loss in state["history"].items()}


class Checkpoints(AfterUpdate):
    """``last.ckpt`` every ``every`` updates and at the end, the one before it kept as ``previous.ckpt``."""

    def __init__(self, *, every: int, updates: int, folder: Path, clock: Clock) -> None:
        self.every, self.updates, self.folder, self.clock = every, updates, folder / "checkpoints", clock

    def after_update(self, trainer: Trainer, module: Pretraining, update: int) -> None:
        if update % self.every == 0 or update == self.updates:
            with self.clock.pause():
                self.save(trainer, module)

    def save(self, trainer: Trainer, module: Pretraining) -> None:
        """Write the new one whole before the old ones move."""
        module.check_finite()
        beside = self.folder / "next.ckpt"
        trainer.save_checkpoint(beside)
        if trainer.is_global_zero:
            checkpoints.rotate(self.folder)
            beside.replace(self.folder / checkpoints.LAST)


class OrderlyStop(AfterUpdate):
    """Ctrl-C and SIGTERM end the run after the update under way, with a checkpoint; a second one ends it at once."""

    def __init__(self, saver: Checkpoints) -> None:
        self.saver = saver
        self._asked: int | None = None
        self._before: dict[int, Any] = {}

    def begin(self, trainer: Trainer, module: Pretraining) -> None:
        for signum in (signal.SIGINT, signal.SIGTERM):
            self._before[signum] = signal.signal(signum, self._ask)

    def _ask(self, signum: int, _: Any) -> None:
        if self._asked is not None:
            raise Interrupted(signum)  # now, from the last checkpoint on disk
        self._asked = signum

    def after_update(self, trainer: Trainer, module: Pretraining, update: int) -> None:
        asked = self._asked is not None
        if trainer.world_size > 1:
            # All ranks must stop after the same update.
            asked = trainer.strategy.reduce_boolean_decision(asked, all=False)
        if asked and update != self.saver.updates:
            self.saver.save(trainer, module)
            raise Interrupted(self._asked or signal.SIGTERM)

    def teardown(self, trainer: Trainer, module: Any, stage: str) -> None:
        for signum, handler in self._before.items():
            signal.signal(signum, handler)
        self._before = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_before": {}}
