"""Tasks (data and metric) and readings (how a model with a given capability does one)."""

from zoo.tasks.task import Example, Prediction, Span, Task

__all__ = ["Example", "Prediction", "Span", "Task"]
