"""One objective, several assemblies: what is read and what is written, in two rows or in one.

An objective says what is given and what is asked.  An encoder-decoder reads the one and writes the other; a decoder
alone reads both in one row (Raffel et al. 2020, 3.2.1, figure 4).
Shapes: B rows, T inputs and U decoder inputs per row, n source tokens per row.
"""

from __future__ import annotations

import torch

from zoo.models import Transformer
from zoo.objectives.batch import Batch


def laid_out(batch: Batch, model: Transformer) -> Batch:
    """``batch`` (of tensors) as ``model`` reads it."""
    if model.encoder is None and batch.targets is not None:
        return joined(batch)
    if model.encoder is not None and model.decoder is not None and batch.targets is None:
        return split(batch)
    return batch


def joined(batch: Batch) -> Batch:
    """Inputs and decoder inputs in one row, (B, T + U).  Given are the inputs and the start token behind them."""
    assert batch.targets is not None
    rows, width = batch.inputs.shape
    written = batch.targets.shape[1]
    where = torch.arange(rows * written, device=batch.inputs.device) if batch.where is None else batch.where
    return batch._replace(
        inputs=torch.cat([batch.inputs, batch.targets], dim=1),
        targets=None,
        where=where + (where // written + 1) * width,
        prefix=torch.full((rows,), width + 1, device=batch.inputs.device),
    )


def split(batch: Batch) -> Batch:
    """Rows (B, n) that are given up to their prefix: that for the encoder, which sees no further, and the rest for the
    decoder after its start token, both (B, n)."""
    assert batch.prefix is not None
    n = batch.inputs.shape[1]
    slots = torch.arange(n, device=batch.inputs.device)
    targets = batch.inputs.gather(1, (batch.prefix[:, None] + slots - 1).clamp(max=n - 1))
    targets[:, 0] = batch.bos
    asked = slots < n + 1 - batch.prefix[:, None]
    return batch._replace(targets=targets, where=asked.flatten().nonzero().squeeze(1))
