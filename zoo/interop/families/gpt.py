"""GPT and GPT-2 (Radford et al. 2018, 2019), whose matrices are (in, out) in transformers."""

from zoo.interop.families.family import Config, Family, State, activation, their_activation
from zoo.interop.weights import Entry, entries


def _overrides(theirs: Config, state: State) -> list[str]:
    # In the class of the first GPT "gelu" is what all others call "gelu_new".
    act = theirs.get("activation_function") or theirs["afn"].replace("gelu", "gelu_new")
    return [
        f"size.d_model={theirs['n_embd']}", f"size.layers={theirs['n_layer']}", f"size.heads={theirs['n_head']}",
        f"size.d_ff={theirs.get('n_inner') or 4 * theirs['n_embd']}", f"size.positions={theirs['n_positions']}",
        f"ffn.activation={activation(act)}", f"norm.layer.eps={theirs['layer_norm_epsilon']}",
        f"arch.dropout={theirs['resid_pdrop']}",
    ]  # fmt: skip


def _config(ours: Config, vocab: int) -> Config:
    size, dropout = ours["size"], ours["arch"]["dropout"]
    return {
        "vocab_size": vocab, "n_embd": size["d_model"], "n_layer": size["layers"], "n_head": size["heads"],
        "n_positions": size["positions"], "layer_norm_epsilon": ours["norm"]["layer"]["eps"],
        "resid_pdrop": dropout, "embd_pdrop": dropout, "attn_pdrop": dropout,
    }  # fmt: skip


def _gpt2_config(ours: Config, vocab: int) -> Config:
    act = their_activation(ours["ffn"]["activation"])
    return _config(ours, vocab) | {"n_inner": ours["ffn"]["d_ff"], "activation_function": act}


def _gpt1_config(ours: Config, vocab: int) -> Config:
    return _config(ours, vocab) | {"afn": their_activation(ours["ffn"]["activation"]).removesuffix("_new")}


def _layers(ours: Config) -> list[Entry]:
    table = []
    for i in range(ours["size"]["layers"]):
        us, them = f"decoder.blocks.{i}", f"transformer.h.{i}"
        table += [
            *entries(
                (f"{us}.attention.query", f"{us}.attention.key_value"), f"{them}.attn.c_attn", turned=True
            ),
            *entries(f"{us}.attention.output", f"{them}.attn.c_proj", turned=True),
            *entries(f"{us}.attention_norm", f"{them}.ln_1"),
            *entries(f"{us}.feed_forward.input", f"{them}.mlp.c_fc", turned=True),
            *entries(f"{us}.feed_forward.output", f"{them}.mlp.c_proj", turned=True),
            *entries(f"{us}.feed_forward_norm", f"{them}.ln_2"),
        ]
    return table


def _gpt2_weights(ours: Config) -> list[Entry]:
    return [
        *entries("embedding.tokens", "transformer.wte"),
        *entries("decoder.position.table", "transformer.wpe"),
        *_layers(ours),
        *entries("decoder.final_norm", "transformer.ln_f"),
    ]


def _gpt1_weights(ours: Config) -> list[Entry]:
    return [
        *entries("embedding.tokens", "transformer.tokens_embed"),
        *entries("decoder.position.table", "transformer.positions_embed"),
        *_layers(ours),
    ]


GPT2 = Family(
    "gpt2", "GPT2LMHeadModel", "gpt2", _overrides, _gpt2_config, _gpt2_weights,
    fixed={
        "scale_attn_weights": True, "scale_attn_by_inverse_layer_idx": False, "add_cross_attention": False,
        "tie_word_embeddings": True,
    },
    copies={"lm_head.weight": "transformer.wte.weight"},
    base="transformer.",
    heads=("lm_head.",),
)  # fmt: skip

GPT1 = Family(
    "openai-gpt", "OpenAIGPTLMHeadModel", "gpt1", _overrides, _gpt1_config, _gpt1_weights,
    fixed={"tie_word_embeddings": True},
    copies={"lm_head.weight": "transformer.tokens_embed.weight"},
    base="transformer.",
    heads=("lm_head.",),
)  # fmt: skip
