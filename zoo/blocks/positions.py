"""Position schemes: three optional hooks, each scheme using one.

``embed``     added to the embedding                    (sinusoidal, learned)
``rotation``  turns queries and keys                    (rotary)
``bias``      added to the attention scores             (T5 relative bias, ALiBi)

Shapes: B batch, T query length, S key length, H heads, D model width, K head width.  Positions are explicit
integer tensors (B or 1, T), so that caches, left padding and packing are right.  A stack owns one scheme and asks
it once per forward pass.  Every scheme is made with all that its stack knows (d_model, heads, d_head, length, two_way)
and takes its part.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


class NoPosition(nn.Module):
    """No positions at all, and the hooks' defaults: attention then sees a bag of tokens, but for its rule."""

    def __init__(self, **_: object) -> None:
        super().__init__()

    def embed(self, positions: Tensor) -> Tensor | None:
        """What is added to the embedding, (B or 1, T, D)."""
        return None

    def rotation(self, positions: Tensor) -> tuple[Tensor, Tensor] | None:
        """Cosine and sine by which queries and keys turn, each (B or 1, 1, T, K)."""
        return None

    def bias(self, queries: Tensor, keys: Tensor) -> Tensor | None:
        """What is added to the scores, (B or 1, H, T, S); ``queries`` (B or 1, T), ``keys`` (B or 1, S)."""
        return None


class Sinusoidal(NoPosition):
    """PE(p, 2i) = sin(p / 10000^(2i/D)), PE(p, 2i+1) = cos(same)  (Vaswani et al. 2017, 3.5).

    Computed for any position, so it has no longest length.
    """

    def __init__(self, *, d_model: int, base: float = 10_000.0, **_: object) -> None:
        super().__init__()
        self.width, self.base = d_model, base

    def embed(self, positions: Tensor) -> Tensor:
        angles = _angles(positions, self.width, self.base)
        return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)


class Learned(NoPosition):
    """A table of ``length`` learned vectors (GPT, BERT).

    Raises:
        IndexError: in ``embed``, for a position past the table's end.
    """

    def __init__(self, *, d_model: int, length: int, **_: object) -> None:
        super().__init__()
        self.table = nn.Embedding(length, d_model)

    def embed(self, positions: Tensor) -> Tensor:
        return self.table(positions)


class Rotary(NoPosition):
    """Rotary position embedding (Su et al. 2021), pairing feature i with i + K/2 as GPT-NeoX and Llama do."""

    def __init__(self, *, d_head: int, base: float = 10_000.0, **_: object) -> None:
        super().__init__()
        self.width, self.base = d_head, base

    def rotation(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        angles = _angles(positions, self.width, self.base)
        angles = torch.cat((angles, angles), dim=-1).unsqueeze(1)
        return angles.cos(), angles.sin()


def rotate(x: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
    """Turn each pair of features of ``x`` (B, H, T, K) by its position's angle; lengths stay as they are."""
    cos, sin = (part.to(x.dtype) for part in rotation)
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin


class RelativeBias(NoPosition):
    """T5's learned bias per head and bucket of distance (Raffel et al. 2020, 2.1).

    Half of the buckets hold one distance each, the others grow logarithmically up to ``longest``; further keys
    share the last.  With ``two_way`` half of the buckets look left and half right.
    """

    def __init__(
        self, *, heads: int, two_way: bool, buckets: int = 32, longest: int = 128, **_: object
    ) -> None:
        super().__init__()
        self.two_way, self.buckets, self.longest = two_way, buckets, longest
        self.table = nn.Embedding(buckets, heads)

    def bias(self, queries: Tensor, keys: Tensor) -> Tensor:
        return self.table(self.bucket(keys[:, None, :] - queries[:, :, None])).permute(0, 3, 1, 2)

    def bucket(self, distance: Tensor) -> Tensor:
        """The bucket of each ``distance`` = key position - query position, any shape."""
        if self.two_way:
            buckets = self.buckets // 2
            offset = (distance > 0) * buckets
            distance = distance.abs()
        else:
            buckets, offset = self.buckets, torch.zeros_like(distance)
            distance = (-distance).clamp(min=0)
        exact = buckets // 2
        log_ratio = torch.log(distance.clamp(min=1).float() / exact) / math.log(self.longest / exact)
        far = (exact + (log_ratio * (buckets - exact)).long()).clamp(max=buckets - 1)
        return offset + torch.where(distance < exact, distance, far)


class ALiBi(NoPosition):
    """A fixed linear penalty on distance, one slope per head (Press et al. 2022); symmetric where both ways are
    seen."""

    slopes: Tensor

    def __init__(self, *, heads: int, **_: object) -> None:
        super().__init__()
        self.register_buffer("slopes", torch.tensor(alibi_slopes(heads)), persistent=False)

    def bias(self, queries: Tensor, keys: Tensor) -> Tensor:
        distance = (keys[:, None, :] - queries[:, :, None]).abs()
        return -self.slopes[:, None, None] * distance[:, None]


def alibi_slopes(heads: int) -> list[float]:
    """2^(-8/n), 2^(-16/n), ...: n heads; where n is no power of two, the next lower one's and every other of
    twice its (the authors' released code)."""
    lower = 2 ** math.floor(math.log2(heads))
    slopes = [2.0 ** (-8 * (i + 1) / lower) for i in range(lower)]
    return slopes + [2.0 ** (-4 * (2 * i + 1) / lower) for i in range(heads - lower)]


def _angles(positions: Tensor, width: int, base: float) -> Tensor:
    """p · base^(-2i/width) for i < width / 2, (..., width / 2).

    Computed anew and in float32, whatever the model is: a buffer would become bfloat16 with a bfloat16 model,
    which cannot tell position 256 from 257.
    """
    powers = -torch.arange(0, width, 2, dtype=torch.float32, device=positions.device) / width
    return positions[..., None] * base**powers
