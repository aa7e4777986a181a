"""BART (Lewis et al. 2020)."""

from zoo.errors import UserError
from zoo.interop.families.family import Config, Family, State, activation, their_activation, truth
from zoo.interop.weights import Entry, entries

_SKIPS = 2  # rows before position 0, a leftover of numbering from behind the padding token


def _overrides(theirs: Config, state: State) -> list[str]:
    sides = [
        [theirs[f"{side}_{what}"] for what in ("layers", "attention_heads", "ffn_dim")]
        for side in ("encoder", "decoder")
    ]
    if sides[0] != sides[1]:
        raise UserError(f"encoder and decoder differ in layers, heads or width ({sides}): ours are equal")
    layers, heads, d_ff = sides[0]
    return [
        f"size.d_model={theirs['d_model']}", f"size.layers={2 * layers}", f"size.heads={heads}",
        f"size.d_ff={d_ff}", f"size.positions={theirs['max_position_embeddings']}",
        f"ffn.activation={activation(theirs['activation_function'])}", f"arch.dropout={theirs['dropout']}",
        f"arch.embedding.scaled={truth(theirs['scale_embedding'])}",
    ]  # fmt: skip


def _config(ours: Config, vocab: int) -> Config:
    size = ours["size"]
    shape: Config = {}
    for side in ("encoder", "decoder"):
        shape |= {
            f"{side}_layers": size["layers"] // 2, f"{side}_attention_heads": size["heads"],
            f"{side}_ffn_dim": ours["ffn"]["d_ff"],
        }  # fmt: skip
    return shape | {
        "vocab_size": vocab, "d_model": size["d_model"], "max_position_embeddings": size["positions"],
        "activation_function": their_activation(ours["ffn"]["activation"]), "dropout": ours["arch"]["dropout"],
        "scale_embedding": ours["arch"]["embedding"]["scaled"],
    }  # fmt: skip


def _weights(ours: Config) -> list[Entry]:
    table = [*entries("embedding.tokens", "model.shared")]
    for stack in ("encoder", "decoder"):
        table += entries(f"{stack}.position.table", f"model.{stack}.embed_positions", skip=_SKIPS)
        table += entries(f"{stack}.input_norm", f"model.{stack}.layernorm_embedding")
        for i in range(ours["size"]["layers"] // 2):
            us, them = f"{stack}.blocks.{i}", f"model.{stack}.layers.{i}"
            for mine, other in (("attention", "self_attn"), ("cross", "encoder_attn")):
                table += [
                    *entries(f"{us}.{mine}.query", f"{them}.{other}.q_proj"),
                    *entries(f"{us}.{mine}.key_value", (f"{them}.{other}.k_proj", f"{them}.{other}.v_proj")),
                    *entries(f"{us}.{mine}.output", f"{them}.{other}.out_proj"),
                    *entries(f"{us}.{mine}_norm", f"{them}.{other}_layer_norm"),
                ]
            table += [
                *entries(f"{us}.feed_forward.input", f"{them}.fc1"),
                *entries(f"{us}.feed_forward.output", f"{them}.fc2"),
                *entries(f"{us}.feed_forward_norm", f"{them}.final_layer_norm"),
            ]
    return table


BART = Family(
    "bart", "BartForConditionalGeneration", "bart", _overrides, _config, _weights,
    fixed={"tie_word_embeddings": True, "normalize_before": False, "add_final_layer_norm": False},
    copies={
        "lm_head.weight": "model.shared.weight",
        "model.encoder.embed_tokens.weight": "model.shared.weight",
        "model.decoder.embed_tokens.weight": "model.shared.weight",
    },
    zeros=("final_logits_bias",),
    base="model.",
    heads=("lm_head.", "final_logits_bias"),
)  # fmt: skip
