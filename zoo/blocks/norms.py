"""Normalisation over the model width D; the classes of torch under the names configurations use."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable


class LayerNorm(nn.LayerNorm):
    """(x - mean) / std · weight + bias over the last dimension (Ba et al. 2016).  Any shape (..., D)."""

    def __init__(self, *, d_model: int, eps: float = 1e-5, bias: bool = True) -> None:
        super().__init__(d_model, eps=eps, bias=bias)


class RMSNorm(nn.RMSNorm):
    """x / root-mean-square(x) · weight over the last dimension (Zhang & Sennrich 2019).  Any shape (..., D)."""

    def __init__(self, *, d_model: int, eps: float = 1e-6) -> None:
        super().__init__(d_model, eps=eps)
        self.epsilon = eps

    def forward(self, x: Tensor) -> Tensor:
        # On a CPU torch composes it from eight passes, three times slower than this one; elsewhere it has a kernel.
        if x.device.type == "cpu" and x.dtype == self.weight.dtype:
            return _RMSNorm.apply(x, self.weight, self.epsilon)
        return super().forward(x)


class _RMSNorm(torch.autograd.Function):
    """y = x r w with r = (mean(x²) + eps)^-1/2;  dx = r (g w - x r · mean(g w x r)),  dw = sum(g x r)."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, eps: float) -> Tensor:
        wide = torch.promote_types(x.dtype, torch.float32)
        norm = torch.linalg.vector_norm(x, dim=-1, keepdim=True, dtype=wide)
        scale = norm.square_().div_(x.shape[-1]).add_(eps).rsqrt_()
        ctx.save_for_backward(x, weight, scale)
        return (x * scale).mul_(weight).to(x.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None]:
        x, weight, scale = ctx.saved_tensors
        unit = x * scale
        product = grad * unit
        grad_weight = product.flatten(0, -2).sum(0).to(weight.dtype)
        mean = (product @ weight.to(product.dtype)).div_(x.shape[-1]).unsqueeze(-1)
        grad_x = torch.mul(grad, weight, out=product)  # its memory is free again
        return grad_x.mul_(scale).addcmul_(unit, mean.mul_(scale), value=-1).to(x.dtype), grad_weight, None
