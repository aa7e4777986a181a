"""The assemblies."""

from zoo.models.build import build
from zoo.models.transformer import Transformer

__all__ = ["Transformer", "build"]
