"""The same weights give the same logits and the same texts as Hugging Face's own models, in and out (no download)."""

import json

import pytest
import torch
import transformers as hf

from zoo.blocks.masks import NotPadding
from zoo.errors import UserError
from zoo.generation.write import write
from zoo.interop import from_hugging_face, read_folder, to_hugging_face, write_folder

VOCAB = 97
NAMES = [
    "openai-gpt", "gpt2", "llama", "llama-tied", "bert", "roberta", "albert", "modernbert", "t5", "t5-v1.1", "mt5",
    "bart",
]  # fmt: skip
WRITERS = ["openai-gpt", "gpt2", "llama", "t5", "t5-v1.1", "mt5", "bart"]
HERE = ("context=16", "task=none")  # what a run would add; nothing of the model


def imported(theirs):
    return from_hugging_face(theirs.config.to_dict(), theirs.state_dict(), *HERE)


def tokens(rows=3, length=17, seed=0):
    return torch.randint(6, VOCAB, (rows, length), generator=torch.Generator().manual_seed(seed))


REAL = torch.arange(17) < torch.tensor([17, 9, 4])[:, None]


@torch.no_grad()
def our_logits(model, x, real):
    """Every token's, in rows padded to the right."""
    rule = NotPadding(real)
    if model.encoder and model.decoder:
        return model.logits(model(x, tokens(length=11, seed=1), rule=rule, memory_rule=rule))
    return model.logits(model(x, rule=rule))[real]


@torch.no_grad()
def their_logits(model, x, real):
    if model.config.is_encoder_decoder:
        return model(
            input_ids=x, attention_mask=real.long(), decoder_input_ids=tokens(length=11, seed=1)
        ).logits
    found = model(input_ids=x, attention_mask=real.long())
    return (found.prediction_logits if "prediction_logits" in found else found.logits)[real]


def assert_equal_logits(ours, theirs):
    scale = theirs.abs().max()
    torch.testing.assert_close(ours / scale, theirs / scale, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("size", ["small", "odd"])
@pytest.mark.parametrize("name", NAMES)
def test_the_same_weights_give_the_same_logits(their, name, size):
    theirs = their(name, size)
    found = imported(theirs)
    assert found.fresh == ()
    for real in (torch.ones_like(REAL), REAL):
        assert_equal_logits(our_logits(found.model, tokens(), real), their_logits(theirs, tokens(), real))


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_padding_on_the_left_renumbers_positions_as_theirs(their, name):
    theirs = their(name)
    ours, real = imported(theirs).model, REAL.flip(1)
    positions = (real.cumsum(1) - 1).clamp(min=0)
    with torch.no_grad():
        found = ours.logits(ours(tokens(), rule=NotPadding(real), positions=positions))
        expected = theirs(tokens(), attention_mask=real.long(), position_ids=positions).logits
    assert_equal_logits(found[real], expected[real])


def test_segments_and_the_second_head(their):
    segments = (torch.arange(17) > 6).long().expand(3, -1)
    for name, head in (("bert", "seq_relationship_logits"), ("albert", "sop_logits")):
        theirs = their(name)
        ours = imported(theirs).model
        with torch.no_grad():
            found = ours.next_sentence(ours(tokens(), segments=segments, rule=NotPadding(REAL)))
            expected = theirs(tokens(), token_type_ids=segments, attention_mask=REAL.long())
        assert_equal_logits(found, expected[head])


@pytest.mark.parametrize("name", WRITERS)
def test_greedy_text_is_theirs_with_our_cache_and_a_batch(their, name):
    theirs = their(name)
    ours = imported(theirs).model
    prompts = [tokens(1, n, n)[0].tolist() for n in (1, 4, 9)]
    expected = []
    for prompt in prompts:
        row = theirs.generate(
            torch.tensor([prompt]), attention_mask=torch.ones(1, len(prompt), dtype=torch.long),
            max_new_tokens=20, do_sample=False, num_beams=1,
        )[0]  # fmt: skip
        row = row[1 if theirs.config.is_encoder_decoder else len(prompt) :].tolist()
        expected.append(row[: row.index(2)] if 2 in row else row)
    assert write(ours, prompts, max_new_tokens=20, stop=[2], pad=0, bos=1) == expected


@pytest.mark.parametrize("name", NAMES)
def test_out_and_in_again_nothing_has_changed(their, name, tmp_path):
    theirs = their(name)
    found = imported(theirs)
    ids = {
        key: value
        for key, value in theirs.config.to_dict().items()
        if key.endswith("token_id") and value is not None
    }
    write_folder(tmp_path, *to_hugging_face(found.config, found.model, ids))
    loaded = type(theirs).from_pretrained(tmp_path).eval()
    for real in (torch.ones_like(REAL), REAL):
        torch.testing.assert_close(
            their_logits(loaded, tokens(), real), their_logits(theirs, tokens(), real), atol=0, rtol=0
        )
    again = from_hugging_face(*read_folder(tmp_path), *HERE)
    assert again.config == found.config
    state = found.model.state_dict()
    assert all(torch.equal(tensor, state[key]) for key, tensor in again.model.state_dict().items())


@pytest.mark.parametrize(
    "name", ["openai-gpt", "gpt2", "llama", "bert", "roberta", "albert", "modernbert", "bart"]
)
def test_without_heads_the_states_are_the_same_and_the_heads_that_begin_anew_are_named(their, name):
    theirs = their(name)
    body = getattr(theirs, theirs.base_model_prefix)
    found = from_hugging_face(theirs.config.to_dict(), body.state_dict(), *HERE)
    heads = {key for key in found.model.state_dict() if key.startswith(("head.", "next_sentence.classifier"))}
    assert set(found.fresh) == heads
    whole = imported(theirs).model
    with torch.no_grad():
        inputs = (tokens(), tokens(seed=1)) if found.model.encoder and found.model.decoder else (tokens(),)
        assert torch.equal(found.model(*inputs), whole(*inputs))


def test_names_of_the_first_bert_and_old_buffers_are_understood(their):
    bert, gpt2 = their("bert"), their("gpt2")
    old = {
        key.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): tensor
        for key, tensor in bert.state_dict().items()
    }
    old["bert.embeddings.position_ids"] = torch.arange(72)[None]
    found = from_hugging_face(bert.config.to_dict(), old, *HERE).model
    assert_equal_logits(our_logits(found, tokens(), REAL), their_logits(bert, tokens(), REAL))
    buffers = {
        f"transformer.h.{i}.attn.{name}": torch.ones(1) for i in range(2) for name in ("bias", "masked_bias")
    }
    from_hugging_face(gpt2.config.to_dict(), {**gpt2.state_dict(), **buffers}, *HERE)


