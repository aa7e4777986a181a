"""BERT, RoBERTa and ALBERT (Devlin et al. 2019; Liu et al. 2019; Lan et al. 2020)."""

from functools import partial

from zoo.interop.families.family import Config, Family, State, activation, their_activation, truth
from zoo.interop.weights import Entry, entries

# RoBERTa numbers positions from behind its padding token's id, which is 1.
_ROBERTA_SKIPS = 2


def _overrides(theirs: Config, state: State, skip: int = 0) -> list[str]:
    act = activation(theirs["hidden_act"])
    return [
        f"size.d_model={theirs['hidden_size']}", f"size.layers={theirs['num_hidden_layers']}",
        f"size.heads={theirs['num_attention_heads']}", f"size.d_ff={theirs['intermediate_size']}",
        f"size.positions={theirs['max_position_embeddings'] - skip}", f"ffn.activation={act}",
        f"arch.head.activation={act}", f"norm.layer.eps={theirs['layer_norm_eps']}",
        f"arch.dropout={theirs['hidden_dropout_prob']}", f"arch.embedding.segments={theirs['type_vocab_size']}",
        f"objective.next_sentence={truth(any('pooler' in name for name in state))}",
    ]  # fmt: skip


def _config(ours: Config, vocab: int, skip: int = 0) -> Config:
    size, dropout = ours["size"], ours["arch"]["dropout"]
    own = {"pad_token_id": _ROBERTA_SKIPS - 1} if skip else {}
    return own | {
        "vocab_size": vocab, "hidden_size": size["d_model"], "num_hidden_layers": size["layers"],
        "num_attention_heads": size["heads"], "intermediate_size": ours["ffn"]["d_ff"],
        "max_position_embeddings": size["positions"] + skip, "layer_norm_eps": ours["norm"]["layer"]["eps"],
        "hidden_act": their_activation(ours["ffn"]["activation"]), "hidden_dropout_prob": dropout,
        "attention_probs_dropout_prob": dropout, "type_vocab_size": ours["arch"]["embedding"]["segments"],
    }  # fmt: skip


def _embedding(them: str, skip: int = 0) -> list[Entry]:
    return [
        *entries("embedding.tokens", f"{them}.word_embeddings"),
        *entries("embedding.segments", f"{them}.token_type_embeddings"),
        *entries("encoder.position.table", f"{them}.position_embeddings", skip=skip),
        *entries("encoder.input_norm", f"{them}.LayerNorm"),
    ]


def _head(dense: str, norm: str, bias: str) -> list[Entry]:
    return [*entries("head.transform", dense), *entries("head.norm", norm), Entry(("head.bias",), (bias,))]


def _layers(ours: Config, model: str) -> list[Entry]:
    table = []
    for i in range(ours["size"]["layers"]):
        us, them = f"encoder.blocks.{i}", f"{model}.encoder.layer.{i}"
        own = f"{them}.attention.self"
        table += [
            *entries(f"{us}.attention.query", f"{own}.query"),
            *entries(f"{us}.attention.key_value", (f"{own}.key", f"{own}.value")),
            *entries(f"{us}.attention.output", f"{them}.attention.output.dense"),
            *entries(f"{us}.attention_norm", f"{them}.attention.output.LayerNorm"),
            *entries(f"{us}.feed_forward.input", f"{them}.intermediate.dense"),
            *entries(f"{us}.feed_forward.output", f"{them}.output.dense"),
            *entries(f"{us}.feed_forward_norm", f"{them}.output.LayerNorm"),
        ]
    return table


def _bert_weights(ours: Config) -> list[Entry]:
    them = "cls.predictions"
    return [
        *_embedding("bert.embeddings"),
        *_layers(ours, "bert"),
        *_head(f"{them}.transform.dense", f"{them}.transform.LayerNorm", f"{them}.bias"),
        *entries("next_sentence.pooler", "bert.pooler.dense"),
        *entries("next_sentence.classifier", "cls.seq_relationship"),
    ]


def _roberta_weights(ours: Config) -> list[Entry]:
    return [
        *_embedding("roberta.embeddings", skip=_ROBERTA_SKIPS),
        *_layers(ours, "roberta"),
        *_head("lm_head.dense", "lm_head.layer_norm", "lm_head.bias"),
        *entries("next_sentence.pooler", "roberta.pooler.dense"),
    ]


def _albert_weights(ours: Config) -> list[Entry]:
    us, them = "encoder.blocks.0", "albert.encoder.albert_layer_groups.0.albert_layers.0"
    return [
        *_embedding("albert.embeddings"),
        *entries("encoder.projection", "albert.encoder.embedding_hidden_mapping_in"),
        *entries(f"{us}.attention.query", f"{them}.attention.query"),
        *entries(f"{us}.attention.key_value", (f"{them}.attention.key", f"{them}.attention.value")),
        *entries(f"{us}.attention.output", f"{them}.attention.dense"),
        *entries(f"{us}.attention_norm", f"{them}.attention.LayerNorm"),
        *entries(f"{us}.feed_forward.input", f"{them}.ffn"),
        *entries(f"{us}.feed_forward.output", f"{them}.ffn_output"),
        *entries(f"{us}.feed_forward_norm", f"{them}.full_layer_layer_norm"),
        *_head("predictions.dense", "predictions.LayerNorm", "predictions.bias"),
        *entries("next_sentence.pooler", "albert.pooler"),
        *entries("next_sentence.classifier", "sop_classifier.classifier"),
    ]


_FIXED = {"is_decoder": False, "add_cross_attention": False, "tie_word_embeddings": True}

BERT = Family(
    "bert", "BertForPreTraining", "bert_original", _overrides, _config, _bert_weights,
    fixed={**_FIXED, "position_embedding_type": "absolute"},
    copies={
        "cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight",
        "cls.predictions.decoder.bias": "cls.predictions.bias",
    },
    base="bert.",
    heads=("cls.",),
)  # fmt: skip

ROBERTA = Family(
    "roberta", "RobertaForMaskedLM", "roberta",
    partial(_overrides, skip=_ROBERTA_SKIPS), partial(_config, skip=_ROBERTA_SKIPS), _roberta_weights,
    fixed={**_FIXED, "position_embedding_type": "absolute", "pad_token_id": 1},
    copies={
        "lm_head.decoder.weight": "roberta.embeddings.word_embeddings.weight",
        "lm_head.decoder.bias": "lm_head.bias",
    },
    base="roberta.",
    heads=("lm_head.",),
)  # fmt: skip

ALBERT = Family(
    "albert", "AlbertForPreTraining", "albert",
    lambda theirs, state: [*_overrides(theirs, state), f"arch.embedding.width={theirs['embedding_size']}"],
    lambda ours, vocab: {
        **_config(ours, vocab), "embedding_size": ours["arch"]["embedding"]["width"] or ours["size"]["d_model"],
    },
    _albert_weights,
    fixed={**_FIXED, "num_hidden_groups": 1, "inner_group_num": 1},
    copies={
        "predictions.decoder.weight": "albert.embeddings.word_embeddings.weight",
        "predictions.decoder.bias": "predictions.bias",
    },
    base="albert.",
    heads=("predictions.", "sop_classifier."),
)  # fmt: skip
