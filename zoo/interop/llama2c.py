"""Checkpoints of llama2.c (version 0 of its format): the weights one after the other, and a tokenizer beside them."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers
import torch
from tokenizers import decoders, models, normalizers
from torch import Tensor

from zoo.errors import UserError
from zoo.interop.weights import State

_HEADER = struct.Struct("<7i")
_BOS, _EOS = 1, 2


def read_llama2c(path: Path) -> tuple[dict[str, Any], State]:
    """The configuration and the weights, as transformers would name them.

    Raises:
        UserError: not such a file, or not as long as its header says.
    """
    content = path.read_bytes()
    if len(content) < _HEADER.size:
        raise UserError(f"{path} is no checkpoint of llama2.c: it ends within the header")
    width, hidden, layers, heads, kv_heads, vocab, length = _HEADER.unpack_from(content)
    tied, vocab = vocab > 0, abs(vocab)
    if min(width, hidden, layers, heads, kv_heads, vocab, length) < 1 or width % heads or heads % kv_heads:
        raise UserError(f"{path} is no checkpoint of llama2.c: its header makes no sense")
    d_head = width // heads
    keys = kv_heads * d_head
    shapes: dict[str, tuple[int, ...]] = {
        "embedding": (vocab, width),
        "input_layernorm": (layers, width),
        "self_attn.q_proj": (layers, width, width),
        "self_attn.k_proj": (layers, keys, width),
        "self_attn.v_proj": (layers, keys, width),
        "self_attn.o_proj": (layers, width, width),
        "post_attention_layernorm": (layers, width),
        "mlp.gate_proj": (layers, hidden, width),
        "mlp.down_proj": (layers, width, hidden),
        "mlp.up_proj": (layers, hidden, width),
        "norm": (width,),
        "cosines and sines": (2, length, d_head // 2),
    }
    if not tied:
        shapes["head"] = (vocab, width)
    numbers = np.frombuffer(content, "<f4", offset=_HEADER.size, count=(len(content) - _HEADER.size) // 4)
    wanted = sum(int(np.prod(shape)) for shape in shapes.values())
    if len(numbers) != wanted:
        raise UserError(f"{path} holds {len(numbers):,} weights, but its header speaks of {wanted:,}")
    read, at = {}, 0
    for name, shape in shapes.items():
        count = int(np.prod(shape))
        read[name] = torch.from_numpy(numbers[at : at + count].copy()).view(shape)
        at += count
    for name, n in (("self_attn.q_proj", heads), ("self_attn.k_proj", kv_heads)):
        read[name] = _halves(read[name], n)
    state = {"model.embed_tokens.weight": read["embedding"], "model.norm.weight": read["norm"]}
    state |= {
        f"model.layers.{layer}.{name}.weight": tensor[layer]
        for name, tensor in read.items()
        if "proj" in name or "layernorm" in name
        for layer in range(layers)
    }
    if not tied:
        state["lm_head.weight"] = read["head"]
    return {
        "model_type": "llama", "vocab_size": vocab, "hidden_size": width, "intermediate_size": hidden,
        "num_hidden_layers": layers, "num_attention_heads": heads, "num_key_value_heads": kv_heads,
        "rms_norm_eps": 1e-5, "tie_word_embeddings": tied, "max_position_embeddings": length,
    }, state  # fmt: skip


def _halves(weight: Tensor, heads: int) -> Tensor:
    """(L, heads · K, D) whose features turn in neighbouring pairs -> in pairs half a head apart, as ours do."""
    return weight.unflatten(1, (heads, -1, 2)).transpose(2, 3).flatten(1, 3)


def read_llama2c_tokenizer(path: Path, vocab: int) -> tokenizers.Tokenizer:
    """The tokenizer: SentencePiece's pairs, joined in the order of their scores; bytes for what it does not know.

    Raises:
        UserError: the file is not one of ``vocab`` tokens.
    """
    content, at, pieces = path.read_bytes(), 4, []
    try:
        for _ in range(vocab):
            score, length = struct.unpack_from("<fi", content, at)
            pieces.append((content[at + 8 : at + 8 + length].decode(), score))
            at += 8 + length
    except (struct.error, UnicodeDecodeError) as error:
        raise UserError(f"{path} is no tokenizer of {vocab} tokens for llama2.c ({error})") from error
    if at != len(content):
        raise UserError(f"{path} has more than {vocab} tokens")
    names = [piece for piece, _ in pieces]
    names[:3] = ["<unk>", "<s>", "</s>"]
    ids = {name: i for i, name in enumerate(names)}
    joins = [
        (score, (name[:cut], name[cut:]))
        for name, (_, score) in zip(names, pieces, strict=True)
        for cut in range(1, len(name))
        if name[:cut] in ids and name[cut:] in ids and not name.startswith("<0x")
    ]
    merges = [pair for _, pair in sorted(joins, key=lambda join: -join[0])]
    tokenizer = tokenizers.Tokenizer(
        models.BPE(vocab=ids, merges=merges, unk_token="<unk>", byte_fallback=True, fuse_unk=True)
    )
    tokenizer.normalizer = normalizers.Prepend(" ")
    tokenizer.decoder = decoders.Sequence(
        [decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    tokenizer.add_special_tokens(names[:3])
    return tokenizer
