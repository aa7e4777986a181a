"""What a family of models is to both sides.  One file each beside this one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from zoo.errors import UserError
from zoo.interop.weights import Entry, State

Config = dict[str, Any]

# Theirs -> ours.
ACTIVATIONS = {
    "gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh", "gelu": "gelu", "relu": "relu", "silu": "silu",
}  # fmt: skip


@dataclass(frozen=True)
class Family:
    """One ``model_type`` of transformers and the ``arch`` that has its blocks.

    Args:
        model_type: as in their config.json.
        architecture: their class that has the heads we have.
        arch: ours.
        overrides: their configuration, their weights -> what to say after ``arch=`` to get the same model.
        config: our configuration, V -> theirs.
        weights: our configuration -> the table of names.
        fixed: their keys that can have one value only, for their class has more than we build.
        copies, zeros: see ``zoo.interop.weights``.
        base: what names begin with in ``architecture`` and not in their class without heads; heads: which do not.
    """

    model_type: str
    architecture: str
    arch: str
    overrides: Callable[[Config, State], list[str]]
    config: Callable[[Config, int], Config]
    weights: Callable[[Config], list[Entry]]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    copies: Mapping[str, str] = field(default_factory=dict)
    zeros: tuple[str, ...] = ()
    base: str = ""
    heads: tuple[str, ...] = ()

    def whole(self, state: State) -> State:
        """``state`` under the names of ``architecture``, where it is that of their class without heads."""
        if any(name.startswith(self.base) for name in state):
            return state
        return {
            name if name.startswith(self.heads) else self.base + name: tensor
            for name, tensor in state.items()
        }

    def check(self, theirs: Config) -> None:
        """Raises UserError where their configuration asks for what our ``arch`` has not."""
        for key, value in self.fixed.items():
            if key in theirs and theirs[key] is not None and theirs[key] != value:
                raise UserError(
                    f"{key}={theirs[key]} in config.json is not supported: arch={self.arch} has {key}={value}"
                )


def activation(theirs: str) -> str:
    """Their name of an activation in ours.  Raises UserError for one that we lack."""
    if theirs not in ACTIVATIONS:
        raise UserError(
            f"the activation {theirs} is not one of ours, which are {', '.join(sorted(set(ACTIVATIONS)))}"
        )
    return ACTIVATIONS[theirs]


def their_activation(ours: str) -> str:
    """Our name of an activation in theirs."""
    return next(theirs for theirs, mine in ACTIVATIONS.items() if mine == ours)


def truth(value: object) -> str:
    """As it is said on a command line."""
    return str(bool(value)).lower()
