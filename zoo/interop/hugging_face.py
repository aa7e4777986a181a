"""Models of transformers as ours, and ours as theirs: the same weights, the same logits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from zoo.config import load
from zoo.errors import UserError
from zoo.interop.families import FAMILIES, Family
from zoo.interop.weights import State, to_ours, to_theirs
from zoo.models import Transformer, build
from zoo.plan import make_plan
from zoo.plan.count import kind

# What makes two models the same one; the rest of a configuration is how it was trained.
_MODEL = ("arch", "attention", "position", "norm", "ffn", "size")
_NOT_THE_MODEL = {
    "arch.name",
    "arch.init",
    "arch.published",
    "size.name",
    "size.vocab",
    "size.kv_heads",
    "size.embedding",
}

# Buffers that older versions kept beside the weights.
_BUFFERS = re.compile(r"(\.attn\.(masked_)?bias|position_ids|rotary_emb\.inv_freq)$")


@dataclass(frozen=True)
class Imported:
    """A model with the weights of another project, in evaluation.

    config: ours, that builds it;  fresh: names of our heads' weights that theirs had none for, as initialised.
    """

    config: dict[str, Any]
    model: Transformer
    fresh: tuple[str, ...]


def from_hugging_face(theirs: dict[str, Any], state: State, *more: str, seed: int = 0) -> Imported:
    """The model of a config.json and its weights, with or without its heads.

    Args:
        more: what else to say of the configuration, as on the command line of train.py.
        seed: of heads that ``state`` has not.

    Raises:
        UserError: no architecture of ours is theirs, or the weights are not those of their configuration.
    """
    family = _family(theirs)
    family.check(theirs)
    state = family.whole(
        {_modern(name): tensor for name, tensor in state.items() if not _BUFFERS.search(name)}
    )
    config = load(f"arch={family.arch}", "match=none", *family.overrides(theirs, state), *more)
    plan = make_plan(config, vocab=theirs["vocab_size"])
    model = build(plan, seed=seed).eval()
    own = model.state_dict()
    table = family.weights(plan.config)
    heads = {name for name in own if name.startswith(("head.", "next_sentence."))}
    named = {name: entry.theirs for entry in table for name in entry.ours}
    fresh = {name for name in heads if name not in named or not set(named[name]) <= set(state)}
    known = {name: tensor for name, tensor in own.items() if name not in fresh}
    found = to_ours(state, known, table, dict(family.copies), family.zeros)
    model.load_state_dict({**own, **found})
    return Imported(plan.config, model, tuple(sorted(fresh)))


def grown(found: Imported, vocab: int) -> Transformer:
    """The same model with room for ``vocab`` tokens, not fewer than it has; a new token starts as the mean of all
    (after Hewitt 2021), so that it is no surprise to anyone."""
    model = build(make_plan(found.config, vocab=vocab), seed=0).eval()
    state = found.model.state_dict()
    for name, tensor in model.state_dict().items():
        rows = state[name]
        if (more := len(tensor) - len(rows) if tensor.dim() else 0) > 0:
            rows = torch.cat([rows, rows.mean(0, keepdim=True).expand(more, *rows.shape[1:])])
        tensor.copy_(rows)
    return model


def to_hugging_face(
    config: dict[str, Any], model: Transformer, ids: dict[str, int]
) -> tuple[dict[str, Any], State]:
    """A config.json and weights that transformers loads as the same model.

    Args:
        ids: the special tokens, under their names (``pad_token_id``, ...).

    Raises:
        UserError: none of their architectures is this one.
    """
    vocab, config = model.embedding.tokens.num_embeddings, _explicit(config, model)
    offers = {}
    for family in sorted(FAMILIES.values(), key=lambda one: one.arch != config["arch"]["name"]):
        if _assembly(load(f"arch={family.arch}")) == _assembly(config):
            differs = _differences(family, config, model.state_dict(), vocab)
            if not differs:
                named = {"model_type": family.model_type, "architectures": [family.architecture]}
                theirs = {**named, **ids, **family.config(config, vocab)}
                return theirs, to_theirs(model.state_dict(), family.weights(config))
            offers[family.model_type] = differs
    nearest = min(offers, key=lambda name: len(offers[name]), default=None)
    raise UserError(
        "no architecture of transformers that we know is this one"
        + (f"; the nearest is {nearest}, but for {', '.join(offers[nearest])}" if nearest else "")
    )


def _explicit(config: dict[str, Any], model: Transformer) -> dict[str, Any]:
    """With the numbers that a run's configuration leaves to its context and width."""
    size, mixer = config["size"], config["attention"]["mixer"]
    stack = model.encoder or model.decoder
    assert stack is not None
    positions = getattr(getattr(stack.position, "table", None), "num_embeddings", None)
    if kind(config["position"]) != "Learned":
        positions = size["positions"]
    mixer = {**mixer, "d_head": mixer.get("d_head") or size["d_model"] // size["heads"]}
    return {
        **config,
        "size": {**size, "positions": positions},
        "attention": {**config["attention"], "mixer": mixer},
    }


def _family(theirs: dict[str, Any]) -> Family:
    kind = theirs.get("model_type")
    if kind not in FAMILIES:
        raise UserError(f"model_type={kind} in config.json is none of {', '.join(FAMILIES)}")
    return FAMILIES[kind]


def _modern(name: str) -> str:
    """TensorFlow's names of a norm's weights, which BERT's first checkpoints still have."""
    return re.sub(r"LayerNorm\.(gamma|beta)$", lambda m: f"LayerNorm.{_NORM[m[1]]}", name)


_NORM = {"gamma": "weight", "beta": "bias"}


def _assembly(config: dict[str, Any]) -> tuple[Any, ...]:
    arch = config["arch"]
    return tuple((arch[side] or {}).get("sees") for side in ("encoder", "decoder"))


def _differences(family: Family, config: dict[str, Any], state: dict[str, Tensor], vocab: int) -> list[str]:
    """The keys in which ``config`` is not what their class would be imported as."""
    try:
        theirs = family.config(config, vocab)
        named = to_theirs(state, family.weights(config))
        again = load(f"arch={family.arch}", "match=none", *family.overrides(theirs, named))
        mixer, size = again["attention"]["mixer"], again["size"]
        mixer["d_head"] = mixer["d_head"] or size["d_model"] // size["heads"]
    except (KeyError, TypeError, UserError, StopIteration):
        return ["its blocks"]
    mine, other = _flat({k: config[k] for k in _MODEL}), _flat({k: again[k] for k in _MODEL})
    return sorted(
        key
        for key in mine.keys() | other.keys()
        if mine.get(key) != other.get(key)
        and not any(key == name or key.startswith(f"{name}.") for name in _NOT_THE_MODEL)
        and not key.endswith("dropout")
    )


def _flat(config: Any, prefix: str = "") -> dict[str, Any]:
    if not isinstance(config, dict):
        return {prefix: config}
    flat: dict[str, Any] = {}
    for key, value in config.items():
        flat |= _flat(value, f"{prefix}.{key}" if prefix else key)
    return flat
