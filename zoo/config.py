"""The door between Hydra and the zoo: configurations come in, plain dicts go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from omegaconf import DictConfig, OmegaConf


def folder() -> Path:
    """conf/: beside the package in a checkout, inside it when installed from a wheel."""
    package = Path(__file__).parent
    inside = package / "conf"
    return inside if inside.is_dir() else package.parent / "conf"


def plain(config: DictConfig) -> dict[str, Any]:
    """The configuration with every interpolation resolved, as dicts, lists and scalars."""
    resolved = OmegaConf.to_container(config, resolve=True)
    assert isinstance(resolved, dict)
    return {str(key): value for key, value in resolved.items()}


def load(*overrides: str) -> dict[str, Any]:
    """What ``python train.py <overrides>`` would run."""
    GlobalHydra.instance().clear()
    with initialize_config_dir(str(folder()), version_base="1.3"):
        return plain(compose("config", overrides=list(overrides)))
