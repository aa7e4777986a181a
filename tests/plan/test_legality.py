"""Every request that cannot be met is refused in one sentence that names what to change, and the advice works."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zoo.blocks.feed_forward import ACTIVATIONS
from zoo.config import load
from zoo.errors import UserError
from zoo.models import build
from zoo.plan import make_plan, values
from zoo.plan.legality import capabilities

# Each request, and what its refusal must name.
ILLEGAL = {
    "context=0": "context",
    "context=-8": "context",
    "context=7": "context",
    "context=true": "context",
    "context=64.5": "context",
    "context=long": "context",
    "arch=t5 context=long": "context",
    "arch=bert context=null": "context",
    "batch_size=0": "batch_size",
    "steps=0": "steps",
    "steps=1e3": "steps",
    "seed=-1": "seed",
    "optim.lr=0": "optim.lr",
    "size.d_model=0": "size.d_model",
    "size.layers=0": "size.layers",
    "size.heads=0": "size.heads",
    "size.heads=null": "size.heads",
    "size.d_ff=0": "size.d_ff",
    "ffn.d_ff=-4 match=none": "ffn.d_ff",
    "size.vocab=0": "size.vocab",
    "size.positions=0": "size.positions",
    "size.heads=5": "size.heads",
    "size.d_model=130": "size.d_model",
    "size.d_model=36 size.heads=4": "attention.mixer.d_head",
    "attention.mixer.d_head=5": "attention.mixer.d_head",
    "attention.mixer.d_head=0": "attention.mixer.d_head",
    "attention=gqa size.heads=1 size.d_model=64": "attention.mixer.kv_heads",
    "attention.mixer.kv_heads=3": "attention.mixer.kv_heads",
    "attention.mixer.kv_heads=0": "attention.mixer.kv_heads",
    "attention.mixer.kv_heads=-1": "attention.mixer.kv_heads",
    "attention.mixer.kv_heads=null": "attention.mixer.kv_heads",
    "attention=sliding_window attention.rule.size=0": "attention.rule.size",
    "attention=strided attention.rule.stride=0": "attention.rule.stride",
    "attention=block_sparse attention.rule.size=-1": "attention.rule.size",
    "position=sinusoidal size.d_model=33 size.heads=3": "size.d_model",
    "position=relative_bias position.buckets=2": "position.buckets",
    "position=relative_bias position.buckets=31": "position.buckets",
    "position=relative_bias position.longest=16": "position.longest",
    "position.base=-1": "position.base",
    "norm.placement=middle": "norm.placement",
    "ffn.activation=tanh": "ffn.activation",
    "match.by=speed": "match.by",
    "arch.dropout=1": "arch.dropout",
    "arch.dropout=-0.1": "arch.dropout",
    "arch.decoder=null": "encoder",
    "arch.decoder=past": "arch.decoder",
    "arch.decoder.sees=everything": "arch.decoder.sees",
    "arch=bert arch.encoder.sees=future": "sees",
    "arch=t5 arch.decoder.memory=null": "arch.decoder.memory",
    "arch=t5 size.layers=3": "size.layers",
    "arch=bert objective=causal_lm": "objective",
    "arch=gpt objective=masked_lm": "objective",
    "arch=gpt objective=masked_diffusion": "objective=causal_lm",
    "arch=t5 objective=masked_diffusion": "objective=span_corruption",
    "arch=prefix_lm objective=masked_diffusion": "objective=prefix_lm",
    "arch=bert objective=masked_diffusion arch.encoder.sees=past": "arch.encoder.sees=everything",
    "arch=bert arch.encoder.sees=past": "arch.encoder.sees=everything",
    "arch=bert objective=span_corruption": "objective=masked_lm or objective=masked_diffusion",
    "arch=t5 objective=causal_lm": "objective",
    "arch=gpt arch.decoder.sees=prefix": "objective=prefix_lm",
    "arch=prefix_lm objective=causal_lm": "arch.decoder.sees=past",
    "arch=prefix_lm objective=masked_lm": "objective=prefix_lm",
    "arch=bert objective=prefix_lm": "arch=prefix_lm",
    "arch=prefix_lm arch.decoder.sees=everything": "arch.decoder.sees=past",
    "arch=t5 arch.decoder.sees=prefix": "arch.decoder.sees=past",
    "arch=bert arch.encoder.sees=prefix": "arch.encoder.sees=everything",
    "arch=bert objective=text_infilling": "arch=t5",
    "arch=albert arch.embedding.width=0": "arch.embedding.width",
    "arch=albert arch.shared=2": "arch.shared",
    "arch=albert objective.wrong_pair=other": "objective.wrong_pair",
    "arch=bart objective.permute=3": "objective.permute",
    "attention=alternating attention.rule.1.size=0": "attention.rule.size",
    "arch=bert objective.rate=0": "objective.rate",
    "arch=bert objective.rate=1.5": "objective.rate",
    "arch=bert objective.mask=-0.1": "objective.mask",
    "arch=bert objective.mask=0.95 objective.random=0.1": "objective.mask",
    "arch=t5 objective.density=0": "objective.density",
    "arch=t5 objective.density=1": "objective.density",
    "arch=t5 objective.mean_span=0": "objective.mean_span",
    "arch=t5 context=2000": "tokenizer.sentinels",
    "arch=gpt2 size=base context=1025": "size.positions",
    "arch=bert_original size=base context=512": "context",
    "arch=t5 position=learned size.positions=64 context=1000": "size.positions",
    "arch=gpt position=learned size.positions=4": "size.positions",
    "trainer.micro_batches=0": "trainer.micro_batches",
    "trainer.micro_batches=5": "batch_size",
    "trainer=ddp batch_size=7": "batch_size",
    "trainer.devices=[0,1,2]": "trainer.devices",
    "trainer.devices=2": "trainer=ddp",
    "trainer=ddp trainer.devices=3": "batch_size",
    "size=nano arch.head.tied=false": "match=none",
}


def excuse(config):
    """Why ``config`` is refused; empty if it is not."""
    try:
        make_plan(config)
    except UserError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("request_", ILLEGAL)
def test_an_illegal_request_is_refused_in_one_sentence_that_names_what_to_change(request_):
    """And each way out that it offers ("use X=1 or Y=2") is one: the request is not refused for this again."""
    sentence = excuse(load(*request_.split()))
    assert ILLEGAL[request_] in sentence
    assert "\n" not in sentence
    assert 15 < len(sentence) < 250
    assert not sentence.endswith(".")
    assert not re.search(r"[{<]\w+ ?(object|class)|Error|None\b", sentence)
    reason, *advice = sentence.split(";")
    for offer in re.findall(r"(?:use|set|or) ([\w.]+=[\w.]+)", " ".join(advice)):
        assert excuse(load(*request_.split(), offer)).split(";")[0] != reason, offer


def test_a_refusal_offers_ways_out_as_overrides_to_copy():
    sentence = excuse(load("arch=t5", "position=learned", "size.positions=64", "context=1000"))
    assert re.findall(r"(?:use|set|or) ([\w.]+=[\w.]+)", sentence) == ["context=70", "size.positions=901"]


LEGAL = {
    "t5": load("arch=t5", "attention=sliding_window", "position=relative_bias"),
    "bert": load("arch=bert", "attention=strided", "position=sinusoidal", "match=none"),
    "gpt": load("arch=gpt", "attention=gqa", "position=learned", "match=flops"),
}


def with_value(tree, path, value):
    """A copy of ``tree`` with ``value`` at ``path``, where there is such a place."""
    if not isinstance(tree, dict) or path[0] not in tree:
        return tree
    return {**tree, path[0]: with_value(tree[path[0]], path[1:], value) if len(path) > 1 else value}


@given(
    arch=st.sampled_from(sorted(LEGAL)),
    key=st.sampled_from([key for _, _, keys in values._RULES for key in keys]),
    value=st.one_of(
        st.integers(-9, 9), st.floats(allow_nan=False), st.text(max_size=5), st.none(), st.booleans()
    ),
)
@settings(max_examples=500, deadline=None, derandomize=True)
def test_whatever_the_value_of_a_key_the_request_is_planned_or_refused_and_never_crashes(arch, key, value):
    config = with_value(LEGAL[arch], key.split("."), value)
    sentence = excuse(config)
    assert "\n" not in sentence


@pytest.mark.parametrize(
    "arch", ["gpt", "bert", "t5", "prefix_lm", "gpt2", "bert_original", "t5_original", "transformer_2017"]
)
def test_the_plan_knows_without_torch_what_the_model_can_do(arch):
    plan = make_plan(load(f"arch={arch}", "size=nano", "match=none"))
    assert capabilities(plan.config["arch"]) == build(plan, device="meta").capabilities


def test_the_activations_that_a_plan_allows_are_those_that_exist():
    assert set(values.ACTIVATIONS) == set(ACTIVATIONS)
