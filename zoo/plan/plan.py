"""A plan: one resolved configuration, found legal, with its sizes, costs and name."""

from __future__ import annotations

from dataclasses import dataclass

from zoo.errors import UserError
from zoo.plan.count import Counted
from zoo.plan.legality import check
from zoo.plan.lengths import Lengths, as_read, lengths
from zoo.plan.match import solve_width
from zoo.plan.values import check_values


@dataclass(frozen=True)
class Plan:
    """What will be built and trained.

    config: the resolved configuration, plain dicts, with the size filled in and the feed-forward width solved;
    vocab: V;  row: tokens per row;  positions: length of a learned position table.
    """

    config: dict
    vocab: int
    row: Lengths
    positions: int

    @property
    def counted(self) -> Counted:
        return Counted(self.config, self.vocab, self.positions)

    @property
    def tokens_seen(self) -> int:
        """Source tokens consumed by the whole run."""
        return self.config["steps"] * self.config["batch_size"] * self.row.source

    def parameters(self) -> int | None:
        """Total, or None where a block of the user's own makes it unknown before it is built."""
        try:
            return self.counted.parameters()
        except UserError:
            return None

    def flops_per_token(self) -> float | None:
        """Training FLOPs per source token, or None as above."""
        try:
            self.counted.parameters()
            return self.counted.training_flops(self.row)
        except UserError:
            return None


def make_plan(config: dict, vocab: int | None = None) -> Plan:
    """Check ``config`` (resolved, plain dicts) and work out its sizes.

    Args:
        vocab: the tokenizer's size where it is known; else the configured or published one stands in.

    Raises:
        UserError: the configuration is not legal, in one sentence.
    """
    check_values(config)
    row = as_read(lengths(config["objective"], config["context"]), config["arch"])
    check(config, row)
    vocab = vocab or config["size"]["vocab"] or config["tokenizer"].get("vocab_size") or 512
    longest = max(row.inputs, row.targets)
    if tuning := config["tuning"] if config["tasks"] else None:
        longest = max(
            longest, tuning["longest"] + tuning["answer"]
        )  # what is read and what is answered in one row
    positions = config["size"]["positions"] or longest
    counted = Counted(config, vocab, positions)
    width = solve_width(counted, config["match"]["by"], row.source)
    if config["ffn"]["d_ff"] not in (config["size"]["d_ff"], width):
        raise UserError(
            f"ffn.d_ff={config['ffn']['d_ff']} was asked for, but match={config['match']['by']} makes it {width}; "
            f"leave it out or use match=none"
        )
    config = {**config, "ffn": {**config["ffn"], "d_ff": width}}
    return Plan(config, vocab, row, positions)
