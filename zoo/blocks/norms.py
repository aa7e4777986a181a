"""Normalisation over the model width D; the classes of torch under the names configurations use."""

from torch import nn


class LayerNorm(nn.LayerNorm):
    """(x - mean) / std · weight + bias over the last dimension (Ba et al. 2016).  Any shape (..., D)."""

    def __init__(self, *, d_model: int, eps: float = 1e-5, bias: bool = True) -> None:
        super().__init__(d_model, eps=eps, bias=bias)


class RMSNorm(nn.RMSNorm):
    """x / root-mean-square(x) · weight over the last dimension (Zhang & Sennrich 2019).  Any shape (..., D)."""

    def __init__(self, *, d_model: int, eps: float = 1e-6) -> None:
        super().__init__(d_model, eps=eps)
