"""The package's front: models by name, and trained runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # torch is imported when a model is asked for, not before
    from zoo.data.tokenizer import Tokenizer
    from zoo.generation.asking import Way
    from zoo.models import Transformer


@dataclass(frozen=True)
class Trained:
    """A run's model (in evaluation mode), tokenizer and configuration."""

    model: Transformer
    tokenizer: Tokenizer
    config: dict[str, Any]

    @property
    def way(self) -> Way | None:
        """In which a model that writes was trained to be asked; see ``zoo.generation.asking``."""
        from hydra.utils import instantiate

        return instantiate(self.config["objective"]).way


def build(
    *overrides: str, vocab: int | None = None, seed: int | None = 0, device: str = "cpu", **axes: Any
) -> Transformer:
    """A new model: ``build(arch="gpt", size="tiny")``, ``build("size.layers=3", arch="bert", position="alibi")``.

    Args:
        overrides, axes: as on the command line of train.py.
        vocab: V; None: the configuration's.
        seed: of the initialisation; None: torch's current state.
        device: "meta" gives shapes without numbers.

    Raises:
        UserError: no such axis or value, or the combination is not legal.
    """
    from hydra.errors import HydraException

    from zoo.config import load as load_config
    from zoo.door import sentence
    from zoo.errors import UserError
    from zoo.models import build as build_model
    from zoo.plan import make_plan

    try:
        config = load_config(*overrides, *(f"{axis}={value}" for axis, value in axes.items()))
    except HydraException as error:
        raise UserError(sentence(error)) from error
    return build_model(make_plan(config, vocab=vocab), seed=seed, device=device)


def load(run: str | Path, *, checkpoint: str = "best") -> Trained:
    """The model and tokenizer of a run folder.

    Args:
        checkpoint: "best" on validation, or "last".

    Raises:
        UserError: not a run folder, or its checkpoint is missing or damaged.
    """
    from zoo.data.tokenizer import Tokenizer
    from zoo.models import build as build_model
    from zoo.plan import make_plan
    from zoo.training import checkpoints
    from zoo.training.records import read_config

    folder = Path(run)
    config = read_config(folder)
    tokenizer = Tokenizer.load(folder / "tokenizer.json")
    # The recorded widths are solved ones: nothing is to be matched again.
    plan = make_plan({**config, "match": {"by": "none"}}, vocab=tokenizer.vocab_size)
    model = build_model(plan, seed=0)
    content = checkpoints.read(folder / "checkpoints" / f"{checkpoint}.ckpt")
    model.load_state_dict(dict(checkpoints.tensors_of(content)))
    return Trained(model.eval(), tokenizer, config)
