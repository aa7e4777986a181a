"""From a plan to a model: which blocks, in which stacks."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from hydra.utils import instantiate

from zoo.blocks import Stack
from zoo.blocks.masks import EVERYTHING, Past, Prefix, Rule
from zoo.models.transformer import Transformer
from zoo.plan import Plan

RULES: dict[str, Rule] = {"everything": EVERYTHING, "past": Past(), "prefix": Prefix()}


def build(plan: Plan, *, seed: int | None = None, device: str = "cpu") -> Transformer:
    """The model that ``plan`` describes, initialised from ``seed`` (None: from torch's current state).

    ``device="meta"`` gives its shapes without its numbers.
    """
    with torch.random.fork_rng(devices=[], enabled=seed is not None):
        if seed is not None:
            torch.manual_seed(seed)
        with torch.device(device):
            model = _assemble(plan)
        if device != "meta":
            instantiate(plan.config["arch"]["init"])(model)
    return model


def _assemble(plan: Plan) -> Transformer:
    config, arch, d_model = plan.config, plan.config["arch"], plan.config["size"]["d_model"]
    head = {key: value for key, value in arch["head"].items() if value is not None}
    pair = arch["next_sentence"] if config["objective"].get("next_sentence") else None
    return Transformer(
        embedding=instantiate(arch["embedding"])(vocab=plan.vocab, d_model=d_model),
        encoder=_stack(plan, arch["encoder"]),
        decoder=_stack(plan, arch["decoder"]),
        head=instantiate(head)(d_model=d_model, vocab=plan.vocab),
        next_sentence=instantiate(pair)(d_model=d_model) if pair else None,
    )


def _stack(plan: Plan, spec: dict[str, Any] | None) -> Stack | None:
    if spec is None:
        return None
    config, arch, d_model = plan.config, plan.config["arch"], plan.config["size"]["d_model"]
    norm = partial(instantiate(config["norm"]["layer"]), d_model=d_model)
    variant = instantiate(config["attention"]["rule"]) if config["attention"]["rule"] else EVERYTHING
    block = instantiate(config.get("block") or {"_target_": "zoo.blocks.Block", "_partial_": True})
    return Stack(
        block=partial(
            block,
            d_model=d_model,
            mixer=instantiate(config["attention"]["mixer"]),
            feed_forward=instantiate(config["ffn"]),
            norm=instantiate(config["norm"]["layer"]),
            placement=config["norm"]["placement"],
            crosses=bool(spec.get("memory")),
            dropout=arch["dropout"],
        ),
        layers=plan.counted.layers,
        sees=RULES[spec["sees"]] & variant,
        position=instantiate(config["position"])(
            d_model=d_model,
            heads=config["size"]["heads"],
            d_head=plan.counted.d_head,
            length=plan.positions,
            two_way=spec["sees"] != "past",
        ),
        input_norm=norm() if arch["input_norm"] else None,
        final_norm=norm() if config["norm"]["placement"] == "pre" else None,
        dropout=arch["dropout"],
        output_dropout=arch["output_dropout"],
    )
