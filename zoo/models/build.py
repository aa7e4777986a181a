"""From a plan to a model: which blocks, in which stacks."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from hydra.utils import instantiate
from torch import nn

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
    width = plan.counted.embedding_width
    pair = arch["next_sentence"] if config["objective"].get("next_sentence") else None
    return Transformer(
        embedding=instantiate({**arch["embedding"], "width": width})(vocab=plan.vocab),
        encoder=_stack(plan, arch["encoder"]),
        decoder=_stack(plan, arch["decoder"]),
        head=instantiate(head)(d_model=d_model, vocab=plan.vocab, width=width),
        next_sentence=instantiate(pair)(d_model=d_model) if pair else None,
    )


def _stack(plan: Plan, spec: dict[str, Any] | None) -> Stack | None:
    if spec is None:
        return None
    config, arch, d_model = plan.config, plan.config["arch"], plan.config["size"]["d_model"]
    width, attention = plan.counted.embedding_width, config["attention"]
    norm = instantiate(config["norm"]["layer"])
    rules = attention["rule"] if isinstance(attention["rule"], list) else [attention["rule"]]
    known = {
        "heads": config["size"]["heads"],
        "d_head": plan.counted.d_head,
        "length": plan.positions,
        "two_way": spec["sees"] != "past",
    }
    position = {key: value for key, value in config["position"].items() if key != "local"}
    local = {**position, **config["position"]["local"]} if config["position"].get("local") else None
    block = instantiate(config.get("block") or {"_target_": "zoo.blocks.Block", "_partial_": True})
    stack = Stack(
        block=partial(
            block,
            d_model=d_model,
            mixer=instantiate(attention["mixer"]),
            feed_forward=instantiate(config["ffn"]),
            norm=norm,
            placement=config["norm"]["placement"],
            crosses=bool(spec.get("memory")),
            dropout=arch["dropout"],
        ),
        layers=plan.counted.layers,
        sees=RULES[spec["sees"]],
        variants=[instantiate(rule) if rule else EVERYTHING for rule in rules],
        position=instantiate(position)(d_model=width, **known),
        local_position=instantiate(local)(d_model=d_model, **known) if local else None,
        input_norm=norm(d_model=width) if arch["input_norm"] else None,
        projection=nn.Linear(width, d_model, bias=arch["bias"]) if width != d_model else None,
        final_norm=norm(d_model=d_model) if config["norm"]["placement"] == "pre" else None,
        shared=arch["shared"],
        dropout=arch["dropout"],
        output_dropout=arch["output_dropout"],
    )
    if plan.counted.normed_input:
        stack.blocks[0].attention_norm = nn.Identity()
    return stack
