"""Where text comes from. A source is a pure function of its settings: see `Source`."""

from zoo.data.sources.files import Files
from zoo.data.sources.hub import Hub
from zoo.data.sources.source import SPLITS, Source
from zoo.data.sources.stdlib import Stdlib

__all__ = ["SPLITS", "Files", "Hub", "Source", "Stdlib"]
