"""Which configurations make sense, and one sentence for each that does not."""

from __future__ import annotations

from zoo.errors import UserError
from zoo.plan.count import kind
from zoo.plan.lengths import Lengths, as_read, lengths, spans

SEES = ("everything", "past", "prefix")


def capabilities(arch: dict) -> set[str]:
    """``states`` always; ``write`` with a decoder that does not see what it is to write; ``fill`` with a lone encoder
    that sees all."""
    found = {"states"}
    if arch["decoder"] and arch["decoder"]["sees"] != "everything":
        found.add("write")
    if arch["encoder"] and not arch["decoder"] and arch["encoder"]["sees"] == "everything":
        found.add("fill")
    return found


def check(config: dict, row: Lengths) -> None:
    """Refuse what cannot be built or trained; ``check_values`` has passed.

    Raises:
        UserError: naming the keys at odds and what to change.
    """
    _check_batch(config)
    _check_stacks(config)
    _check_heads(config)
    _check_positions(config, row)
    _check_objective(config, row)


def _check_batch(config: dict) -> None:
    if config["context"] < 8:
        raise UserError(f"context={config['context']} is too short to learn from; use at least 8")
    trainer, batch = config["trainer"], config["batch_size"]
    ranks = trainer["devices"]
    if ranks > 1 and trainer["strategy"] != "ddp_spawn":
        raise UserError(f"trainer.devices={ranks} needs processes that are spawned; use trainer=ddp")
    parts = trainer["micro_batches"] * ranks
    if batch % parts:
        raise UserError(
            f"batch_size={batch} does not divide into trainer.micro_batches={trainer['micro_batches']} on "
            f"{ranks} device(s); make it a multiple of {parts}"
        )


def _check_stacks(config: dict) -> None:
    arch, size = config["arch"], config["size"]
    stacks = [arch[name] for name in ("encoder", "decoder") if arch[name]]
    if not stacks:
        raise UserError("arch has neither encoder nor decoder; give it at least one")
    for stack in stacks:
        if not isinstance(stack, dict) or "sees" not in stack:
            raise UserError(
                f"{stack} is no stack; give arch.encoder and arch.decoder {{sees: {' | '.join(SEES)}}} or null"
            )
        if stack["sees"] not in SEES:
            raise UserError(f"sees: {stack['sees']} is no rule a stack can have; use {' or '.join(SEES)}")
    if arch["decoder"] and bool(arch["decoder"].get("memory")) != bool(arch["encoder"]):
        raise UserError("arch.decoder.memory: encoder and an arch.encoder go together; give both or neither")
    for name, other in (("encoder", "everything"), ("decoder", "past")):
        if arch["encoder"] and arch[name] and arch[name]["sees"] == "prefix":
            raise UserError(
                f"sees: prefix is for a decoder that has no encoder to read for it; use arch.{name}.sees={other}"
            )
    if size["layers"] % len(stacks):
        raise UserError(
            f"size.layers={size['layers']} cannot be shared equally by an encoder and a decoder; use an even number"
        )


def _check_heads(config: dict) -> None:
    mixer, d_model = config["attention"]["mixer"], config["size"]["d_model"]
    if kind(mixer) != "Attention":
        return
    heads, kv_heads = mixer["heads"], mixer["kv_heads"]
    if mixer["d_head"] is None and d_model % heads:
        raise UserError(
            f"{heads} heads do not divide the width {d_model}; change size.heads or size.d_model, "
            f"or set attention.mixer.d_head"
        )
    if heads % kv_heads:
        raise UserError(
            f"{kv_heads} key/value heads do not divide {heads} heads; change attention.mixer.kv_heads or size.heads"
        )
    d_head = mixer["d_head"] or d_model // heads
    if kind(config["position"]) == "Rotary" and d_head % 2:
        raise UserError(
            f"position=rotary turns pairs of features, but a head is {d_head} wide; "
            f"use attention.mixer.d_head={d_head + 1}, or change size.d_model or size.heads"
        )


