"""Which runs are compared: groups along one axis, everything else equal, and what differs said by name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from zoo.errors import UserError
from zoo.report.read import Run

Flat = dict[str, Any]

# Where an option of conf/ is not called as its class is, or a group as its users call it.
_OPTIONS = {"noposition": "none", "rope": "rotary"}


@dataclass
class Group:
    """Runs that differ in their seed only. ``runs`` by seed."""

    label: str
    config: Flat
    runs: dict[int, Run] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        return [run.name for _, run in sorted(self.runs.items())]


@dataclass
class Sorted:
    """The groups of the comparison, groups at other tuning budgets (by budget), and the runs that belong to neither."""

    groups: list[Group]
    budgets: dict[Any, list[Group]]
    budget: Any
    left_out: dict[str, str]  # the name of a run: why
    same: Flat  # the configuration that all share
    by_design: dict[str, dict[str, Any]]  # a key of the compared axis that differs: its value in each group


def flatten(config: Mapping[str, Any], prefix: str = "") -> Flat:
    """{"optim": {"lr": 1}} as {"optim.lr": 1}; lists stay as they are."""
    flat: Flat = {}
    for key, value in config.items():
        inner = isinstance(value, Mapping) and value
        flat |= flatten(value, f"{prefix}{key}.") if inner else {f"{prefix}{key}": value}  # type: ignore[arg-type]
    return flat


def sort(
    runs: Sequence[Run],
    group_by: str,
    *,
    axes: Mapping[str, Sequence[str]],
    ignore: Sequence[str],
    budget_key: str,
    with_budget: Sequence[str] = (),
    order: Sequence[str] = (),
) -> Sorted:
    """Group the finished runs by ``group_by``, a key or group of keys of their configurations.

    Runs are compared when their configurations are equal in all but the seed, the keys of the axis and what cannot
    change a result. Most of the runs decide what "equal" is; the others are left out by name, with the keys that
    differ.

    Args:
        axes: for each axis, the keys (or their beginnings) that differ along it by design; "any" for all axes.
        ignore: keys that do not change what is computed.
        budget_key: the number of fine-tuning updates; runs that differ in nothing else are kept apart by it.
        with_budget: keys that may differ between budgets, not within one.
        order: labels to show first, in this order.

    Raises:
        UserError: no finished run has the key.
    """
    flats = {run.name: _kept(run.config, ignore) for run in runs if run.status == "done"}
    axis = [group_by, *axes.get(group_by, ()), *axes.get("any", ())]
    within = {
        name: {key: value for key, value in flat.items() if _under(key, axis)} for name, flat in flats.items()
    }
    if flats and not any(_under(key, [group_by]) for flat in flats.values() for key in flat):
        raise UserError(f"group_by={group_by}: no run has that key; use a key of config.yaml, such as arch")
    outside = {
        name: {
            key: value
            for key, value in flat.items()
            if not _under(key, [*axis, "seed", budget_key, *with_budget])
        }
        for name, flat in flats.items()
    }
    most = _most([_frozen(flat) for flat in outside.values()])
    same = next((flat for flat in outside.values() if _frozen(flat) == most), {})
    left_out = {
        name: "differs in " + "; ".join(differences(flat, same))
        for name, flat in outside.items()
        if _frozen(flat) != most
    }
    left_out |= _unlike(
        {name: flat for name, flat in flats.items() if name not in left_out}, budget_key, with_budget
    )
    kept = [run for run in runs if run.name in flats and run.name not in left_out]
    labels = _labels({run.name: within[run.name] for run in kept}, group_by)
    budgets: dict[Any, dict[str, Group]] = {}
    for run in kept:
        groups = budgets.setdefault(flats[run.name].get(budget_key), {})
        group = groups.setdefault(labels[run.name], Group(labels[run.name], within[run.name]))
        if run.seed in group.runs:
            left_out[run.name] = f"is the same run as {group.runs[run.seed].name}"
        else:
            group.runs[run.seed] = run
    budget = _most([flats[run.name].get(budget_key) for run in kept])
    place = {label: i for i, label in enumerate(order)}
    sorted_groups = {
        key: sorted(groups.values(), key=lambda group: (place.get(group.label, len(place)), group.label))
        for key, groups in budgets.items()
    }
    compared = sorted_groups.get(budget, [])
    return Sorted(compared, sorted_groups, budget, left_out, same, _by_design(compared))


def _unlike(flats: Mapping[str, Flat], budget_key: str, keys: Sequence[str]) -> dict[str, str]:
    """Runs that differ in ``keys`` from most runs of their own budget: why."""
    found: dict[str, str] = {}
    for budget in dict.fromkeys(flat.get(budget_key) for flat in flats.values()):
        there = {
            name: {key: value for key, value in flat.items() if _under(key, keys)}
            for name, flat in flats.items()
            if flat.get(budget_key) == budget
        }
        most = _most([_frozen(flat) for flat in there.values()])
        same = next(flat for flat in there.values() if _frozen(flat) == most)
        found |= {
            name: "differs in " + "; ".join(differences(flat, same))
            for name, flat in there.items()
            if _frozen(flat) != most
        }
    return found


def differences(one: Flat, two: Flat) -> list[str]:
    """``optim.lr (0.001, not 0.002)`` for each key that differs; a whole group that only one has, once."""
    keys = sorted(key for key in one.keys() | two.keys() if one.get(key, ...) != two.get(key, ...))
    return [f"{key} ({_say(one, key)}, not {_say(two, key)})" for key in keys]


def _say(flat: Flat, key: str) -> str:
    return str(flat[key]) if key in flat else "absent"


def _kept(config: Mapping[str, Any], ignore: Sequence[str]) -> Flat:
    return {key: value for key, value in flatten(config).items() if not _under(key, ignore)}


def _under(key: str, prefixes: Iterable[str]) -> bool:
    return any(key == prefix or key.startswith(f"{prefix}.") for prefix in prefixes)


def _frozen(flat: Flat) -> str:
    return repr(sorted(flat.items()))


def _most(values: Sequence[Any]) -> Any:
    """The most frequent; the first of several."""
    return Counter(values).most_common(1)[0][0] if values else None


def _labels(configs: Mapping[str, Flat], group_by: str) -> dict[str, str]:
    """What each run's group is called: the value of the axis, and what else differs where that is not enough, as it is
    asked for on the command line."""
    short = {name: _value(flat, group_by) for name, flat in configs.items()}
    labels = {}
    for name, flat in configs.items():
        peers = [configs[other] for other in configs if short[other] == short[name]]
        varying = sorted(
            {
                key
                for peer in peers
                for key in peer.keys() | peers[0].keys()
                if peer.get(key, ...) != peers[0].get(key, ...)
            }
        )
        names = [key for key in varying if key.endswith(".name")] or varying
        told = {_frozen({key: peer.get(key) for key in names}) for peer in peers}
        if len(told) < len({_frozen(peer) for peer in peers}):
            names = varying  # names alone do not tell all of them apart
        labels[name] = ", ".join(
            [short[name], *(f"{key.removesuffix('.name')}={flat.get(key)}" for key in names)]
        )
    return labels


def _value(flat: Flat, group_by: str) -> str:
    """The name of an option: ``arch.name``, or the class of ``position._target_``, or the value itself."""
    if group_by in flat:
        return str(flat[group_by])
    for key in ("name", "by", "_target_"):
        if f"{group_by}.{key}" in flat:
            name = str(flat[f"{group_by}.{key}"]).rpartition(".")[2]
            if key != "_target_":
                return name
            option = re.sub(r"(?<=[a-z]{2})(?=[A-Z][a-z]{2})", "_", name).lower()
            return _OPTIONS.get(option, option)
    return group_by


def _by_design(groups: Sequence[Group]) -> dict[str, dict[str, Any]]:
    keys = sorted({key for group in groups for key in group.config})
    return {
        key: {group.label: group.config.get(key, "absent") for group in groups}
        for key in keys
        if len({repr(group.config.get(key, ...)) for group in groups}) > 1
    }


def find(groups: Sequence[Group], label: str) -> Group:
    """The group called ``label``.

    Raises:
        UserError: there is none.
    """
    for group in groups:
        if group.label.lower() == _OPTIONS.get(label.lower(), label.lower()):
            return group
    raise UserError(f"baseline={label} is no group here; use one of {', '.join(g.label for g in groups)}")
