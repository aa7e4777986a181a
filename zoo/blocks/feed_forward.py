"""The position-wise feed-forward network: ReLU, GELU, and the gated GEGLU and SwiGLU (Shazeer 2020).

Shapes: B batch, T length, D model width, F feed-forward width.
"""

from collections.abc import Callable

import torch.nn.functional as F
from torch import Tensor, nn


def gelu_tanh(x: Tensor) -> Tensor:
    """GELU by its tanh approximation (Hendrycks & Gimpel 2016), as GPT-2 and T5 v1.1 have it."""
    return F.gelu(x, approximate="tanh")


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": gelu_tanh,
    "silu": F.silu,
}


class FeedForward(nn.Module):
    """activation(x W_in) W_out, or (activation(x W_gate) * x W_in) W_out when ``gated``.  (B, T, D) -> (B, T, D).

    A gated network has three matrices where the plain one has two; its width is usually 2/3 as large.
    """

    def __init__(
        self,
        *,
        d_model: int,
        d_ff: int,
        activation: str = "gelu",
        gated: bool = False,
        bias: bool = True,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.activation = ACTIVATIONS[activation]
        self.gate = nn.Linear(d_model, d_ff, bias=bias) if gated else None
        self.input = nn.Linear(d_model, d_ff, bias=bias)
        self.output = nn.Linear(d_ff, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        if self.gate is None:
            hidden = self.activation(self.input(x))
        else:
            hidden = self.activation(self.gate(x)) * self.input(x)
        return self.output(self.dropout(hidden))