def test_what_does_not_fit_is_named(their):
    theirs = their("gpt2")
    config, state = theirs.config.to_dict(), theirs.state_dict()
    without = {key: tensor for key, tensor in state.items() if key != "transformer.h.0.ln_1.bias"}
    for changed, weights, words in (
        (config, without, r"lack transformer\.h\.0\.ln_1\.bias"),
        (
            config,
            {**state, "transformer.h.0.adapter": torch.ones(2)},
            r"without a place here: transformer\.h\.0\.adapter",
        ),
        (
            config,
            {**state, "lm_head.weight": torch.ones(VOCAB, 32)},
            r"lm_head\.weight is not transformer\.wte\.weight",
        ),
        ({**config, "n_embd": 64}, state, r"transformer\.wte\.weight have shape \(97, 32\).*\(97, 64\)"),
        ({**config, "scale_attn_by_inverse_layer_idx": True}, state, "scale_attn_by_inverse_layer_idx=True"),
        ({**config, "activation_function": "mish"}, state, "activation mish is not one of ours"),
        ({**config, "model_type": "mamba"}, state, "model_type=mamba .* none of openai-gpt, gpt2"),
    ):
        with pytest.raises(UserError, match=words):
            from_hugging_face(changed, weights, *HERE)
    llama = their("llama")
    scaled = {**llama.config.to_dict(), "rope_parameters": {"rope_type": "llama3", "rope_theta": 5e5}}
    with pytest.raises(UserError, match="rope_type=llama3"):
        from_hugging_face(scaled, llama.state_dict(), *HERE)


@pytest.mark.parametrize(
    ("arch", "words"), [("gpt", "the nearest is"), ("t5", "no architecture of transformers")]
)
def test_what_transformers_has_not_is_refused_with_what_differs(arch, words):
    from zoo.config import load
    from zoo.models import build
    from zoo.plan import make_plan

    plan = make_plan(load(f"arch={arch}", "size=nano", *HERE), vocab=VOCAB)
    with pytest.raises(UserError, match=words):
        to_hugging_face(plan.config, build(plan, seed=0), {})


def test_folders_in_several_files_pickles_of_tensors_and_everything_else(their, tmp_path):
    theirs = their("gpt2")
    theirs.save_pretrained(tmp_path / "shards", max_shard_size="20KB")
    assert len(list((tmp_path / "shards").glob("*.safetensors"))) > 2
    config, state = read_folder(tmp_path / "shards")
    found = from_hugging_face(config, state, *HERE).model
    assert_equal_logits(our_logits(found, tokens(), REAL), their_logits(theirs, tokens(), REAL))

    old = tmp_path / "old"
    old.mkdir()
    (old / "config.json").write_text(json.dumps(config))
    torch.save(theirs.state_dict(), old / "pytorch_model.bin")
    assert read_folder(old)[1].keys() == theirs.state_dict().keys()

    torch.save({"code": hf.GPT2Config()}, old / "pytorch_model.bin")
    with pytest.raises(UserError, match="more than tensors"):
        read_folder(old)
    next((tmp_path / "shards").glob("*00002*.safetensors")).unlink()
    with pytest.raises(UserError, match="missing, though the index lists it"):
        read_folder(tmp_path / "shards")
    (old / "pytorch_model.bin").unlink()
    with pytest.raises(UserError, match="has no weights"):
        read_folder(old)
    (old / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(UserError, match="damaged"):
        read_folder(old)
    with pytest.raises(UserError, match=r"no readable config\.json"):
        read_folder(tmp_path)
