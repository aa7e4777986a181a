"""Equal parameters or equal FLOPs between architectures: the feed-forward width is solved for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from zoo.errors import UserError
from zoo.plan.count import Counted
from zoo.plan.lengths import as_read, lengths

TOLERANCE = 0.01
STEP = 4  # feed-forward widths are multiples of this


def reference(counted: Counted) -> Counted:
    """arch=gpt of the same size with every axis at its default: what every matched run is as large as."""
    config = counted.config
    size = config["size"]
    plain = {
        **config,
        "arch": {
            **config["arch"],
            "encoder": None,
            "decoder": {"sees": "past"},
            "bias": False,
            "input_norm": False,
            "shared": False,
            "embedding": {"segments": 0, "width": None},
            "head": {"_target_": "zoo.blocks.LMHead", "tied": True},
        },
        "attention": {
            "mixer": {
                "_target_": "zoo.blocks.Attention",
                "heads": size["heads"],
                "kv_heads": size["heads"],
                "d_head": None,
                "qk_norm": False,
                "bias": False,
            }
        },
        "ffn": {"_target_": "zoo.blocks.FeedForward", "d_ff": size["d_ff"], "gated": False, "bias": False},
        "norm": {"placement": "pre", "layer": {"_target_": "zoo.blocks.LayerNorm", "bias": False}},
        "position": {"_target_": "zoo.blocks.Rotary"},
        "objective": {"name": "causal_lm"},
    }
    return replace(counted, config=plain)


def measure(counted: Counted, by: str, source: int) -> float:
    """What ``by`` makes equal: parameters, or training FLOPs per source token."""
    if by == "params":
        return counted.parameters()
    return counted.training_flops(
        as_read(lengths(counted.config["objective"], source), counted.config["arch"])
    )


def solve_width(counted: Counted, by: str, source: int) -> int:
    """The feed-forward width at which ``counted`` meets the reference; ``size.d_ff`` where ``by`` is none.

    Raises:
        UserError: no width meets it within 1 %.
    """
    if by == "none":
        return counted.config["ffn"]["d_ff"]
    goal = measure(reference(counted), by, source)

    def at(width: int) -> float:
        config = {**counted.config, "ffn": {**counted.config["ffn"], "d_ff": width}}
        return measure(replace(counted, config=config), by, source)

    width = _nearest(at, goal)
    off = at(width) / goal - 1
    if abs(off) > TOLERANCE:
        names = {"params": "parameters", "flops": "FLOPs"}
        raise UserError(
            f"no feed-forward width gives this model the {names[by]} of arch=gpt at "
            f"size={counted.config['size']['name']} (nearest: {off:+.1%}); use match=none or another size"
        )
    return width


def _nearest(at: Callable[[int], float], goal: float) -> int:
    """``at`` is linear in the width, so two points give the line."""
    slope = (at(2 * STEP) - at(STEP)) / STEP
    exact = STEP + (goal - at(STEP)) / slope
    return max(STEP, round(exact / STEP) * STEP)
