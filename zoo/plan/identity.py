"""A run's name: its architecture, what was asked for, and a hash of its whole configuration."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path

# What a run is called, where it is kept and how it is watched does not change what it computes.
_NOT_IDENTITY = ("name", "runs", "resume", "fresh", "logger", "samples")


def identity(config: dict) -> str:
    """Eight hexadecimal digits that two runs share only if their resolved configurations are equal."""
    kept = {key: value for key, value in config.items() if key not in _NOT_IDENTITY}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()[:8]


def folder(config: dict, overrides: Sequence[str] = ()) -> Path:
    """``runs/<name>/<arch>-<overridden axes>-<hash>``; a run of the same hash there keeps the name it has."""
    parent = Path(config["runs"]) / config["name"]
    for known in sorted(parent.glob(f"*-{identity(config)}")):
        return known
    axes = [re.sub(r"^[+~]+", "", item) for item in overrides]
    kept = [
        axis
        for axis in axes
        if axis.split("=")[0].split(".")[0] not in (*_NOT_IDENTITY, "arch", "experiment")
    ]
    slug = "-".join([config["arch"]["name"], *(re.sub(r"[^A-Za-z0-9._-]+", "_", axis) for axis in kept)])
    return parent / f"{slug[:80]}-{identity(config)}"
