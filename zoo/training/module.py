"""The one Lightning module: any model on any objective."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from lightning import LightningModule
from torch import Tensor

from zoo.errors import UserError
from zoo.models import Transformer
from zoo.models.evaluating import evaluating
from zoo.objectives import Batch
from zoo.objectives.loss import sums, update_loss
from zoo.training.meter import Meter
from zoo.training.optimisation import adamw, schedule


class Pretraining(LightningModule):
    """Loss, optimiser and schedule.

    Args:
        model: what is trained.
        is_special: (V,) bool, the tokens that accuracy leaves out.
        optim: ``conf/optim`` as a dict.
        updates: optimiser steps of the whole run.
        micro_batches: pieces per step and rank.
    """

    def __init__(
        self, model: Transformer, *, is_special: np.ndarray, optim: dict, updates: int, micro_batches: int = 1
    ) -> None:
        super().__init__()
        self.is_special: Tensor
        self.model = model
        self.optim, self.updates, self.micro_batches = optim, updates, micro_batches
        self.register_buffer("is_special", torch.from_numpy(is_special.copy()), persistent=False)
        self.meter = Meter()
        self.gradient_norm = torch.zeros(())
        self._resumed: dict[str, Any] | None = None

    def training_step(self, batch: Batch, batch_idx: int) -> Tensor:
        found = sums(self.model, batch, self.is_special)
        loss = update_loss(found, batch)
        if self.device.type == "cpu" and not torch.isfinite(loss):
            self.stop_on_nan()
        self.meter.update(found)
        # Lightning divides by the number of micro-batches and DDP averages over ranks: undo both, the loss is a sum.
        return loss * (self.micro_batches * self.trainer.world_size)

    def stop_on_nan(self) -> None:
        """Raises UserError: what is already saved stays, and the broken weights are not."""
        raise UserError(
            f"the loss became NaN or infinite at update {self.trainer.global_step}; "
            f"lower optim.lr (now {self.optim['lr']:g}) or the precision's risk (trainer.precision=32-true)"
        )

    def configure_gradient_clipping(self, *_: Any, **__: Any) -> None:
        """To ``optim.clip`` by the norm of all gradients.  Lightning's own clipping refuses fused optimisers."""
        clip = self.optim["clip"] or float("inf")
        self.gradient_norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), clip)
        if self.device.type == "cpu":
            self.check_finite()

    def check_finite(self) -> None:
        """Before weights are changed (on a CPU, where looking is free) or saved: are the gradients numbers?

        Under float16 the loss scaler skips an update whose gradients overflow, so there it is not an error.
        """
        if self.trainer.precision != "16-mixed" and not torch.isfinite(self.gradient_norm):
            self.stop_on_nan()

    def configure_optimizers(self) -> Any:
        # A fused step undoes float16's loss scaling itself, after clipping; there it must stay apart.
        optimizer = adamw(self.model, self.optim, fused=self.trainer.precision != "16-mixed")
        steps = {"scheduler": schedule(optimizer, self.optim, self.updates), "interval": "step"}
        return {"optimizer": optimizer, "lr_scheduler": steps}

    def evaluate(self, batches: list[Batch]) -> dict[str, float]:
        """Means over all of ``batches``, this rank taking its share of them."""
        meter = Meter().to(self.device)
        with evaluating(self.model):
            for batch in batches[self.trainer.global_rank :: self.trainer.world_size]:
                placed = self.trainer.strategy.batch_to_device(batch)
                with self.trainer.precision_plugin.forward_context():
                    meter.update(sums(self.model, placed, self.is_special))
        return meter.compute()

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Lightning keeps no random state; dropout needs it to go on as if nothing had happened."""
        checkpoint["rng"] = torch.get_rng_state()
        # What is counted but not logged yet; all ranks meet here.
        checkpoint["meter"] = self.trainer.strategy.reduce(self.meter.totals.clone(), reduce_op="sum")
        if torch.cuda.is_available():
            checkpoint["rng_cuda"] = torch.cuda.get_rng_state()

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        self._resumed = checkpoint

    def on_train_start(self) -> None:
        self.meter.reset()
        if self._resumed is None:
            return
        if self.global_rank == 0:
            self.meter.totals += self._resumed["meter"].to(self.device)
        torch.set_rng_state(self._resumed["rng"].cpu())
        if "rng_cuda" in self._resumed and torch.cuda.is_available():
            torch.cuda.set_rng_state(self._resumed["rng_cuda"].cpu())
        self._resumed = None
