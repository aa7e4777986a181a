"""A folder as transformers saves it: config.json, and the weights in one file or in several."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from zoo.errors import UserError
from zoo.interop.weights import State

_WEIGHTS = ("model.safetensors", "pytorch_model.bin")


def read_folder(folder: Path) -> tuple[dict[str, Any], State]:
    """The configuration and the weights.

    Raises:
        UserError: something is missing or damaged, or the weights are a pickle of more than tensors.
    """
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{folder} has no readable config.json ({error})") from error
    state: State = {}
    for path in _files(folder):
        state |= _tensors(path)
    return config, state


def _files(folder: Path) -> list[Path]:
    for name in _WEIGHTS:
        if (folder / name).exists():
            return [folder / name]
        if (index := folder / f"{name}.index.json").exists():
            parts = json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()
            return [folder / part for part in sorted(set(parts))]
    raise UserError(f"{folder} has no weights: neither {' nor '.join(_WEIGHTS)}")


def _tensors(path: Path) -> State:
    try:
        if path.suffix == ".safetensors":
            return load_file(path)
        return torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError as error:
        raise UserError(f"{path} is missing, though the index lists it") from error
    except pickle.UnpicklingError as error:
        raise UserError(
            f"{path} holds more than tensors, and is not opened: it could run anything"
        ) from error
    except (SafetensorError, RuntimeError, EOFError, OSError) as error:
        raise UserError(f"{path} is damaged ({error})") from error


def write_folder(folder: Path, config: dict[str, Any], state: State) -> None:
    """The same for transformers to read."""
    folder.mkdir(parents=True, exist_ok=True)
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
