"""Word lists, written as they are read."""


def listed(words: str) -> tuple[str, ...]:
    """The words of a line: "to and fro" -> ("to", "and", "fro")."""
    return tuple(words.split())
