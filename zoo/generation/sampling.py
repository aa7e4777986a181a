"""Choosing a token: greedy, temperature, top-k, nucleus.

Shapes: N rows, V vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from zoo.errors import UserError


@dataclass(frozen=True)
class Sampling:
    """How a token is chosen from its logits.

    temperature: divides the logits; 0 means greedy;  top_k: only the k likeliest;  top_p: only the likeliest that
    together reach probability p (nucleus, Holtzman et al. 2020).

    Raises:
        UserError: a value that cannot be.
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None

    def __post_init__(self) -> None:
        for name in ("temperature", "top_k", "top_p"):
            value = getattr(self, name)
            if not isinstance(value, int | float | None) or isinstance(value, bool):
                raise UserError(f"{name}={value} must be a number")
        if not self.temperature >= 0:
            raise UserError(f"temperature={self.temperature} must be 0 (greedy) or above")
        if self.top_k is not None and self.top_k < 1:
            raise UserError(f"top_k={self.top_k} must be at least 1")
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise UserError(f"top_p={self.top_p} must be above 0 and at most 1")

    def pick(self, logits: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """Logits (N, V) -> ids (N,)."""
        if self.temperature == 0:
            return logits.argmax(-1)
        return torch.multinomial(self.probabilities(logits), 1, generator=generator).squeeze(1)

    def probabilities(self, logits: Tensor) -> Tensor:
        """What ``pick`` draws from, (N, V); for a temperature above 0."""
        logits = logits.float() / self.temperature
        if self.top_k is not None and self.top_k < logits.shape[-1]:
            threshold = logits.topk(self.top_k, dim=-1).values[:, -1:]
            logits = logits.masked_fill(logits < threshold, -torch.inf)
        if self.top_p is not None and self.top_p < 1:
            ordered, order = logits.softmax(-1).sort(dim=-1, descending=True)
            # A token is dropped if those before it already reach p; the likeliest never is.
            dropped = ordered.cumsum(-1) - ordered >= self.top_p
            logits = logits.masked_fill(dropped.gather(1, order.argsort(-1)), -torch.inf)
        return logits.softmax(-1)


GREEDY = Sampling(temperature=0.0)
