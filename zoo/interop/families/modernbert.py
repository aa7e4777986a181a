"""ModernBERT (Warner et al. 2024)."""

from zoo.interop.families.family import Config, Family, State, activation, their_activation
from zoo.interop.weights import Entry, entries

_LOCAL = "sliding_attention"
_GLOBAL = "full_attention"


def _bases(theirs: Config) -> tuple[float, float]:
    """Of the global layers' rotary positions and of the local ones'."""
    if rope := theirs.get("rope_parameters"):
        return rope[_GLOBAL]["rope_theta"], rope.get(_LOCAL, rope[_GLOBAL])["rope_theta"]
    return theirs.get("global_rope_theta", 160000.0), theirs.get("local_rope_theta", 10000.0)


def _overrides(theirs: Config, state: State) -> list[str]:
    layers, every = theirs["num_hidden_layers"], theirs.get("global_attn_every_n_layers", 3)
    kinds = theirs.get("layer_types") or [_LOCAL if i % every else _GLOBAL for i in range(layers)]
    window = f"{{_target_:zoo.blocks.masks.Window,size:{theirs['local_attention'] // 2 + 1}}}"
    rules = ["null" if kind == _GLOBAL else window for kind in _shortest(kinds)]
    of_all, local = _bases(theirs)
    return [
        f"size.d_model={theirs['hidden_size']}", f"size.layers={layers}",
        f"size.heads={theirs['num_attention_heads']}", f"size.d_ff={theirs['intermediate_size']}",
        f"ffn.activation={activation(theirs['hidden_activation'])}", f"norm.layer.eps={theirs['norm_eps']}",
        f"arch.head.activation={activation(theirs['classifier_activation'])}",
        f"attention.rule=[{','.join(rules)}]", f"position.base={of_all}", f"position.local.base={local}",
    ]  # fmt: skip


def _shortest(kinds: list[str]) -> list[str]:
    """The shortest beginning that, repeated, gives all of ``kinds``."""
    lengths = (n for n in range(1, len(kinds) + 1) if all(a == kinds[i % n] for i, a in enumerate(kinds)))
    return kinds[: next(lengths)]


def _config(ours: Config, vocab: int) -> Config:
    size, rules = ours["size"], ours["attention"]["rule"]
    rules = rules if isinstance(rules, list) else [rules]
    windows = [rule["size"] for rule in rules if rule]
    kinds = [_LOCAL if rules[i % len(rules)] else _GLOBAL for i in range(size["layers"])]
    return {
        "vocab_size": vocab, "hidden_size": size["d_model"], "num_hidden_layers": size["layers"],
        "num_attention_heads": size["heads"], "intermediate_size": ours["ffn"]["d_ff"],
        "hidden_activation": their_activation(ours["ffn"]["activation"]), "norm_eps": ours["norm"]["layer"]["eps"],
        "classifier_activation": their_activation(ours["arch"]["head"]["activation"]),
        "local_attention": 2 * (windows[0] - 1) if windows else 2, "layer_types": kinds,
        "rope_parameters": {
            _GLOBAL: {"rope_type": "default", "rope_theta": ours["position"]["base"]},
            _LOCAL: {"rope_type": "default", "rope_theta": ours["position"]["local"]["base"]},
        },
    }  # fmt: skip


def _weights(ours: Config) -> list[Entry]:
    table = [*entries("embedding.tokens", "model.embeddings.tok_embeddings")]
    table += entries("encoder.input_norm", "model.embeddings.norm")
    for i in range(ours["size"]["layers"]):
        us, them = f"encoder.blocks.{i}", f"model.layers.{i}"
        table += [
            *entries((f"{us}.attention.query", f"{us}.attention.key_value"), f"{them}.attn.Wqkv"),
            *entries(f"{us}.attention.output", f"{them}.attn.Wo"),
            *entries(f"{us}.attention_norm", f"{them}.attn_norm"),  # of all layers but the first
            *entries((f"{us}.feed_forward.gate", f"{us}.feed_forward.input"), f"{them}.mlp.Wi"),
            *entries(f"{us}.feed_forward.output", f"{them}.mlp.Wo"),
            *entries(f"{us}.feed_forward_norm", f"{them}.mlp_norm"),
        ]
    return [
        *table,
        *entries("encoder.final_norm", "model.final_norm"),
        *entries("head.transform", "head.dense"),
        *entries("head.norm", "head.norm"),
        Entry(("head.bias",), ("decoder.bias",)),
    ]


MODERNBERT = Family(
    "modernbert", "ModernBertForMaskedLM", "modernbert", _overrides, _config, _weights,
    fixed={
        "norm_bias": False, "attention_bias": False, "mlp_bias": False, "decoder_bias": True, "classifier_bias": False,
        "tie_word_embeddings": True,
    },
    copies={"decoder.weight": "model.embeddings.tok_embeddings.weight"},
    base="model.",
    heads=("head.", "decoder."),
)  # fmt: skip
