"""Checkpoints that survive: written beside and renamed, the last two kept, loaded as plain tensors only."""

from __future__ import annotations

import pickle
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from lightning.pytorch.plugins.io import TorchCheckpointIO

from zoo.errors import UserError
from zoo.training.whole import whole

LAST, PREVIOUS, BEST = "last.ckpt", "previous.ckpt", "best.ckpt"


def save(value: Any, path: Path) -> None:
    """Write ``value`` to ``path`` whole or not at all.

    Raises:
        UserError: the disk is full or not writable; what stood at ``path`` is still there.
    """
    try:
        with whole(path) as file:
            torch.save(value, file)
    except (OSError, RuntimeError) as error:  # torch's zip writer turns a full disk into a RuntimeError
        raise UserError(f"could not write {path} ({error}); the checkpoint before it is untouched") from error


def read(path: Path) -> dict[str, Any]:
    """A checkpoint's content; tensors, numbers, strings and containers only.

    Raises:
        UserError: missing, truncated, or holding anything else.
    """
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError as error:
        raise UserError(f"there is no checkpoint {path}") from error
    except (RuntimeError, EOFError, OSError, pickle.UnpicklingError, zipfile.BadZipFile) as error:
        raise UserError(f"{path} is damaged or no checkpoint of plain tensors") from error


def newest_readable(folder: Path, warn: Any = print) -> Path | None:
    """The last checkpoint, or where that is damaged the one before it; None where there is none.

    Raises:
        UserError: there are checkpoints, but none can be read.
    """
    damaged = []
    for path in (folder / LAST, folder / PREVIOUS):
        if not path.exists():
            continue
        try:
            read(path)
        except UserError as error:
            damaged.append(path)
            warn(f"{error}; trying the one before it")
        else:
            return path
    if damaged:
        raise UserError(f"no checkpoint in {folder} can be read; start again with fresh=true")
    return None


class SafeCheckpointIO(TorchCheckpointIO):
    """``save`` and ``read`` for Lightning's own checkpoints."""

    def save_checkpoint(self, checkpoint: dict[str, Any], path: Any, storage_options: Any = None) -> None:
        save(checkpoint, Path(path))

    def load_checkpoint(
        self, path: Any, map_location: Any = None, weights_only: bool | None = None
    ) -> dict[str, Any]:
        return read(Path(path))


def rotate(folder: Path) -> None:
    """Before a new last checkpoint: the old one becomes the previous one."""
    if (folder / LAST).exists():
        (folder / LAST).replace(folder / PREVIOUS)


def tensors_of(checkpoint: dict[str, Any]) -> Iterator[tuple[str, torch.Tensor]]:
    """The model's own tensors of a checkpoint of ours, by the model's names."""
    for name, tensor in checkpoint["state_dict"].items():
        if name.startswith("model."):
            yield name.removeprefix("model."), tensor
