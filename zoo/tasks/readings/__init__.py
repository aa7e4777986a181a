"""The five ways in which a model does a task, each written once for every model with the capability it needs."""

from zoo.tasks.readings.fill import Fill
from zoo.tasks.readings.per_token import PerToken
from zoo.tasks.readings.pool import Pool
from zoo.tasks.readings.reading import Reading
from zoo.tasks.readings.span import SpanEnds
from zoo.tasks.readings.write import Write

__all__ = ["Fill", "PerToken", "Pool", "Reading", "SpanEnds", "Write"]
