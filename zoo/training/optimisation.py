"""AdamW with decay where it belongs, linear warm-up and cosine."""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.optim import AdamW


def parameter_groups(model: nn.Module, weight_decay: float) -> list[dict]:
    """Matrices are decayed; norms, biases and position tables are not.  A tied matrix is in one group, once."""
    tables = {
        id(parameter)
        for name, module in model.named_modules()
        if name.rpartition(".")[2] == "table"
        for parameter in module.parameters()
    }
    decayed: list[nn.Parameter] = []
    plain: list[nn.Parameter] = []
    for parameter in model.parameters():
        (decayed if parameter.dim() >= 2 and id(parameter) not in tables else plain).append(parameter)
    return [{"params": decayed, "weight_decay": weight_decay}, {"params": plain, "weight_decay": 0.0}]


def adamw(model: nn.Module, optim: dict, *, fused: bool = True) -> AdamW:
    """The optimiser that ``conf/optim`` describes (Loshchilov & Hutter 2019)."""
    return AdamW(
        parameter_groups(model, optim["weight_decay"]),
        lr=optim["lr"],
        betas=tuple(optim["betas"]),
        eps=optim["eps"],
        fused=fused,
    )


def learning_rate_share(update: int, *, updates: int, warmup: float, final: float) -> float:
    """The learning rate of ``update`` (from 0) as a share of the peak: linear up, then a cosine down to ``final``.

    ``warmup`` is a whole number of updates, or below 1 a share of all.
    """
    ramp = int(warmup * updates) if warmup < 1 else int(warmup)
    if update < ramp:
        return (update + 1) / (ramp + 1)
    progress = (update - ramp) / max(1, updates - ramp)
    return final + (1 - final) * 0.5 * (1 + math.cos(math.pi * min(1.0, progress)))


def schedule(
    optimizer: torch.optim.Optimizer, optim: dict, updates: int
) -> torch.optim.lr_scheduler.LambdaLR:
    """``learning_rate_share`` as torch's scheduler, stepped once per update."""
    return torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda update: learning_rate_share(
            update, updates=updates, warmup=optim["warmup"], final=optim["final"]
        ),
    )
