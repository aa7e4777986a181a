"""What is counted between two log lines: sums, pooled over micro-batches and ranks before anything is divided."""

from __future__ import annotations

import math

import torch
from torchmetrics import Metric

from zoo.objectives.loss import Sums


class Meter(Metric):
    """Token-exact loss and accuracy.  Update with ``Sums``; compute gives means over tokens and over pairs."""

    totals: torch.Tensor
    full_state_update = False

    def __init__(self) -> None:
        super().__init__()
        self.add_state("totals", torch.zeros(8, dtype=torch.float64), dist_reduce_fx="sum")

    def update(self, found: Sums) -> None:
        counted = (found.loss, found.right, found.text, found.pair_loss, found.pair_right)
        values = torch.stack([value.detach().double() for value in counted])
        self.totals[:5] += values
        self.totals[5] += found.count
        self.totals[6] += found.pairs
        self.totals[7] += found.weight

    def compute(self) -> dict[str, float]:
        """``loss`` (nats per token), ``perplexity``, ``count`` of labels in the loss, ``accuracy`` on text tokens
        (evaluation only), and the pairs' loss and accuracy where there are any."""
        loss, right, text, pair_loss, pair_right, count, pairs, weight = self.totals.tolist()
        mean = loss / max(weight, 1)
        found = {"loss": mean, "perplexity": math.exp(min(mean, 700.0)), "count": int(count)}
        if text:
            found["accuracy"] = right / text
        if pairs:
            found |= {"next_sentence_loss": pair_loss / pairs, "next_sentence_accuracy": pair_right / pairs}
        return found
