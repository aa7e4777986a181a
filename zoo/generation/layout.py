"""How weights lie in memory while a CPU writes one token at a time.

Then every product is matrix times vector and its time is that of reading the matrix.  A matrix with more outputs than
inputs is read 2 to 3 times faster column by column (measured: 4096 x 256, 0.5 ms against 0.2 ms).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from torch import Tensor, nn

from zoo.models import Transformer


@contextmanager
def laid_out_for_writing(model: Transformer) -> Iterator[Callable[[Tensor], Tensor]]:
    """Within, ``model``'s wide matrices lie column by column; after, every weight is the tensor it was before.

    Yields a function from the decoder's states (B, D) to logits (B, V).
    """
    kept: list[tuple[Tensor, Tensor]] = []
    on_cpu = model.embedding.tokens.weight.device.type == "cpu"
    if on_cpu:
        for module in model.modules():
            if isinstance(module, nn.Linear) and module.out_features >= module.in_features:
                kept.append((module.weight, module.weight.data))
                module.weight.data = _columns(module.weight.data)
    try:
        yield _vocabulary(model) if on_cpu else model.logits
    finally:
        for weight, data in kept:
            weight.data = data


def _columns(matrix: Tensor) -> Tensor:
    """The same matrix, stored column by column."""
    return matrix.t().contiguous().t()


def _vocabulary(model: Transformer) -> Callable[[Tensor], Tensor]:
    columns: list[Tensor] = []

    def logits(states: Tensor) -> Tensor:
        features, matrix, bias = model.head(states, model.embedding.tokens.weight)
        if not columns:
            columns.append(_columns(matrix))
        return nn.functional.linear(features, columns[0], bias)

    return logits
