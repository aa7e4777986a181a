"""Weights in and out by the command: what comes in writes what it wrote, what goes out is loaded by transformers."""

import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tokenizers
import torch
import transformers
from tokenizers import models, pre_tokenizers

import zoo
from zoo.config import load
from zoo.convert import to_folder, to_run
from zoo.errors import UserError
from zoo.generation import GREEDY, generate
from zoo.generation.write import write
from zoo.interop import from_hugging_face, read_folder
from zoo.interop.llama2c import read_llama2c, read_llama2c_tokenizer
from zoo.training.run import run

ROOT = Path(__file__).parents[1]
STORIES = ROOT.parent / "shared" / "data" / "stories260K"


@pytest.fixture
def gpt2(tmp_path):
    """A folder of transformers: a small GPT-2 of 300 tokens, rounded up, whose tokenizer has 257."""
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=300, n_positions=64, n_embd=32, n_layer=2, n_head=2, bos_token_id=256, eos_token_id=256
    )
    model = transformers.GPT2LMHeadModel(config).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    folder = tmp_path / "theirs"
    model.save_pretrained(folder)
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = tokenizers.Tokenizer(models.BPE(vocab={s: i for i, s in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    tokenizer.add_special_tokens(["<|endoftext|>"])
    tokenizer.save(str(folder / "tokenizer.json"))
    return model, folder


def test_in_it_is_a_run_that_gives_their_logits_and_out_again_theirs(gpt2, tmp_path):
    theirs, folder = gpt2
    fresh = to_run(str(folder), tmp_path / "run")
    assert fresh == []  # five special tokens that we need found room among the 43 ids without a token
    trained = zoo.load(tmp_path / "run")
    assert trained.tokenizer.vocab_size == 300
    assert trained.tokenizer.eos == 256
    ids = torch.tensor([trained.tokenizer.encode("Once upon a time")])
    with torch.no_grad():
        expected = theirs(ids).logits
        torch.testing.assert_close(trained.model.logits(trained.model(ids)), expected, atol=1e-4, rtol=1e-5)
    assert generate(trained.model, trained.tokenizer, ["a"], sampling=GREEDY, max_new_tokens=4)[0].startswith(
        "a"
    )
    to_folder(tmp_path / "run", tmp_path / "back")
    again = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "back").eval()
    names = transformers.AutoTokenizer.from_pretrained(tmp_path / "back")
    assert names("Once upon a time", add_special_tokens=False).input_ids == ids[0].tolist()
    with torch.no_grad():
        torch.testing.assert_close(again(ids).logits, expected, atol=0, rtol=0)


def test_a_vocabulary_without_room_grows_and_says_so(gpt2, tmp_path):
    _, folder = gpt2
    config, state = read_folder(folder)
    small = transformers.GPT2LMHeadModel(transformers.GPT2Config(**{**config, "vocab_size": 257}))
    small.transformer.wte.weight.data = state["transformer.wte.weight"][:257].clone()
    small.save_pretrained(folder)
    fresh = to_run(str(folder), tmp_path / "run")
    assert fresh == ["the 5 last rows of embedding.tokens.weight"]
    table = zoo.load(tmp_path / "run").model.embedding.tokens.weight
    assert table.shape == (262, 32)
    torch.testing.assert_close(table[257:], table[:257].mean(0).expand(5, -1))


@pytest.mark.parametrize("arch", ["bert_original", "t5_original"])
def test_a_run_trained_here_is_loaded_there(arch, small, tmp_path):
    run(load(*small, f"arch={arch}", "match=none"), tmp_path / "run")
    to_folder(tmp_path / "run", tmp_path / "out")
    trained = zoo.load(tmp_path / "run")
    x = torch.tensor([trained.tokenizer.encode("Ada sees Ben today.")])
    with torch.no_grad():
        if arch == "bert_original":
            theirs = transformers.BertForPreTraining.from_pretrained(tmp_path / "out").eval()
            expected, found = theirs(x).prediction_logits, trained.model.logits(trained.model(x))
        else:
            theirs = transformers.T5ForConditionalGeneration.from_pretrained(tmp_path / "out").eval()
            expected = theirs(input_ids=x, decoder_input_ids=x).logits
            found = trained.model.logits(trained.model(x, x))
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


def test_what_is_there_is_not_overwritten_and_what_lacks_a_tokenizer_says_so(gpt2, tmp_path):
    _, folder = gpt2
    with pytest.raises(UserError, match="is there already"):
        to_run(str(folder), folder)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(UserError, match=r"has no tokenizer\.json"):
        to_run(str(folder), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_the_command_converts_both_ways_and_refuses_in_a_sentence(gpt2, tmp_path):
    def command(*asked):
        environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
        return subprocess.run(
            [sys.executable, str(ROOT / "scripts" / "convert.py"), *asked],
            capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=240, check=False,
        )  # fmt: skip

    came = command("from=theirs", "to=run")
    assert came.returncode == 0, came.stderr
    assert json.loads((tmp_path / "run" / "run.json").read_text())["status"] == "imported"
    went = command("from=run", "to=out")
    assert went.returncode == 0, went.stderr
    assert (tmp_path / "out" / "model.safetensors").exists()
    nowhere = command("from=nobody/nothing", "to=other")
    assert nowhere.returncode == 2
    assert "neither a folder here nor a model that the hub gives us" in nowhere.stderr
    assert "Traceback" not in nowhere.stderr


def llama2c(tmp_path, tied=True):
    """A file as llama2.c writes it, and the same model in transformers."""
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=20, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, rms_norm_eps=1e-5, tie_word_embeddings=tied, max_position_embeddings=32,
    )  # fmt: skip
    model = transformers.LlamaForCausalLM(config).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    state = model.state_dict()

    def stacked(name):
        return torch.stack([state[f"model.layers.{i}.{name}.weight"] for i in range(2)])

    def neighbours(weight, heads):  # transformers' halves -> llama2.c's pairs
        return weight.unflatten(1, (heads, 2, -1)).transpose(2, 3).flatten(1, 3)

    parts = [
        state["model.embed_tokens.weight"], stacked("input_layernorm"), neighbours(stacked("self_attn.q_proj"), 4),
        neighbours(stacked("self_attn.k_proj"), 2), stacked("self_attn.v_proj"), stacked("self_attn.o_proj"),
        stacked("post_attention_layernorm"), stacked("mlp.gate_proj"), stacked("mlp.down_proj"), stacked("mlp.up_proj"),
        state["model.norm.weight"], torch.zeros(2, 32, 2),
    ]  # fmt: skip
    parts += [] if tied else [state["lm_head.weight"]]
    header = struct.pack("<7i", 16, 24, 2, 4, 2, 20 if tied else -20, 32)
    path = tmp_path / "model.bin"
    path.write_bytes(header + b"".join(part.numpy().astype("<f4").tobytes() for part in parts))
    return path, model


@pytest.mark.parametrize("tied", [True, False])
def test_llama2c_s_weights_give_the_same_logits_as_transformers(tmp_path, tied):
    path, theirs = llama2c(tmp_path, tied)
    ours = from_hugging_face(*read_llama2c(path), "task=none").model
    x = torch.arange(20)[None]
    with torch.no_grad():
        torch.testing.assert_close(ours.logits(ours(x)), theirs(x).logits, atol=1e-5, rtol=1e-5)


def test_a_damaged_file_of_llama2c_is_refused(tmp_path):
    path, _ = llama2c(tmp_path)
    content = path.read_bytes()
    for damaged, words in (
        (content[:10], "ends within the header"),
        (content[:-8], "its header speaks of"),
        (struct.pack("<7i", 16, 24, 2, 3, 2, 20, 32) + content[28:], "makes no sense"),
    ):
        path.write_bytes(damaged)
        with pytest.raises(UserError, match=words):
            read_llama2c(path)
    path.write_bytes(np.arange(30, dtype="<i4").tobytes())
    with pytest.raises(UserError, match="tokenizer of 512 tokens"):
        read_llama2c_tokenizer(path, 512)


@pytest.mark.skipif(not STORIES.exists(), reason="needs the data that is not in the repository")
def test_really_trained_weights_tell_a_story_the_same_with_and_without_a_cache():
    found = from_hugging_face(*read_llama2c(STORIES / "stories260K.bin"), "task=none")
    tokenizer = read_llama2c_tokenizer(STORIES / "tok512.bin", 512)
    assert tokenizer.decode(tokenizer.encode("Two  spaces, wörld 🙂!\n").ids) == "Two  spaces, wörld 🙂!\n"
    begun = [1, *tokenizer.encode("Once upon a time", add_special_tokens=False).ids]
    (told,) = write(found.model, [begun], max_new_tokens=60, stop=[1, 2], pad=0, bos=1)
    assert tokenizer.decode([*begun[1:], *told]).startswith(
        "Once upon a time, there was a little girl named Lily. She loved to play outside in the park."
    )
    row = list(begun)
    with torch.no_grad():
        for _ in range(60):
            row.append(found.model.logits(found.model(torch.tensor([row]))[:, -1]).argmax().item())
    assert row[len(begun) :] == told
