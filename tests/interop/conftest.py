"""Small models of transformers, every weight random: an initial model's zero biases and unit norms would hide what is
misplaced."""

import pytest
import torch
import transformers as hf

VOCAB = 97
IDS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "cls_token_id": 4, "sep_token_id": 5}
TO_DECODER = {"decoder_start_token_id": 1, "forced_eos_token_id": None}
SIZES = {"small": (2, 32, 4, 64), "odd": (3, 48, 2, 80)}


def of_gpt(layers, width, heads, d_ff):
    return {"n_embd": width, "n_layer": layers, "n_head": heads, "n_positions": 72}


def of_bert(layers, width, heads, d_ff):
    shape = {"hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": heads}
    return {**shape, "intermediate_size": d_ff, "max_position_embeddings": 72}


def of_t5(layers, width, heads, d_ff):
    return {
        "d_model": width,
        "d_kv": 16,
        "num_layers": layers,
        "num_heads": heads,
        "d_ff": d_ff,
        **TO_DECODER,
    }


def of_bart(layers, width, heads, d_ff):
    both = [("layers", layers), ("attention_heads", heads), ("ffn_dim", d_ff)]
    sides = {f"{side}_{name}": value for side in ("encoder", "decoder") for name, value in both}
    return {**sides, "d_model": width, "max_position_embeddings": 72, **TO_DECODER}


# Name -> configuration class, class with our heads, shape, and what else is said of it.
MODELS = {
    "openai-gpt": (hf.OpenAIGPTConfig, hf.OpenAIGPTLMHeadModel, of_gpt, {}),
    "gpt2": (hf.GPT2Config, hf.GPT2LMHeadModel, of_gpt, {"n_inner": 40}),
    "llama": (hf.LlamaConfig, hf.LlamaForCausalLM, of_bert, {"num_key_value_heads": 2, "head_dim": 10}),
    "llama-tied": (hf.LlamaConfig, hf.LlamaForCausalLM, of_bert, {"head_dim": 16, "tie_word_embeddings": True}),
    "bert": (hf.BertConfig, hf.BertForPreTraining, of_bert, {}),
    "roberta": (hf.RobertaConfig, hf.RobertaForMaskedLM, of_bert, {"pad_token_id": 1, "bos_token_id": 0}),
    "albert": (hf.AlbertConfig, hf.AlbertForPreTraining, of_bert, {"embedding_size": 12}),
    "modernbert": (hf.ModernBertConfig, hf.ModernBertForMaskedLM, of_bert, {"local_attention": 6}),
    "t5": (hf.T5Config, hf.T5ForConditionalGeneration, of_t5, {}),
    "t5-v1.1": (
        hf.T5Config, hf.T5ForConditionalGeneration, of_t5,
        {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False},
    ),
    "mt5": (hf.MT5Config, hf.MT5ForConditionalGeneration, of_t5, {}),
    "bart": (hf.BartConfig, hf.BartForConditionalGeneration, of_bart, {"scale_embedding": True}),
}  # fmt: skip
UNTIED = ("t5-v1.1", "mt5")


@pytest.fixture(scope="session")
def their():
    """their(name, size): one of those models, in evaluation."""

    def make(name, size="small"):
        config_of, model_of, shape, more = MODELS[name]
        torch.manual_seed(0)
        model = model_of(config_of(**{**IDS, "vocab_size": VOCAB, **shape(*SIZES[size]), **more}))
        if name in UNTIED:
            model.lm_head.weight = torch.nn.Parameter(torch.empty_like(model.lm_head.weight))
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=0.3)
        model.eval()
        for module in model.modules():  # a padding token's vector may be anything, and is never to be seen
            if isinstance(module, torch.nn.Embedding) and module.padding_idx is not None:
                module.padding_idx = None
        return model

    return make
