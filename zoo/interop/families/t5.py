"""T5 and mT5, which is T5 v1.1 (Raffel et al. 2020; Xue et al. 2021)."""

from functools import partial

import torch

from zoo.errors import UserError
from zoo.interop.families.family import Config, Family, State, activation, their_activation, truth
from zoo.interop.weights import Entry, entries


def _overrides(theirs: Config, state: State, mt5: bool = False) -> list[str]:
    layers = theirs["num_layers"]
    if (decoders := theirs.get("num_decoder_layers") or layers) != layers:
        raise UserError(
            f"num_layers={layers} and num_decoder_layers={decoders} differ: ours are equally deep"
        )
    gate, _, act = theirs["feed_forward_proj"].rpartition("-")
    # Theirs means the tanh approximation where it says gated-gelu.
    act = "gelu_new" if gate == "gated" and act == "gelu" else act
    tied = "lm_head.weight" not in state or torch.equal(state["lm_head.weight"], state["shared.weight"])
    # In transformers' T5 the key that says "tied" has come to mean "scaled"; mT5's states are never scaled.
    scaled = theirs.get("scale_decoder_outputs", theirs.get("tie_word_embeddings", True)) and not mt5
    return [
        f"size.d_model={theirs['d_model']}", f"size.layers={2 * layers}", f"size.heads={theirs['num_heads']}",
        f"attention.mixer.d_head={theirs['d_kv']}", f"size.d_ff={theirs['d_ff']}",
        f"ffn.activation={activation(act)}", f"ffn.gated={truth(gate == 'gated')}",
        f"norm.layer.eps={theirs['layer_norm_epsilon']}", f"arch.dropout={theirs['dropout_rate']}",
        f"position.buckets={theirs['relative_attention_num_buckets']}",
        f"position.longest={theirs['relative_attention_max_distance']}",
        f"arch.head.tied={truth(tied)}", f"arch.head.scaled={truth(scaled)}",
    ]  # fmt: skip


def _config(ours: Config, vocab: int) -> Config:
    size, ffn, layers = ours["size"], ours["ffn"], ours["size"]["layers"] // 2
    act = "gelu" if ffn["gated"] and ffn["activation"] == "gelu_tanh" else their_activation(ffn["activation"])
    return {
        "vocab_size": vocab, "d_model": size["d_model"], "num_layers": layers, "num_decoder_layers": layers,
        "num_heads": size["heads"], "d_kv": ours["attention"]["mixer"]["d_head"] or size["d_model"] // size["heads"],
        "d_ff": ffn["d_ff"], "feed_forward_proj": ("gated-" if ffn["gated"] else "") + act,
        "layer_norm_epsilon": ours["norm"]["layer"]["eps"], "dropout_rate": ours["arch"]["dropout"],
        "relative_attention_num_buckets": ours["position"]["buckets"],
        "relative_attention_max_distance": ours["position"]["longest"],
        "tie_word_embeddings": ours["arch"]["head"]["scaled"],  # their name for it, to which they still listen
    }  # fmt: skip


def _weights(ours: Config) -> list[Entry]:
    table = [*entries("embedding.tokens", "shared"), *entries("head", "lm_head")]
    for stack in ("encoder", "decoder"):
        table += entries(
            f"{stack}.position.table", f"{stack}.block.0.layer.0.SelfAttention.relative_attention_bias"
        )
        table += entries(f"{stack}.final_norm", f"{stack}.final_layer_norm")
        for i in range(ours["size"]["layers"] // 2):
            table += _block(
                f"{stack}.blocks.{i}", f"{stack}.block.{i}.layer", stack == "decoder", ours["ffn"]["gated"]
            )
    return table


def _block(us: str, them: str, crosses: bool, gated: bool) -> list[Entry]:
    last = 2 if crosses else 1
    dense = f"{them}.{last}.DenseReluDense"
    table = [
        *_attention(f"{us}.attention", f"{them}.0.SelfAttention"),
        *entries(f"{us}.attention_norm", f"{them}.0.layer_norm"),
        *entries(f"{us}.feed_forward.gate", f"{dense}.wi_0"),
        *entries(f"{us}.feed_forward.input", f"{dense}.wi_1" if gated else f"{dense}.wi"),
        *entries(f"{us}.feed_forward.output", f"{dense}.wo"),
        *entries(f"{us}.feed_forward_norm", f"{them}.{last}.layer_norm"),
    ]
    if crosses:
        table += _attention(f"{us}.cross", f"{them}.1.EncDecAttention")
        table += entries(f"{us}.cross_norm", f"{them}.1.layer_norm")
    return table


def _attention(us: str, them: str) -> list[Entry]:
    return [
        *entries(f"{us}.query", f"{them}.q"),
        *entries(f"{us}.key_value", (f"{them}.k", f"{them}.v")),
        *entries(f"{us}.output", f"{them}.o"),
    ]


_COPIES = dict.fromkeys(
    ("lm_head.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight"), "shared.weight"
)

T5 = Family("t5", "T5ForConditionalGeneration", "t5_original", _overrides, _config, _weights, copies=_COPIES)
MT5 = Family(
    "mt5",
    "MT5ForConditionalGeneration",
    "mt5",
    partial(_overrides, mt5=True),
    _config,
    _weights,
    copies=_COPIES,
)
