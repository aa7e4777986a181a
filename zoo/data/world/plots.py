"""The plots: who finds, loses, gives, steals and returns what, step by step.

A step is an event with roles: people A, B, C; things T, U; places P, Q, R. "?" before a step: told only sometimes.
"""

import re

from zoo.data.world.meaning import Event

_PLOTS = """
lost: have A T P; ?do A; go A Q; lose A T Q; go A P; search A T; find B T Q; go B P; return B T A; ?thank A
    B
dropped: have A T P; meet A B P; go A&B Q; lose A T Q; go A&B R; ?search A T; go B Q; find B T Q; go B R;
    return B T A
theft: have A T P; at C P; ?do A; steal C T A; go C Q; meet B C Q; give C T B; go B P; return B T A; ?thank
    A B
chase: have A T P; steal C T A; go C Q; follow A C R; ?help B A R; return C T A; go A P
errand: have A T P; meet A B P; give A T B; go B Q; ?do B; meet B C Q; give B T C; ?thank C B; go B P; ?talk
    A B
hidden: have A T P; put A T P; go A Q; go B P; find B T P; go B Q; show B T A; return B T A; ?talk A B
loan: have A T P; meet B A P; give A T B; go B Q; ?do B; break B T Q; repair B T Q; go B P; return B T A;
    ?thank A B
repair: have A T P; break A T P; go A Q; meet A C Q; give A T C; repair C T Q; return C T A; ?thank A C; go
    A P; ?show A T B
made: at A P; ?do A; make A T P; go A Q; meet A B Q; sell A T B; go B R; show B T C; give B T C; ?thank C B
searching: have A T P; ?do A; lose A T P; go A Q; search A T; meet A B Q; ask A T B; go A P; find A T P; go
    B P; show A T B
treasure: go A P; find A T P; go A Q; meet A B Q; show A T B; go A&B R; ?find B U R; ?talk A B
swap: have A T P; have B U P; meet A B P; ?talk A B; give A T B; give B U A; go A Q; show A U C; ?talk C A
forgotten: have A T P; put A T P; go A Q; search A T; ?help C A Q; take B T P; go B Q; return B T A; ?thank
    A B
waiting: go A P; wait A B; ?do A; have B T Q; go B P; give B T A; ?thank A B; go A&B R
peddler: have A T P; have A U P; meet B A P; sell A T B; go B Q; show B T C; go A Q; give A U C; ?thank C A
broken: have A T P; give A T B P; break B T P; ?help C B P; repair B T P; return B T A; go A&B Q; ?talk A B
lesson: at A P; make A T; show A T B P; give A T B; go B Q; break B T Q; go B R; find C U R; give C U B;
    ?thank B C
rescue: go A P; have A T; lose A T P; go A Q; wait A B; go B Q; ?talk A B; go A&B P; find B T P; return B T
    A
"""


def _steps(line: str) -> tuple[tuple[bool, str, tuple[str, ...]], ...]:
    steps = []
    for step in line.split(";"):
        kind, *roles = step.split()
        steps.append((kind.startswith("?"), kind.lstrip("?"), tuple(roles)))
    return tuple(steps)


PLOTS: dict[str, tuple[tuple[bool, str, tuple[str, ...]], ...]] = {
    name: _steps(line) for name, line in re.findall(r"(\w+): ((?:.|\n  )+)", _PLOTS)
}
NAMES: tuple[str, ...] = tuple(PLOTS)


def roles_of(plot: str) -> str:
    """The letters that a plot uses."""
    return "".join(
        sorted({letter for _, _, roles in PLOTS[plot] for role in roles for letter in role if letter != "&"})
    )


ROLES: dict[str, str] = {name: roles_of(name) for name in PLOTS}


def event(kind: str, roles: tuple[str, ...], cast: dict[str, str]) -> Event:
    """A step as an event: its first person acts, the second is the other; the thing and the place by their letters."""
    agent = thing = other = place = ""
    for role in roles:
        if role[0] in "ABC":
            name = cast[role] if len(role) == 1 else f"{cast[role[0]]}&{cast[role[2]]}"
            agent, other = (name, other) if not agent else (agent, name)
        elif role in "TU":
            thing = cast[role]
        else:
            place = cast[role]
    return Event(kind, agent, thing, other, place)