def _check_positions(config: dict, row: Lengths) -> None:
    position, size = config["position"], config["size"]
    if kind(position) == "Sinusoidal" and size["d_model"] % 2:
        raise UserError(
            f"position=sinusoidal needs an even width, but size.d_model={size['d_model']}; "
            f"use size.d_model={size['d_model'] + 1}"
        )
    if kind(position) == "RelativeBias":
        buckets = position["buckets"]
        if buckets % 2 or buckets < 4:
            better = max(4, buckets + buckets % 2)
            raise UserError(
                f"position.buckets={buckets} must be an even number from 4; use position.buckets={better}"
            )
        if position["longest"] <= buckets // 2:
            raise UserError(
                f"position.longest={position['longest']} must be above half of position.buckets={buckets}; "
                f"use position.longest={buckets // 2 + 1} or more"
            )
    longest = max(row.inputs, row.targets)
    if kind(position) == "Learned" and size["positions"] and longest > size["positions"]:
        shorter = next(
            (n for n in range(row.source, 7, -1) if _longest(config, n) <= size["positions"]), None
        )
        raise UserError(
            f"inputs of {longest} tokens do not fit a table of {size['positions']} learned positions; "
            f"use {f'context={shorter} or ' if shorter else ''}size.positions={longest}"
        )


def _longest(config: dict, source: int) -> int:
    row = as_read(lengths(config["objective"], source), config["arch"])
    return max(row.inputs, row.targets)


# Which architecture to take for an objective, and the objective to take for an architecture: what refusals recommend.
OBJECTIVES = {
    "causal_lm": "gpt",
    "prefix_lm": "prefix_lm",
    "masked_lm": "bert",
    "masked_diffusion": "bert",
    "span_corruption": "t5",
    "text_infilling": "t5",
}


def fits(arch: dict, name: str, needs: str) -> bool:
    """Whether ``arch`` can be trained by an objective.  Those that train writing suit every model that
    writes, but for causal LM: it gives nothing to read, neither to an encoder nor to a prefix."""
    alone = not arch["encoder"] and arch["decoder"] and arch["decoder"]["sees"] == "past"
    return needs in capabilities(arch) and (name != "causal_lm" or bool(alone))


def _check_objective(config: dict, row: Lengths) -> None:
    arch, objective = config["arch"], config["objective"]
    able = capabilities(arch)
    name, needs = objective["name"], objective["needs"]
    if needs == "write" and arch["decoder"] and arch["decoder"]["sees"] == "everything":
        raise UserError(
            f"objective={name} writes left to right, but the decoder sees everything; use arch.decoder.sees=past"
        )
    if needs == "fill" and not arch["decoder"] and needs not in able:
        raise UserError(
            f"objective={name} fills in from both sides, but the encoder sees the past alone; "
            "use arch.encoder.sees=everything"
        )
    if name == "causal_lm" and not arch["encoder"] and arch["decoder"]["sees"] == "prefix":
        raise UserError(
            "objective=causal_lm has no prefix, so what the decoder may see both ways would never be trained; "
            "use objective=prefix_lm or arch.decoder.sees=past"
        )
    if not fits(arch, name, needs):
        needed = {"masked_lm": "fill", "masked_diffusion": "fill"}
        good = [other for other in OBJECTIVES if fits(arch, other, needed.get(other, "write"))]
        raise UserError(
            f"objective={name} does not fit arch={arch['name']}, which can {' and '.join(sorted(able))}; "
            f"use {' or '.join(f'objective={other}' for other in good)}, or arch={OBJECTIVES.get(name, 'another')}"
        )
    if name == "span_corruption":
        _, count = spans(row.source, objective["density"], objective["mean_span"])
        if count > config["tokenizer"]["sentinels"]:
            raise UserError(
                f"context={row.source} needs {count} sentinels but the tokenizer has "
                f"{config['tokenizer']['sentinels']}; set tokenizer.sentinels={count} or shorten the context"
            )
