"""How many tokens go in, come out and count, for a row of n source tokens: closed forms.

An objective's rows all have the same lengths, so that a batch needs no padding.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Lengths:
    """Tokens per row: ``source`` consumed, ``inputs`` of the first stack, ``targets`` of the decoder of an
    encoder-decoder (else 0), and ``loss``, the (where chance decides: expected) number that the loss counts."""

    source: int
    inputs: int
    targets: int
    loss: float


def spans(source: int, density: float, mean_span: float) -> tuple[int, int]:
    """(noise tokens, noise spans) of a row of ``source`` tokens (Raffel et al. 2020, 3.1.4; T5's released code).

    At least one token is noise and one is not, and there are never more spans than either.
    """
    noise = min(max(round(source * density), 1), source - 1)
    return noise, min(max(round(noise / mean_span), 1), noise, source - noise)


def lengths(objective: dict, source: int) -> Lengths:
    """The lengths of ``objective`` (its configuration) for ``source`` tokens a row."""
    if objective["name"] == "span_corruption":
        noise, count = spans(source, objective["density"], objective["mean_span"])
        # The text with a sentinel per span and </s>; each sentinel with its span and </s>.
        return Lengths(source, source - noise + count + 1, noise + count + 1, noise + count + 1)
    if objective["name"] == "text_infilling":
        noise, count = spans(source, objective["density"], objective["mean_span"])
        # The text with a <mask> for each span and </s>; all of it and </s>.
        return Lengths(source, source - noise + count + 1, source + 1, source + 1)
    if objective["name"] == "masked_lm":
        extra = 3 if objective["next_sentence"] else 2  # <cls> A <sep> B <sep>, or <cls> A <sep>
        return Lengths(source, source + extra, 0, objective["rate"] * source)
    if objective["name"] == "masked_diffusion":
        # <cls> text <sep>; of n tokens 1 to n are masked, all numbers equally likely.
        return Lengths(source, source + 2, 0, (source + 1) / 2)
    if objective["name"] == "prefix_lm":
        return Lengths(source, source, 0, (source + 1) / 2)  # 1 to ``source`` of them, equally likely
    return Lengths(source, source, 0, source)


def as_read(row: Lengths, arch: dict) -> Lengths:
    """``row`` as ``arch`` (its configuration) reads it: see ``zoo.objectives.layout``."""
    if row.targets and not arch["encoder"]:
        return replace(row, inputs=row.inputs + row.targets, targets=0)
    if not row.targets and arch["encoder"] and arch["decoder"]:
        return replace(row, targets=row.inputs)
    return row
