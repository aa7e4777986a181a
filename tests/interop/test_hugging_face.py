"""The same weights give the same logits as Hugging Face's own models (random small configurations, no download)."""

import pytest
import torch
import transformers

from zoo.blocks.masks import NotPadding
from zoo.config import load
from zoo.interop import load_bert, load_gpt2, load_t5
from zoo.models import build
from zoo.plan import make_plan

VOCAB = 97
SIZES = [(2, 32, 4, 64), (3, 48, 2, 80)]


def zoo_model(arch, layers, d_model, heads, d_ff, *more):
    config = load(
        f"arch={arch}", "context=64", "size.positions=72", f"size.layers={layers}", f"size.d_model={d_model}",
        f"size.heads={heads}", f"size.d_ff={d_ff}", *more,
    )  # fmt: skip
    return build(make_plan(config, vocab=VOCAB)).eval()


def randomised(model):
    """Every weight random: an initial model's zero biases and unit norms would hide a misplaced one."""
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return model.eval()


def tokens(rows=3, length=17, seed=0):
    return torch.randint(0, VOCAB, (rows, length), generator=torch.Generator().manual_seed(seed))


def right_padding(rows=3, length=17):
    return torch.arange(length)[None] < torch.tensor([length, 9, 4])[:rows, None]


@pytest.mark.parametrize(("layers", "d_model", "heads", "d_ff"), SIZES)
def test_gpt2(layers, d_model, heads, d_ff):
    theirs = randomised(
        transformers.GPT2LMHeadModel(
            transformers.GPT2Config(
                vocab_size=VOCAB, n_positions=72, n_embd=d_model, n_layer=layers, n_head=heads, n_inner=d_ff
            )
        )
    )
    ours = zoo_model("gpt2", layers, d_model, heads, d_ff)
    load_gpt2(ours, theirs.state_dict())
    x, real = tokens(), right_padding()
    left = real.flip(1)
    positions = (left.cumsum(1) - 1).clamp(min=0)
    with torch.no_grad():
        torch.testing.assert_close(ours.logits(ours(x)), theirs(x).logits, atol=1e-5, rtol=1e-5)
        padded = ours.logits(ours(x, rule=NotPadding(left), positions=positions))
        expected = theirs(x, attention_mask=left.long(), position_ids=positions).logits
    torch.testing.assert_close(padded[left], expected[left], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(("layers", "d_model", "heads", "d_ff"), SIZES)
def test_bert_with_both_heads(layers, d_model, heads, d_ff):
    theirs = randomised(
        transformers.BertForPreTraining(
            transformers.BertConfig(
                vocab_size=VOCAB, max_position_embeddings=72, hidden_size=d_model, num_hidden_layers=layers,
                num_attention_heads=heads, intermediate_size=d_ff,
            )
        )
    )  # fmt: skip
    ours = zoo_model("bert_original", layers, d_model, heads, d_ff)
    load_bert(ours, theirs.state_dict())
    x, real = tokens(), right_padding()
    segments = (torch.arange(17) > 6).long().expand(3, -1)
    with torch.no_grad():
        states = ours(x, segments=segments, rule=NotPadding(real))
        expected = theirs(x, token_type_ids=segments, attention_mask=real.long())
    logits = ours.logits(states)
    torch.testing.assert_close(logits[real], expected.prediction_logits[real], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(
        ours.next_sentence(states), expected.seq_relationship_logits, atol=1e-5, rtol=1e-5
    )


@pytest.mark.parametrize(("layers", "d_model", "heads", "d_ff"), SIZES)
def test_t5(layers, d_model, heads, d_ff):
    theirs = randomised(
        transformers.T5ForConditionalGeneration(
            transformers.T5Config(
                vocab_size=VOCAB, d_model=d_model, d_kv=16, num_layers=layers, num_heads=heads, d_ff=d_ff,
                decoder_start_token_id=0,
            )
        )
    )  # fmt: skip
    ours = zoo_model("t5_original", 2 * layers, d_model, heads, d_ff, "attention.mixer.d_head=16")
    load_t5(ours, theirs.state_dict())
    x, y, real = tokens(), tokens(length=11, seed=1), right_padding()
    with torch.no_grad():
        plain = ours.logits(ours(x, y))
        padded = ours.logits(ours(x, y, rule=NotPadding(real), memory_rule=NotPadding(real)))
        expected = theirs(input_ids=x, decoder_input_ids=y).logits
        expected_padded = theirs(input_ids=x, attention_mask=real.long(), decoder_input_ids=y).logits
    scale = expected.abs().max()
    torch.testing.assert_close(plain / scale, expected / scale, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(padded / scale, expected_padded / scale, atol=1e-5, rtol=1e-5)


def test_a_missing_weight_is_named():
    ours = zoo_model("gpt2", 1, 32, 2, 64)
    theirs = transformers.GPT2LMHeadModel(
        transformers.GPT2Config(vocab_size=VOCAB, n_positions=72, n_embd=32, n_layer=1, n_head=2, n_inner=64)
    )
    state = theirs.state_dict()
    del state["transformer.h.0.ln_1.bias"]
    with pytest.raises(KeyError, match=r"decoder\.blocks\.0\.attention_norm\.bias"):
        load_gpt2(ours, state)
