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


def plain(config: DictConfig, *, resolve: bool = True) -> dict[str, Any]:
    """The configuration as dicts, lists and scalars, with every interpolation resolved.

    Raises:
        MissingMandatoryValue: a key that has no default (``???``) was not given, where ``resolve``.
    """
    resolved = OmegaConf.to_container(config, resolve=resolve, throw_on_missing=resolve)
    assert isinstance(resolved, dict)
    return {str(key): value for key, value in resolved.items()}


def load(*overrides: str, config_name: str = "config", resolve: bool = True) -> dict[str, Any]:
    """What ``python train.py <overrides>`` would run."""
    GlobalHydra.instance().clear()
    with initialize_config_dir(str(folder()), version_base="1.3"):
        return plain(compose(config_name, overrides=list(overrides)), resolve=resolve)
