"""Which values a key may have at all, each by itself; what keys must be to one another is ``legality``'s."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from zoo.errors import UserError

ACTIVATIONS = ("relu", "gelu", "gelu_tanh", "silu")


def _whole(least: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and value >= least


def _number(allowed: Callable[[float], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, int | float) and not isinstance(value, bool) and allowed(value)


def _or_null(allowed: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or allowed(value)


def _one_of(*names: str | None) -> tuple[str, Callable[[Any], bool]]:
    return " or ".join(name or "null" for name in names), lambda value: value in names


# What it must be, in words and as a test, and the keys it holds for.  A key that a configuration lacks is not checked.
_RULES: list[tuple[str, Callable[[Any], bool], tuple[str, ...]]] = [
    (
        "a whole number above 0",
        _whole(1),
        (
            "context", "batch_size", "steps", "trainer.micro_batches",
            "size.d_model", "size.layers", "size.heads", "size.d_ff", "ffn.d_ff",
            "attention.mixer.heads", "attention.mixer.kv_heads", "attention.rule.size", "attention.rule.stride",
            "position.buckets", "position.longest",
            "trainer.devices", "trainer.log_every", "trainer.validate_every", "trainer.checkpoint_every",
        ),
    ),
    (
        "a whole number above 0, or null",
        _or_null(_whole(1)),
        ("size.vocab", "size.positions", "arch.embedding.width", "tokenizer.vocab_size", "attention.mixer.d_head",
         "trainer.threads", "trainer.validation_rows"),
    ),
    ("a whole number from 0 and below 2^32", lambda value: _whole(0)(value) and value < 2**32, ("seed",)),
    ("a whole number from 0", _whole(0), ("samples", "arch.embedding.segments", "tokenizer.sentinels")),
    ("a number above 0", _number(lambda x: x > 0), ("position.base", "position.local.base", "optim.lr", "optim.eps")),
    ("a number above 0, or null", _or_null(_number(lambda x: x > 0)), ("optim.clip",)),
    ("a number from 0", _number(lambda x: x >= 0), ("optim.weight_decay", "optim.warmup")),
    ("a number from 1", _number(lambda x: x >= 1), ("objective.mean_span",)),
    ("a share above 0 and below 1", _number(lambda x: 0 < x < 1), ("objective.density",)),
    ("a share above 0 and at most 1", _number(lambda x: 0 < x <= 1), ("objective.rate",)),
    ("a share from 0 to 1", _number(lambda x: 0 <= x <= 1), ("objective.mask", "objective.random", "optim.final")),
    (
        "a share from 0 and below 1",
        _number(lambda x: 0 <= x < 1),
        ("arch.dropout", "arch.output_dropout", "ffn.dropout", "attention.mixer.dropout"),
    ),
    (*_one_of("params", "flops", "none"), ("match.by",)),
    (*_one_of("pre", "post"), ("norm.placement",)),
    (*_one_of("random", "swapped"), ("objective.wrong_pair",)),
    (*_one_of(*ACTIVATIONS), ("ffn.activation",)),
    (*_one_of("32-true", "bf16-mixed", "bf16-true", "16-mixed"), ("trainer.precision",)),
    (*_one_of("cpu", "gpu", "auto"), ("trainer.accelerator",)),
    (*_one_of("auto", "ddp_spawn"), ("trainer.strategy",)),
    (*_one_of(None, "simple", "advanced", "pytorch"), ("trainer.profiler",)),
    (
        "true or false",
        lambda value: isinstance(value, bool),
        ("trainer.compile", "same_batch", "fresh", "arch.bias", "arch.shared", "objective.next_sentence",
         "objective.documents", "objective.permute"),
    ),
    (
        "two shares from 0 and below 1, like [0.9, 0.98]",
        lambda value: isinstance(value, list) and len(value) == 2 and all(map(_number(lambda x: 0 <= x < 1), value)),
        ("optim.betas",),
    ),
    ("a number, or null", _or_null(_number(lambda x: True)), ("attention.mixer.scale",)),
    ("a name", lambda value: isinstance(value, str) and value != "", ("name", "runs")),
]  # fmt: skip


def check_values(config: dict) -> None:
    """Refuse a value that its key cannot have.

    Raises:
        UserError: naming the key, the value and what it must be.
    """
    for must_be, allowed, keys in _RULES:
        for key in keys:
            for value in _at(config, key):
                if not allowed(value):
                    said = "null" if value is None else " ".join(str(value).split())
                    raise UserError(f"{key}={said} must be {must_be}")
    replaced = sum(value for key in ("mask", "random") for value in _at(config, f"objective.{key}"))
    if replaced > 1:
        raise UserError(
            f"objective.mask and objective.random add up to {replaced:g}; lower them to at most 1 together"
        )


def _at(config: Any, key: str) -> list[Any]:
    """The values at a dotted key: one, or one for each item of a list on the way that has the key, or none."""
    found = [config]
    for name in key.split("."):
        items = [item for value in found for item in (value if isinstance(value, list) else [value])]
        found = [item[name] for item in items if isinstance(item, dict) and name in item]
    return found
