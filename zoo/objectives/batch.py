"""What a model reads and what it is asked, for a batch of rows.

Shapes: B rows, T inputs per row, U decoder inputs per row (encoder-decoder), M positions in the loss.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch

from zoo.data.stream import Stream
from zoo.data.tokenizer import Tokenizer

Array = Any  # np.ndarray while objectives work on it, torch.Tensor once a model reads it


@dataclass(frozen=True)
class Rows:
    """Source text for one batch.

    tokens: (B, n + 1), the rows' n tokens and the one after;  starts: (B,), where they begin in ``stream``;
    inner: (K,), where in ``stream`` a sentence starts that does not start a document.
    """

    tokens: np.ndarray
    starts: np.ndarray
    stream: Stream
    inner: np.ndarray
    tokenizer: Tokenizer

    @property
    def length(self) -> int:
        return self.tokens.shape[1] - 1


class Batch(NamedTuple):
    """Inputs and labels.

    inputs: (B, T), read by the first stack;  targets: (B, U), read by the decoder of an encoder-decoder;
    labels: (M,), the right tokens at ``where``, flat positions (M,) in the predicting stack's (B, T) or (B, U)
    states, ascending; None where every position counts;
    weights: (M,), how much each label counts; None where each counts 1;
    prefix: (B,), how many inputs of each row are given (see ``Transformer.forward``);
    documents: (B, T), document numbers under the same-document rule;  segments: (B, T), BERT's A and B;
    bos: what a decoder starts with that is given no ``targets``;
    next_sentence: (B,), 0 where B follows A, 1 where it comes from another document;
    update_labels, update_rows: ``weight`` and B summed over all parts of an optimiser step, on all ranks.
    """

    inputs: Array
    labels: Array
    where: Array | None = None
    weights: Array | None = None
    targets: Array | None = None
    prefix: Array | None = None
    documents: Array | None = None
    segments: Array | None = None
    next_sentence: Array | None = None
    bos: int = 0
    update_labels: float = 0
    update_rows: int = 0
    source_tokens: int = 0

    @property
    def predicting(self) -> tuple[int, int]:
        """(B, T) or (B, U) of the states that predict."""
        return tuple((self.inputs if self.targets is None else self.targets).shape)

    @property
    def weight(self) -> Any:
        """What the loss is divided by: M, or the sum of the weights."""
        return len(self.labels) if self.weights is None else self.weights.sum()

    def part(self, index: int, parts: int) -> Batch:
        """Part ``index`` of ``parts`` equal ones by rows, remembering the whole's counts."""
        rows, width = self.predicting
        size = rows // parts
        low, high = index * size, (index + 1) * size
        where, weights = self.where, self.weights
        inside: Any = slice(low * width, high * width)
        if where is not None:
            inside = (where >= low * width) & (where < high * width)
            where = where[inside] - low * width
        by_row: dict[str, Any] = {
            name: None if (value := getattr(self, name)) is None else value[low:high]
            for name in ("inputs", "targets", "prefix", "documents", "segments", "next_sentence")
        }
        return self._replace(
            **by_row,
            labels=self.labels[inside],
            where=where,
            weights=None if weights is None else weights[inside],
            update_labels=self.weight,
            update_rows=rows,
            source_tokens=self.source_tokens // parts,
        )

    def tensors(self) -> Batch:
        """The same with tensors for arrays, of int64 (the weights of float64)."""
        return self._mapped(
            np.ndarray, lambda a: torch.from_numpy(a.astype(np.float64 if a.dtype.kind == "f" else np.int64))
        )

    def to(self, device: torch.device | str, non_blocking: bool = False) -> Batch:
        """The same with its tensors on ``device``."""
        return self._mapped(torch.Tensor, lambda tensor: tensor.to(device, non_blocking=non_blocking))

    def _mapped(self, kind: type, function: Callable[[Any], Any]) -> Batch:
        return self._replace(**{k: function(v) for k, v in self._asdict().items() if isinstance(v, kind)})
