"""Hugging Face's parameter names in ours: one small map per family.

Each map is a list of (their pattern, our name).  Where several of theirs make one of ours (keys and values), they are
stacked in their own order, which is keys first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import torch
from torch import Tensor, nn

State = dict[str, Tensor]

_BERT = [
    (r"bert\.embeddings\.word_embeddings", "embedding.tokens"),
    (r"bert\.embeddings\.token_type_embeddings", "embedding.segments"),
    (r"bert\.embeddings\.position_embeddings", "encoder.position.table"),
    (r"bert\.embeddings\.LayerNorm", "encoder.input_norm"),
    (r"bert\.encoder\.layer\.(\d+)\.attention\.self\.query", r"encoder.blocks.\1.attention.query"),
    (r"bert\.encoder\.layer\.(\d+)\.attention\.self\.(key|value)", r"encoder.blocks.\1.attention.key_value"),
    (r"bert\.encoder\.layer\.(\d+)\.attention\.output\.dense", r"encoder.blocks.\1.attention.output"),
    (r"bert\.encoder\.layer\.(\d+)\.attention\.output\.LayerNorm", r"encoder.blocks.\1.attention_norm"),
    (r"bert\.encoder\.layer\.(\d+)\.intermediate\.dense", r"encoder.blocks.\1.feed_forward.input"),
    (r"bert\.encoder\.layer\.(\d+)\.output\.dense", r"encoder.blocks.\1.feed_forward.output"),
    (r"bert\.encoder\.layer\.(\d+)\.output\.LayerNorm", r"encoder.blocks.\1.feed_forward_norm"),
    (r"bert\.pooler\.dense", "next_sentence.pooler"),
    (r"cls\.seq_relationship", "next_sentence.classifier"),
    (r"cls\.predictions\.transform\.dense", "head.transform"),
    (r"cls\.predictions\.transform\.LayerNorm", "head.norm"),
    (r"cls\.predictions\.bias", "head.bias"),
]

_GPT2 = [
    (r"transformer\.wte", "embedding.tokens"),
    (r"transformer\.wpe", "decoder.position.table"),
    (r"transformer\.h\.(\d+)\.ln_1", r"decoder.blocks.\1.attention_norm"),
    (r"transformer\.h\.(\d+)\.ln_2", r"decoder.blocks.\1.feed_forward_norm"),
    (r"transformer\.h\.(\d+)\.attn\.(query|key_value)", r"decoder.blocks.\1.attention.\2"),
    (r"transformer\.h\.(\d+)\.attn\.c_proj", r"decoder.blocks.\1.attention.output"),
    (r"transformer\.h\.(\d+)\.mlp\.c_fc", r"decoder.blocks.\1.feed_forward.input"),
    (r"transformer\.h\.(\d+)\.mlp\.c_proj", r"decoder.blocks.\1.feed_forward.output"),
    (r"transformer\.ln_f", "decoder.final_norm"),
]

_ATTENTION = {"q": "query", "k": "key_value", "v": "key_value", "o": "output"}
_T5 = [
    (r"shared", "embedding.tokens"),
    (
        r"(encoder|decoder)\.block\.0\.layer\.0\.SelfAttention\.relative_attention_bias",
        r"\1.position.table",
    ),
    *(
        (rf"(encoder|decoder)\.block\.(\d+)\.layer\.\d\.{theirs}\.{letter}", rf"\1.blocks.\2.{ours}.{name}")
        for theirs, ours in (("SelfAttention", "attention"), ("EncDecAttention", "cross"))
        for letter, name in _ATTENTION.items()
    ),
    (r"(encoder|decoder)\.block\.(\d+)\.layer\.0\.layer_norm", r"\1.blocks.\2.attention_norm"),
    (r"decoder\.block\.(\d+)\.layer\.1\.layer_norm", r"decoder.blocks.\1.cross_norm"),
    (r"encoder\.block\.(\d+)\.layer\.1\.layer_norm", r"encoder.blocks.\1.feed_forward_norm"),
    (r"decoder\.block\.(\d+)\.layer\.2\.layer_norm", r"decoder.blocks.\1.feed_forward_norm"),
    (r"(encoder|decoder)\.block\.(\d+)\.layer\.\d\.DenseReluDense\.wi", r"\1.blocks.\2.feed_forward.input"),
    (r"(encoder|decoder)\.block\.(\d+)\.layer\.\d\.DenseReluDense\.wo", r"\1.blocks.\2.feed_forward.output"),
    (r"(encoder|decoder)\.final_layer_norm", r"\1.final_norm"),
]


def load_gpt2(model: nn.Module, state: State) -> None:
    """Fill ``model`` (arch=gpt2) from the state of a ``GPT2LMHeadModel``, whose matrices are (in, out).

    Raises:
        KeyError: weights missing or left over, by name.
    """
    turned: State = {}
    for name, tensor in state.items():
        if re.search(r"(c_attn|c_proj|c_fc)\.weight$", name):
            tensor = tensor.T
        if ".c_attn." in name:
            d_model = len(tensor) // 3
            turned[name.replace("c_attn", "query")] = tensor[:d_model]
            turned[name.replace("c_attn", "key_value")] = tensor[d_model:]
        else:
            turned[name] = tensor
    _load(model, turned, _GPT2, ignore=("lm_head.weight", "attn.bias", "attn.masked_bias"))


def load_bert(model: nn.Module, state: State) -> None:
    """Fill ``model`` (arch=bert_original) from the state of a ``BertForPreTraining``.

    Raises:
        KeyError: weights missing or left over, by name.
    """
    _load(
        model, state, _BERT, ignore=("predictions.decoder.weight", "predictions.decoder.bias", "position_ids")
    )


def load_t5(model: nn.Module, state: State) -> None:
    """Fill ``model`` (arch=t5_original) from the state of a tied ``T5ForConditionalGeneration``.

    Raises:
        KeyError: weights missing or left over, by name.
    """
    _load(model, state, _T5, ignore=("lm_head.weight", "embed_tokens.weight"))


def _load(model: nn.Module, state: State, rules: Iterable[tuple[str, str]], ignore: tuple[str, ...]) -> None:
    gathered: dict[str, list[Tensor]] = {}
    unknown = []
    for name, tensor in state.items():
        if name.endswith(ignore):
            continue
        ours = _rename(name, rules)
        if ours is None:
            unknown.append(name)
        else:
            gathered.setdefault(ours, []).append(tensor)
    missing = sorted(set(model.state_dict()) - set(gathered))
    surplus = sorted(set(gathered) - set(model.state_dict()))
    if unknown or missing or surplus:
        raise KeyError(f"weights without a place: {unknown + surplus}; without a value: {missing}")
    model.load_state_dict({name: torch.cat(parts) for name, parts in gathered.items()})


def _rename(name: str, rules: Iterable[tuple[str, str]]) -> str | None:
    for pattern, ours in rules:
        match = re.fullmatch(rf"{pattern}(\.weight|\.bias)?", name)
        if match:
            return match.expand(ours) + (match[match.re.groups] or "")
    return None
