"""The documents' claims, each judged by the runs: reproduced, not reproduced, or undecided.

A claim is a list of conditions, each "this quantity is above 0", that must all hold. It is reproduced when all of
them are shown (the largest p, an intersection-union test: Berger 1982), not reproduced when the opposite of one is
shown (the smallest p, times the number of conditions), both after Holm's correction over all claims; else undecided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from zoo.report.groups import Group
from zoo.report.measure import Measured, per_seed
from zoo.report.names import called
from zoo.report.read import Run
from zoo.report.statistics import Mean, holm


@dataclass
class Condition:
    """``what`` is how far the claim is from failing: above 0 it holds."""

    what: str
    mean: Mean


@dataclass
class Claim:
    """What the documents say of an architecture. ``missing`` says what there is no measurement for."""

    architecture: str
    row: str
    says: str
    task: str | None = None  # of an application
    conditions: list[Condition] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Verdict:
    """``tight`` is the condition that decides: the one nearest to failing, or failing most."""

    claim: Claim
    word: str
    p: float | None  # adjusted; of the claim, or of its opposite where it is not reproduced
    tight: Condition | None
    why: str


def judge(claims: Sequence[Claim], alpha: float) -> list[Verdict]:
    """A verdict for each claim, in order."""
    ready = [claim for claim in claims if claim.conditions and not claim.missing]
    support = holm([max(condition.mean.p_above() for condition in claim.conditions) for claim in ready])
    against = holm(
        [
            min(
                1.0,
                len(claim.conditions) * min((-condition.mean).p_above() for condition in claim.conditions),
            )
            for claim in ready
        ]
    )
    p = {id(claim): pair for claim, *pair in zip(ready, support, against, strict=True)}
    return [_verdict(claim, p.get(id(claim)), alpha) for claim in claims]


def _verdict(claim: Claim, p: Sequence[float] | None, alpha: float) -> Verdict:
    if p is None:
        return Verdict(
            claim,
            "undecided",
            None,
            None,
            "missing: " + "; ".join(dict.fromkeys(claim.missing or ["results"])),
        )
    support, against = p
    tight = min(claim.conditions, key=lambda condition: condition.mean.value - condition.mean.half(0.9))
    if min(condition.mean.seeds for condition in claim.conditions) < 2:
        return Verdict(claim, "undecided", None, tight, "one seed: no interval over seeds")
    if support < alpha:
        return Verdict(claim, "reproduced", support, tight, "")
    if against < alpha:
        worst = min(claim.conditions, key=lambda condition: (-condition.mean).p_above())
        return Verdict(claim, "not reproduced", against, worst, "")
    return Verdict(claim, "undecided", support, tight, "the interval holds both")


def documents(
    measured: Measured, columns: Mapping[str, Group | None], thresholds: Mapping[str, Any]
) -> list[Claim]:
    """All claims of the table, row by row. ``columns``: the group of each architecture, None where there is none."""
    claims = []
    for row in ("direction", "objective", "generation", "understanding", "applications"):
        for architecture, says in thresholds["documents"].items():
            group = columns.get(architecture)
            parts = says[row] if row == "applications" else [says[row]]
            for part in parts:
                claim = Claim(architecture, row, _said(row, part), part if row == "applications" else None)
                if group is None:
                    claim.missing.append(f"no finished run of {called(architecture)}")
                elif row == "direction":
                    _direction(claim, group, part, thresholds["direction"])
                elif row == "objective":
                    _objective(claim, group, part, thresholds["pretraining"])
                elif row == "applications":
                    _near_the_top(claim, measured, group, columns, part, thresholds["margin"])
                else:
                    _ability(claim, measured, group, columns, row, part, thresholds)
                claims.append(claim)
    return claims


def _said(row: str, part: Any) -> str:
    if row == "direction":
        return ", ".join(f"{stack} {way.replace('_', ' ')}" for stack, way in part.items())
    return {"objective": f"learns {called(str(part))}", "applications": f"{part} near the top"}.get(
        row, str(part)
    )


def _direction(claim: Claim, group: Group, ways: Mapping[str, str], limits: Mapping[str, float]) -> None:
    for stack, way in ways.items():
        one_way = way == "one_way"
        for side in ("later",) if one_way else ("later", "earlier"):

            def value(
                run: Run,
                stack: str = stack,
                side: str = side,
                limit: float = limits[way],
                sign: int = -1 if one_way else 1,
            ) -> float | None:
                difference = _minus(_influence(run, stack, side), limit)
                return None if difference is None else sign * difference

            influence = f"influence of {side} positions ({stack})"
            what = f"{limits[way]:g} − {influence}" if one_way else f"{influence} − {limits[way]:g}"
            _add(claim, what, per_seed(group, value), f"attention direction of the {stack}")


def _influence(run: Run, stack: str, side: str) -> float | None:
    return run.value(
        kind="direction", task=stack, metric={"later": "above_diagonal", "earlier": "below_diagonal"}[side]
    )


def _minus(one: float | None, two: float | None) -> float | None:
    return None if one is None or two is None else one - two


def _objective(claim: Claim, group: Group, objective: str, rules: Mapping[str, Sequence[Mapping]]) -> None:
    for rule in rules[objective]:
        above = "above" in rule
        other = rule["above" if above else "below"]

        def value(
            run: Run, metric: str = rule["metric"], other: Any = other, sign: int = 1 if above else -1
        ) -> float | None:
            mine = run.value(kind="pre-training", task=objective, metric=metric)
            bar = other if isinstance(other, int | float) else run.value(kind="pre-training", metric=other)
            difference = _minus(mine, bar)
            return None if difference is None else sign * difference

        mine, bar = called(rule["metric"]), other if isinstance(other, int | float) else called(other)
        what = f"{mine} − {bar}" if above else f"{bar} − {mine}"
        _add(claim, what, per_seed(group, value), f"{rule['metric']} or {other} after pre-training")


def _near_the_top(
    claim: Claim,
    measured: Measured,
    group: Group,
    columns: Mapping[str, Group | None],
    task: str,
    margin: float,
) -> None:
    for name, other in columns.items():
        if other is None:
            claim.missing.append(f"no finished run of {called(name)}")
        elif other is not group:
            mean = measured.score((1.0, group, task), (-1.0, other, task))
            _add(
                claim,
                f"score − {called(name)}'s + {margin:g}",
                _shift(mean, margin),
                f"{task} of {called(claim.architecture)} and {called(name)}",
            )


def _ability(
    claim: Claim,
    measured: Measured,
    group: Group,
    columns: Mapping[str, Group | None],
    row: str,
    word: str,
    thresholds: Mapping[str, Any],
) -> None:
    """Word by ratio to the best; "ratio above r" is "score - r x best above 0", which has an interval like any sum."""
    absent = [name for name, other in columns.items() if other is None]
    claim.missing += [f"no finished run of {called(name)}" for name in absent]
    groups = {name: other for name, other in columns.items() if other is not None}
    wanted = thresholds["abilities"][row]
    tasks = measured.common(wanted, list(groups.values()))
    if absent or not tasks:
        claim.missing += [] if tasks else [f"no task of {row} that all have"]
        return
    strong, medium = thresholds["words"]["strong"], thresholds["words"]["medium"]
    # "strong" needs r x every other; the words below it only r x the best.
    best = max(groups, key=lambda name: measured.ability(tasks, (1.0, groups[name])).value)  # type: ignore[union-attr]
    others = [name for name in groups if groups[name] is not group]
    for ratio, sign, names in {
        "strong": [(strong, 1, others)],
        "medium": [(medium, 1, others), (strong, -1, [best])],
        "weak": [(medium, -1, [best])],
    }[word]:
        for name in names:
            mean = measured.ability(tasks, (1.0, group), (-ratio, groups[name]))
            what = (
                f"score − {ratio:g} × {called(name)}'s"
                if sign > 0
                else f"{ratio:g} × {called(name)}'s − score"
            )
            _add(
                claim,
                what,
                None if mean is None else (mean if sign > 0 else -mean),
                f"{row} of {called(claim.architecture)} and {called(name)}",
            )


def _shift(mean: Mean | None, by: float) -> Mean | None:
    return mean and Mean(mean.value + by, mean.error, mean.df, mean.seeds, mean.stories)


def _add(claim: Claim, what: str, mean: Mean | None, missing: str) -> None:
    if mean is None:
        claim.missing.append(missing)
    else:
        claim.conditions.append(Condition(what, mean))
