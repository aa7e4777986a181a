"""Expressions of time, and the clock that they must not turn back."""

# phrase: hour within the day; -1: no fixed hour; +24 starts the next day
HOURS: dict[str, int] = {
    "at dawn": 5, "early in the morning": 6, "in the morning": 8, "that morning": 8, "after breakfast": 9,
    "before noon": 11, "at noon": 12, "around midday": 12, "after lunch": 14, "in the afternoon": 15,
    "that afternoon": 15,
    "late in the afternoon": 17, "at sunset": 18, "in the evening": 19, "that evening": 19, "after supper": 20,
    "at night": 22, "that night": 22, "at midnight": 24,
}  # fmt: skip
NEXT_DAY: dict[str, int] = {
    "the next day": 5, "the next morning": 8, "the following day": 5, "the following morning": 8, "a day later": 5,
    "two days later": 5, "a week later": 5,
}  # fmt: skip
OPENERS: tuple[str, ...] = (
    "one day",
    "one morning",
    "one spring",
    "one summer",
    "one autumn",
    "one winter",
    "last year",
)
LOOSE: tuple[str, ...] = (
    "soon", "then", "later", "suddenly", "at last", "finally", "after a while", "a little later", "an hour later",
    "in the end", "at once", "before long", "for a while", "again",
)  # fmt: skip
FRONT: tuple[str, ...] = (
    *HOURS,
    *NEXT_DAY,
    *OPENERS,
    *(t for t in LOOSE if t not in ("at once", "again", "for a while")),
)
END: tuple[str, ...] = (*HOURS, "soon", "later", "at last", "at once", "again", "for a while")
PHRASES: tuple[str, ...] = tuple(dict.fromkeys((*FRONT, *END)))


class Clock:
    """Day and hour of a story; `refuse` says why a phrase would turn it back, `advance` moves it."""

    def __init__(self) -> None:
        self.hour = 0

    def refuse(self, phrase: str, sentence: int) -> str:
        """Why this phrase cannot stand in this sentence (empty if it can)."""
        if phrase in HOURS and HOURS[phrase] < self.hour:
            return f"'{phrase}' turns the clock back"
        if phrase in OPENERS and sentence > 0:
            return f"'{phrase}' in the middle of a story"
        return ""

    def advance(self, phrase: str) -> None:
        """Move on: to an hour of the same day, or to the next day."""
        if phrase in NEXT_DAY:
            self.hour = NEXT_DAY[phrase]
        elif phrase in HOURS:
            self.hour = HOURS[phrase]
