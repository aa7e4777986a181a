"""Llama (Touvron et al. 2023)."""

from zoo.errors import UserError
from zoo.interop.families.family import Config, Family, State, truth
from zoo.interop.weights import Entry, entries


def _overrides(theirs: Config, state: State) -> list[str]:
    rope = theirs.get("rope_parameters") or theirs.get("rope_scaling") or {}
    if (kind := rope.get("rope_type", rope.get("type", "default"))) != "default":
        raise UserError(f"rope_type={kind} in config.json is not supported: arch=llama has rope_type=default")
    base = rope.get("rope_theta") or theirs.get("rope_theta") or 10000.0
    heads = theirs["num_attention_heads"]
    return [
        f"size.d_model={theirs['hidden_size']}", f"size.layers={theirs['num_hidden_layers']}", f"size.heads={heads}",
        f"attention.mixer.kv_heads={theirs.get('num_key_value_heads') or heads}",
        f"attention.mixer.d_head={theirs.get('head_dim') or theirs['hidden_size'] // heads}",
        f"size.d_ff={theirs['intermediate_size']}", f"norm.layer.eps={theirs['rms_norm_eps']}",
        f"position.base={base}", f"arch.head.tied={truth(theirs.get('tie_word_embeddings'))}",
    ]  # fmt: skip


def _config(ours: Config, vocab: int) -> Config:
    size, mixer = ours["size"], ours["attention"]["mixer"]
    return {
        "vocab_size": vocab, "hidden_size": size["d_model"], "num_hidden_layers": size["layers"],
        "num_attention_heads": size["heads"], "num_key_value_heads": mixer["kv_heads"],
        "head_dim": mixer["d_head"] or size["d_model"] // size["heads"], "intermediate_size": ours["ffn"]["d_ff"],
        "rms_norm_eps": ours["norm"]["layer"]["eps"], "hidden_act": "silu",
        "rope_parameters": {"rope_type": "default", "rope_theta": ours["position"]["base"]},
        "max_position_embeddings": max(2048, ours["context"]), "tie_word_embeddings": ours["arch"]["head"]["tied"],
    }  # fmt: skip


def _weights(ours: Config) -> list[Entry]:
    table = entries("embedding.tokens", "model.embed_tokens")
    for i in range(ours["size"]["layers"]):
        us, them = f"decoder.blocks.{i}", f"model.layers.{i}"
        table += [
            *entries(f"{us}.attention.query", f"{them}.self_attn.q_proj"),
            *entries(f"{us}.attention.key_value", (f"{them}.self_attn.k_proj", f"{them}.self_attn.v_proj")),
            *entries(f"{us}.attention.output", f"{them}.self_attn.o_proj"),
            *entries(f"{us}.attention_norm", f"{them}.input_layernorm"),
            *entries(f"{us}.feed_forward.gate", f"{them}.mlp.gate_proj"),
            *entries(f"{us}.feed_forward.input", f"{them}.mlp.up_proj"),
            *entries(f"{us}.feed_forward.output", f"{them}.mlp.down_proj"),
            *entries(f"{us}.feed_forward_norm", f"{them}.post_attention_layernorm"),
        ]
    return [*table, *entries("decoder.final_norm", "model.norm"), *entries("head", "lm_head")]


LLAMA = Family(
    "llama", "LlamaForCausalLM", "llama", _overrides, _config, _weights,
    fixed={"hidden_act": "silu", "attention_bias": False, "mlp_bias": False, "pretraining_tp": 1},
    copies={"lm_head.weight": "model.embed_tokens.weight"},
    base="model.",
    heads=("lm_head.",),
)  # fmt: skip
