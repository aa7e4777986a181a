"""Scaled dot-product attention under a visibility rule: one function, several kernels.

Shapes: B batch, H heads, G key/value heads, T query length, S key length, K head width.

The rule says what is visible; the kernel is chosen here, by rule, device, dtype and length, as measured
(``scripts/bench.py attend``).  Every kernel computes the same numbers.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from zoo.blocks.masks import EVERYTHING, Everything, Past, Prefix, Rule, Window, additive, parts


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    rule: Rule,
    bias: Tensor | None = None,
    *,
    scale: float | None = None,
    dropout: float = 0.0,
) -> Tensor:
    """softmax(q kᵀ · scale + bias, where visible) v  (Vaswani et al. 2017, eq. 1).

    Args:
        q: (B, H, T, K); in self-attention its rows are the last T of the S slots.
        k, v: (B, G, S, K); G divides H, each key/value head serving H / G query heads.
        rule: what each query sees; a query that sees nothing gets zeros.
        bias: (B or 1, H, T, S), added to the scaled scores.
        scale: of the scores; None means 1 / sqrt(K).
        dropout: probability of dropping an attention weight.

    Returns:
        (B, H, T, K).
    """
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    queries, keys = q.shape[-2], k.shape[-2]
    if queries == 1 and isinstance(rule, Past | Prefix):
        rule = EVERYTHING  # the newest query of a cache sees all of it
    if bias is None and not dropout and (window := _window(rule, queries, keys)):
        return _blocked_window(q, _per_query_head(k, q), _per_query_head(v, q), window, scale)
    if _plain_is_faster(q, keys) and not dropout:
        return _plain(q, _per_query_head(k, q), _per_query_head(v, q), rule, bias, scale)
    return _fused(q, k, v, rule, bias, scale, dropout)


def _per_query_head(x: Tensor, q: Tensor) -> Tensor:
    """(B, G, S, K) -> (B, H, S, K)."""
    repeats = q.shape[1] // x.shape[1]
    return x if repeats == 1 else x.repeat_interleave(repeats, dim=1)


def _plain_is_faster(q: Tensor, keys: int) -> bool:
    """On a CPU plain matmuls beat the flash kernel on short rows, by up to 4x in bfloat16 at 64 keys."""
    return q.device.type == "cpu" and keys <= (1024 if q.dtype == torch.bfloat16 else 384)


def _plain(q: Tensor, k: Tensor, v: Tensor, rule: Rule, bias: Tensor | None, scale: float) -> Tensor:
    scores = (q * scale) @ k.transpose(-2, -1)
    mask = (
        None if isinstance(rule, Everything) else additive(rule, q.shape[-2], k.shape[-2], q.dtype, q.device)
    )
    addends = [addend for addend in (bias, mask) if addend is not None]
    if addends:
        scores += sum(addends[1:], addends[0])  # added up first: one pass over the scores
    if rule.total or mask is None:
        return F.softmax(scores, dim=-1) @ v
    # A row of -inf alone has no softmax.  Give it a finite one, then zero what it returns.
    seen = torch.isfinite(mask).any(-1, keepdim=True)
    return (F.softmax(scores.masked_fill(~seen, 0.0), dim=-1) @ v).masked_fill(~seen, 0.0)


def _fused(
    q: Tensor, k: Tensor, v: Tensor, rule: Rule, bias: Tensor | None, scale: float, dropout: float
) -> Tensor:
    queries, keys = q.shape[-2], k.shape[-2]
    grouped = k.shape[1] != q.shape[1]
    if (
        bias is None
        and isinstance(rule, Everything | Past)
        and (queries == keys or isinstance(rule, Everything))
    ):
        # is_causal is aligned to the top left, which is right only where there are as many queries as keys.
        return F.scaled_dot_product_attention(
            q, k, v, is_causal=isinstance(rule, Past), scale=scale, dropout_p=dropout, enable_gqa=grouped
        )
    mask = bias
    if not isinstance(rule, Everything):
        visible = additive(rule, queries, keys, q.dtype, q.device)
        mask = visible if bias is None else bias + visible
    blind = None
    if mask is not None and not rule.total:
        # Some kernels make NaN of a row of -inf alone, and NaN gradients for everyone.  Give it a finite row, then
        # zero what it returns.
        blind = ~torch.isfinite(mask).any(-1, keepdim=True)
        mask = mask.masked_fill(blind, 0.0)
    out = F.scaled_dot_product_attention(
        q, k, v, attn_mask=mask, scale=scale, dropout_p=dropout, enable_gqa=grouped
    )
    return out if blind is None else out.masked_fill(blind, 0.0)


def _window(rule: Rule, queries: int, keys: int) -> tuple[int, bool] | None:
    """(size, causal) where the blocked kernel applies and pays: a window much shorter than the sequence."""
    rules = parts(rule)
    sizes = [part.size for part in rules if isinstance(part, Window)]
    causal = any(isinstance(part, Past) for part in rules)
    if len(sizes) != 1 or len(rules) != 1 + causal or queries != keys or keys < 4 * sizes[0]:
        return None
    return sizes[0], causal


def _blocked_window(q: Tensor, k: Tensor, v: Tensor, window: tuple[int, bool], scale: float) -> Tensor:
    """Local attention in blocks of the window's size: each block of queries meets its own and its neighbours'
    keys, so time and memory grow with S x size and no S x S tensor exists."""
    size, causal = window
    batch, heads, length, width = q.shape
    blocks = math.ceil(length / size)
    padded = blocks * size
    q = F.pad(q, (0, 0, 0, padded - length)).view(batch, heads, blocks, size, width)
    reach = 2 if causal else 3
    # One block of padding before (and after, when looking both ways) lines the neighbours up.
    around = (0, 0, size, padded - length + (0 if causal else size))
    k, v = (F.pad(x, around).unfold(2, reach * size, size).transpose(-2, -1) for x in (k, v))
    slots = torch.arange(padded, device=q.device).view(blocks, size, 1)
    key_slots = (
        torch.arange(reach * size, device=q.device)
        - size
        + torch.arange(0, padded, size, device=q.device).view(blocks, 1, 1)
    )
    visible = ((key_slots - slots).abs() < size) & (key_slots >= 0) & (key_slots < length)
    if causal:
        visible &= key_slots <= slots
    # No softmax is empty: a padded query, cut off below, is less than a window behind the last key.
    scores = (q * scale) @ k.transpose(-2, -1)
    weights = F.softmax(scores.masked_fill(~visible, -torch.inf), dim=-1)
    return (weights @ v).reshape(batch, heads, padded, width)[:, :, :length]
