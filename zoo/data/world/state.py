"""The state of a story: who is where, who holds what, what has happened. Events are refused or applied.

The same class plans the stories and judges texts: the planner asks `refuse` before it tells an event, the recogniser
replays the events it has read.
"""

from zoo.data.world.grammar import SETTLING
from zoo.data.world.meaning import Event

_MEETING = {
    "meet",
    "thank",
    "help",
    "talk",
    "ask",
    "tell",
    "show",
    "give",
    "return",
    "sell",
    "steal",
    "follow",
}
_GIVING = {"give", "return", "sell"}
_TAKING = {"find", "take"}
_HOLDING = {"lose", "put", "show", *_GIVING}
_STATES = {
    "have",
    "at",
    "lie",
    "belong",
    "feel",
    "job",
    "live",
    "know",
    *SETTLING,
}  # true or false at a time, no change
_HIDDEN = "&"


def people(key: str) -> list[str]:
    """The people of a role: "Anna&Ben" -> ["Anna", "Ben"]."""
    return key.split(_HIDDEN) if key else []


class State:
    """Where people are, who holds, owns and broke what, and the events so far."""

    def __init__(self) -> None:
        self.where: dict[str, str] = {}
        self.holder: dict[str, str] = {}  # "" when nobody holds it
        self.spot: dict[str, str] = {}  # where a thing lies that nobody holds
        self.owner: dict[str, str] = {}
        self.job: dict[str, str] = {}
        self.home: dict[str, str] = {}
        self.broken: set[str] = set()
        self.type: dict[str, str] = {}  # what an ambiguous name turned out to be
        self.history: list[Event] = []

    def place_of(self, key: str) -> str:
        """Where these people are ("" if the story has not said)."""
        return next((self.where[person] for person in people(key) if person in self.where), "")

    def refuse(self, event: Event) -> str:
        """Why this cannot happen now (empty if it can)."""
        kind, agent, thing, other, place, detail = event
        here = self.place_of(agent)
        if kind == "go":
            return f"{agent} is at the {place} already" if here == place else ""
        if kind == "follow" and here == place:
            return f"{agent} is at the {place} already"
        if kind in ("intro", "job"):
            return f"{agent} is not a {detail}" if self.job.get(agent, detail) != detail else ""
        if kind == "live":
            return f"{agent} lives elsewhere" if self.home.get(agent, place) != place else ""
        if kind == "lie":
            return "" if self.spot.get(thing) == place else f"the {thing} is not at the {place}"
        if kind in SETTLING:
            return f"{other or agent} is no {kind}" if self.type.get(agent, kind) != kind else ""
        if len({self.where[p] for p in people(agent) if p in self.where}) > 1:
            return f"{agent} are in different places"
        if place and kind != "follow" and here and here != place:
            return f"{agent} is at the {here}, not at the {place}"
        if (
            kind in _MEETING
            and kind != "follow"
            and here
            and any(self.where.get(p, here) != here for p in people(other))
        ):
            return f"{agent} and {other} are in different places"
        if kind == "wait" and here and self.place_of(other) == here:
            return f"{other} is there already"
        return self._refuse_thing(event) if thing else ""

    def _refuse_thing(self, event: Event) -> str:
        kind, agent, thing, other, _, _ = event
        here, holder = self.place_of(agent), self.holder.get(thing)
        if kind == "belong":
            return "" if self.owner.get(thing) == other else f"the {thing} is not {other}'s"
        if kind == "have":
            return f"{holder or 'nobody'} has the {thing}" if holder not in (None, agent) else ""
        if kind in _TAKING:
            if holder:
                return f"{holder} has the {thing}"
            return f"the {thing} is not at the {here}" if here and self.spot.get(thing, here) != here else ""
        if kind in _HOLDING and holder != agent:
            return f"{agent} does not have the {thing}"
        if kind == "return" and self.owner.get(thing) != other:
            return f"the {thing} is not {other}'s"
        if kind == "steal" and holder != other:
            return f"{other} does not have the {thing}"
        if kind == "search" and holder == agent:
            return f"{agent} has the {thing}"
        if kind == "make" and holder is not None:
            return f"there is a {thing} already"
        if kind in ("break", "repair"):
            if holder not in (None, agent):
                return f"{agent} does not have the {thing}"
            return (
                f"the {thing} is {'' if thing in self.broken else 'not '}broken"
                if (thing in self.broken) != (kind == "repair")
                else ""
            )
        return ""

    def apply(self, event: Event) -> None:
        """Let it happen (after `refuse` had nothing against it)."""
        kind, agent, thing, other, place, detail = event
        if kind in ("go", "follow"):
            for person in people(agent):
                self.where[person] = place
            if kind == "follow":
                self.where[other] = place
        elif kind in ("intro", "job"):
            self.job[agent] = detail
        elif kind == "live":
            self.home[agent] = place
        elif kind in SETTLING:
            self.type[agent] = kind
        here = place if kind != "live" else ""
        here = here or self.place_of(agent) or (self.place_of(other) if kind in _MEETING else "")
        here = here or (self.spot.get(thing, "") if kind in _TAKING else "")
        if here and kind not in ("lie", "belong", "live", "wait", *SETTLING):
            for person in (*people(agent), *(people(other) if kind in _MEETING else ())):
                self.where.setdefault(person, here)
        if thing:
            self._apply_thing(event, here)
        self.history.append(event._replace(place=here))

    def _apply_thing(self, event: Event, here: str) -> None:
        kind, agent, thing, other, _, _ = event
        if kind in ("have", "make"):
            self.owner.setdefault(thing, agent)
        if kind in ("have", "make", "steal", *_TAKING):
            self.holder[thing] = agent
        elif kind in _GIVING:
            self.holder[thing] = other
            if kind == "sell":
                self.owner[thing] = other
        elif kind in ("lose", "put"):
            self.holder[thing] = ""
            self.spot[thing] = here
        elif kind in ("break", "repair"):
            self.holder.setdefault(thing, agent)
            (self.broken.add if kind == "break" else self.broken.discard)(thing)
        if self.holder.get(thing):
            self.spot.pop(thing, None)

    def true(self, event: Event, *, now: bool = True) -> bool:
        """Whether the story has shown this: a state that holds `now`, or an event of the past."""
        kind, agent, thing, other, place, detail = event
        if now:
            if kind == "have":
                return self.holder.get(thing) == agent
            if kind == "at":
                return self.place_of(agent) == place
            if kind == "lie":
                return self.spot.get(thing) == place
            if kind == "belong":
                return self.owner.get(thing) == other
            if kind in ("job", "intro"):
                return self.job.get(agent) == detail
        return any(
            past.kind == kind
            and past.agent == agent
            and past.thing == thing
            and past.other == other
            and place in ("", past.place)
            and detail in ("", past.detail)
            for past in self.history
        )
