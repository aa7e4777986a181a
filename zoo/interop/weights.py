"""The same weights under two names: what another project calls them, and what we do.

A family (``zoo.interop.families``) lists its ``Entry``s; importing and exporting read the same list.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from zoo.errors import UserError

State = dict[str, Tensor]


@dataclass(frozen=True)
class Entry:
    """``theirs``, joined along the first dimension, are ``ours``, joined.

    turned: their matrices are (in, out);  skip: rows that only their table has, before those of ours.
    """

    ours: tuple[str, ...]
    theirs: tuple[str, ...]
    turned: bool = False
    skip: int = 0


def entries(
    ours: str | Sequence[str], theirs: str | Sequence[str], *, turned: bool = False, skip: int = 0
) -> list[Entry]:
    """The weight and the bias of modules named so; an entry that a model has not is passed over."""
    mine = (ours,) if isinstance(ours, str) else ours
    other = (theirs,) if isinstance(theirs, str) else theirs
    return [
        Entry(
            tuple(f"{name}.{kind}" for name in mine), tuple(f"{name}.{kind}" for name in other), turned, skip
        )
        for kind in ("weight", "bias")
    ]


def to_ours(
    state: State, model: State, table: Iterable[Entry], copies: dict[str, str], zeros: Iterable[str] = ()
) -> State:
    """Their ``state`` under our names, in the shapes of ``model``.

    Args:
        model: our model's own state.
        copies: their names that stand a second time for a tied weight, and that weight's first name.
        zeros: their names that have no counterpart, being zero in all that we can build.

    Raises:
        UserError: weights missing, left over, of another shape, or untied where ours are tied; all by name.
    """
    found: State = {}
    used: set[str] = set()
    for entry in table:
        if not set(entry.ours) <= set(model):
            continue
        absent = [name for name in entry.theirs if name not in state]
        if absent:
            raise UserError(f"the weights lack {' and '.join(absent)}, which this architecture needs")
        used.update(entry.theirs)
        parts = [state[name].t() if entry.turned else state[name] for name in entry.theirs]
        joined = torch.cat(parts)[entry.skip :] if len(parts) > 1 or entry.skip else parts[0]
        sizes = [len(model[name]) for name in entry.ours]
        if len(joined) != sum(sizes) or joined.shape[1:] != model[entry.ours[0]].shape[1:]:
            raise UserError(
                f"{' and '.join(entry.theirs)} have shape {tuple(joined.shape)}, but the configuration says "
                f"{(sum(sizes), *model[entry.ours[0]].shape[1:])}"
            )
        found |= dict(zip(entry.ours, joined.split(sizes), strict=True))
    for copy, first in copies.items():
        if copy in state and copy not in used:
            used.add(copy)
            if not torch.equal(state[copy], state[first]):
                raise UserError(f"{copy} is not {first}, but this architecture has them tied")
    for name in zeros:
        if name in state:
            used.add(name)
            if state[name].any():
                raise UserError(f"{name} is not zero, and this architecture has no place for it")
    if left := sorted(set(state) - used):
        raise UserError(f"weights without a place here: {', '.join(left)}")
    if missing := sorted(set(model) - set(found)):
        raise UserError(f"nothing in the weights for {', '.join(missing)}")
    return {name: tensor.contiguous() for name, tensor in found.items()}


def to_theirs(state: State, table: Iterable[Entry]) -> State:
    """Our ``state`` under their names; what only their tables have is zero."""
    made: State = {}
    for entry in table:
        if not set(entry.ours) <= set(state):
            continue
        joined = torch.cat([state[name] for name in entry.ours])
        if entry.skip:
            joined = torch.cat([joined.new_zeros(entry.skip, *joined.shape[1:]), joined])
        for name, part in zip(entry.theirs, joined.chunk(len(entry.theirs)), strict=True):
            made[name] = (part.t() if entry.turned else part).contiguous()
    return made
