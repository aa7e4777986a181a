"""Keys and values kept while generating, so that each step computes only its own.

Shapes: B batch, G key/value heads, S slots so far, T new slots, K head width.
"""

from __future__ import annotations

from torch import Tensor


class Growing:
    """A self-attention layer's keys and values; ``extend`` adds slots."""

    def __init__(self) -> None:
        self.length = 0
        self._keys: Tensor | None = None
        self._values: Tensor | None = None

    def extend(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """New slots (B, G, T, K) in, all slots (B, G, S, K) out.  Room doubles when it runs out."""
        new = self.length + k.shape[2]
        if self._keys is None or new > self._keys.shape[2]:
            self._keys, self._values = self._roomier(self._keys, k, new), self._roomier(self._values, v, new)
        assert self._values is not None
        self._keys[:, :, self.length : new] = k
        self._values[:, :, self.length : new] = v
        self.length = new
        return self._keys[:, :, :new], self._values[:, :, :new]

    def _roomier(self, old: Tensor | None, like: Tensor, needed: int) -> Tensor:
        batch, heads, _, width = like.shape
        room = like.new_empty(batch, heads, max(64, 2 * needed), width)
        if old is not None:
            room[:, :, : self.length] = old[:, :, : self.length]
        return room

    def recall(self) -> None:
        """Self-attention always has new slots to add."""
        return


class Fixed:
    """A cross-attention layer's keys and values: computed once from the encoder's states."""

    def __init__(self) -> None:
        self._pair: tuple[Tensor, Tensor] | None = None

    def extend(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Keep what was computed, (B, G, S, K) each."""
        self._pair = (k, v)
        return self._pair

    def recall(self) -> tuple[Tensor, Tensor] | None:
        """What was kept, if anything."""
        return self._pair


class Layer:
    """One layer's two caches."""

    def __init__(self) -> None:
        self.own, self.cross = Growing(), Fixed()


class Cache:
    """A decoder's, layer by layer."""

    def __init__(self, layers: int) -> None:
        self._layers = [Layer() for _ in range(layers)]

    def __getitem__(self, layer: int) -> Layer:
        return self._layers[layer]

    @property
    def length(self) -> int:
        """Slots in self-attention so far."""
        return self._layers[0].own.length
