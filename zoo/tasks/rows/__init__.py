"""Tasks from the user's own data, and readers of the shapes it comes in."""

from zoo.tasks.rows.made import classify, extract, generate, reply, tag
from zoo.tasks.rows.readers import Columns, Conll, Folders, HubRows, Json, Squad

__all__ = [
    "Columns", "Conll", "Folders", "HubRows", "Json", "Squad",
    "classify", "extract", "generate", "reply", "tag",
]  # fmt: skip
