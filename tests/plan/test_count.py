"""What the plan says of sizes and costs is what torch counts on the model that is built."""

from itertools import combinations, product

import pytest
import torch
import transformers
from torch.utils.flop_counter import FlopCounterMode

from zoo.blocks import Embedding, Learned
from zoo.config import load
from zoo.errors import UserError
from zoo.models import build
from zoo.plan import make_plan

AXES = {
    "arch": [
        "gpt", "bert", "t5", "prefix_lm", "transformer_2017", "gpt1", "gpt2", "gpt3", "llama", "bert_original",
        "roberta", "albert", "modernbert", "t5_original", "mt5", "bart",
    ],
    "attention": [
        "full", "gqa", "mqa", "qk_norm", "sliding_window", "strided", "block_sparse", "alternating", "local_global",
    ],
    "position": ["none", "sinusoidal", "learned", "rotary", "rotary_local", "relative_bias", "alibi"],
    "norm": ["pre_layernorm", "post_layernorm", "pre_rmsnorm", "post_rmsnorm"],
    "ffn": ["relu", "gelu", "gelu_tanh", "geglu", "swiglu"],
    "size": ["nano", "tiny", "small", "base"],
    "objective": ["causal_lm", "masked_lm", "masked_diffusion", "span_corruption", "prefix_lm", "text_infilling"],
}  # fmt: skip
GIVEN = ["span_corruption", "prefix_lm", "text_infilling"]  # what is read before something is written
FITS = {
    **{arch: ["causal_lm", *GIVEN] for arch in ("gpt", "gpt1", "gpt2", "gpt3", "llama")},
    **{
        arch: ["masked_lm", "masked_diffusion"]
        for arch in ("bert", "bert_original", "roberta", "albert", "modernbert")
    },
    **{arch: [*GIVEN] for arch in ("t5", "t5_original", "mt5", "bart", "transformer_2017", "prefix_lm")},
}


def legal(row):
    """Of the axes chosen so far: an architecture trains by its own objectives only."""
    return "arch" not in row or "objective" not in row or row["objective"] in FITS[row["arch"]]


def pairwise(axes, legal):
    """Rows in which every legal pair of values of two axes occurs; greedy, each row begun with a pair still open."""
    wanted = [
        frozenset({(a, x), (b, y)})
        for a, b in combinations(axes, 2)
        for x, y in product(axes[a], axes[b])
        if legal({a: x, b: y})
    ]
    still_open, rows = dict.fromkeys(wanted), []
    while still_open:
        row = dict(next(iter(still_open)))
        for axis in sorted(axes, key=lambda axis: -len(axes[axis])):
            if axis in row:
                continue
            choices = [value for value in axes[axis] if legal({**row, axis: value})]
            gain = {
                v: sum(frozenset({(axis, v), other}) in still_open for other in row.items()) for v in choices
            }
            row[axis] = max(choices, key=gain.__getitem__)
        for pair in combinations(row.items(), 2):
            still_open.pop(frozenset(pair), None)
        rows.append({axis: row[axis] for axis in axes})
    return rows


ROWS = pairwise(AXES, legal)


def overrides(row):
    return tuple(f"{axis}={value}" for axis, value in row.items())


def count(parameters):
    return sum(parameter.numel() for parameter in parameters)


def test_the_covering_set_covers_every_legal_pair_and_is_far_smaller_than_the_product():
    seen = {frozenset(pair) for row in ROWS for pair in combinations(row.items(), 2)}
    for a, b in combinations(AXES, 2):
        for x, y in product(AXES[a], AXES[b]):
            possible = (a, b) != ("arch", "objective") or y in FITS[x]
            assert (frozenset({(a, x), (b, y)}) in seen) == possible
    assert len(ROWS) < 160


@pytest.mark.parametrize("row", ROWS, ids=lambda row: "-".join(row.values()))
def test_every_pair_of_choices_composes_builds_and_has_as_many_parameters_as_planned(row):
    plan = make_plan(load(*overrides(row)))
    model = build(plan, device="meta")
    assert plan.parameters() == count(model.parameters())
    tables = [module for module in model.modules() if isinstance(module, Embedding | Learned)]
    assert plan.counted.embedding() == sum(count(table.parameters()) for table in tables)


@pytest.mark.parametrize(
    ("arch", "objective"), [(a, o) for a, o in product(FITS, AXES["objective"]) if o not in FITS[a]]
)
def test_every_other_objective_is_refused_with_those_that_fit(arch, objective):
    with pytest.raises(UserError) as refusal:
        make_plan(load(f"arch={arch}", f"objective={objective}"))
    assert any(f"objective={fit}" in str(refusal.value) for fit in FITS[arch])
    assert "\n" not in str(refusal.value)


PUBLISHED = {  # theirs at the published size, and what they have besides: rows of position tables that are never read
    "gpt1": (transformers.OpenAIGPTLMHeadModel, {}, 116_534_784, 0),
    "gpt2": (transformers.GPT2LMHeadModel, {}, 124_439_808, 0),
    "llama": (
        transformers.LlamaForCausalLM,
        {"vocab_size": 128_256, "intermediate_size": 14_336, "num_key_value_heads": 8}, 8_030_261_248, 0,
    ),
    "bert_original": (transformers.BertForPreTraining, {}, 110_106_428, 0),
    "roberta": (
        transformers.RobertaForMaskedLM, {"max_position_embeddings": 514, "type_vocab_size": 1}, 124_695_897, 2 * 768,
    ),
    "albert": (
        transformers.AlbertForPreTraining,
        {"hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072}, 11_813_810, 0,
    ),
    "modernbert": (transformers.ModernBertForMaskedLM, {}, 149_655_232, 0),
    "t5_original": (
        transformers.T5ForConditionalGeneration,
        {"d_model": 768, "d_kv": 64, "d_ff": 3072, "num_layers": 12, "num_heads": 12}, 222_903_552, 0,
    ),
    "bart": (
        transformers.BartForConditionalGeneration,
        {
            "d_model": 768, "encoder_layers": 6, "decoder_layers": 6, "encoder_attention_heads": 12,
            "decoder_attention_heads": 12, "encoder_ffn_dim": 3072, "decoder_ffn_dim": 3072,
        },
        139_417_344, 2 * 2 * 768,
    ),
}  # fmt: skip


@pytest.mark.parametrize("arch", PUBLISHED)
def test_published_recipes_at_size_base_have_the_published_number_of_parameters(arch):
    theirs, shape, published, besides = PUBLISHED[arch]
    plan = make_plan(load(f"arch={arch}", "size=base"))
    assert plan.parameters() == published
    assert count(build(plan, device="meta").parameters()) == published
    with torch.device("meta"):
        reference = theirs(theirs.config_class(**shape))
    assert count(set(reference.parameters())) == published + besides


def test_mt5_and_gpt3_are_as_large_as_published():
    """mT5-base has 580 million (Xue et al. 2021, table 1), GPT-3 Small 125 million (Brown et al. 2020, table 2.1)."""
    sizes = {arch: make_plan(load(f"arch={arch}", "size=base")).parameters() for arch in ("mt5", "gpt3")}
    assert sizes == {"mt5": 582_401_280, "gpt3": 125_226_240}


def test_the_transformer_of_2017_has_the_published_shape():
    """65 million parameters (Vaswani et al. 2017, table 3); the exact number depends on the 37,000 or so tokens."""
    plan = make_plan(load("arch=transformer_2017", "size=base"))
    assert plan.parameters() == count(build(plan, device="meta").parameters())
    assert 62e6 < plan.parameters() < 66e6


SMALL = ("context=40", "size.d_model=32", "size.layers=4", "size.heads=4", "size.d_ff=48", "match=none")
VARIANTS = [
    ("arch=gpt",), ("arch=bert",), ("arch=bert", "objective.next_sentence=false"), ("arch=t5",),
    ("arch=gpt2",), ("arch=bert_original",), ("arch=t5_original",), ("arch=transformer_2017",),
    ("arch=gpt", "attention=gqa"), ("arch=t5", "attention=mqa"), ("arch=bert", "attention=qk_norm"),
    ("arch=gpt", "ffn=swiglu"), ("arch=bert", "ffn=geglu"), ("arch=t5", "ffn=geglu", "attention=gqa"),
    ("arch=t5_original", "attention.mixer.d_head=16"), ("arch=gpt", "attention=strided"),
    ("arch=bert", "objective=masked_diffusion", "context=41"), ("arch=gpt", "arch.head.tied=false"),
    ("arch=gpt", "position=learned"), ("arch=t5", "position=alibi"),
    ("arch=prefix_lm", "context=41"), ("arch=prefix_lm", "context=25", "attention=gqa", "position=relative_bias"),
    ("arch=gpt2", "arch.decoder.sees=prefix", "objective=prefix_lm", "context=41"),
    ("arch=gpt1",), ("arch=gpt3",), ("arch=llama",), ("arch=roberta",), ("arch=albert", "arch.embedding.width=12"),
    ("arch=modernbert", "objective.rate=0.15"), ("arch=mt5",), ("arch=bart",), ("arch=bart", "arch.embedding.width=12"),
    ("arch=t5", "objective=prefix_lm", "context=41"), ("arch=gpt", "objective=span_corruption"),
    ("arch=gpt", "objective=text_infilling", "arch.embedding.width=12"),
]  # fmt: skip


@pytest.mark.parametrize("variant", VARIANTS, ids=" ".join)
def test_planned_flops_are_those_that_torch_counts_forward_and_three_times_with_backward(variant):
    """One row; the vocabulary projected at the positions in the loss only: 15 % of 40 = 6 for masked LM, (41 + 1) / 2
    for masked diffusion and prefix LM."""
    plan = make_plan(load(*SMALL, *variant), vocab=70)
    model, row = build(plan, seed=0), plan.row
    tokens, targets = (torch.randint(0, 70, (1, length)) for length in (row.inputs, max(row.targets, 1)))
    assert row.loss == int(row.loss)

    def forward():
        states = model(tokens, targets) if row.targets else model(tokens, prefix=torch.tensor([9]))
        logits = model.logits(states[:, : int(row.loss)])
        total = logits.sum()
        return total if model.next_sentence is None else total + model.next_sentence(states).sum()

    def flops(run):
        with FlopCounterMode(display=False) as counter:
            run()
        return counter.get_total_flops()

    planned = plan.counted.forward_flops(row)
    assert flops(forward) == planned
    assert flops(lambda: forward().backward()) == 3 * planned
    assert plan.flops_per_token() == pytest.approx(3 * planned / row.source)
    assert plan.counted.training_flops(row) == pytest.approx(3 * planned / row.source)


def test_a_block_of_the_users_own_is_of_unknown_size_until_it_is_built():
    config = load("match=none")
    config["ffn"] = {**config["ffn"], "_target_": "my.own.Experts"}
    plan = make_plan(config)
    assert plan.parameters() is None
    assert plan.flops_per_token() is None
    config["match"] = {"by": "params"}
    with pytest.raises(UserError, match=r"my\.own\.Experts.*match=none"):
        make_plan(config)


def test_tokens_seen_are_source_tokens_whatever_the_architecture():
    seen = {
        make_plan(load(f"arch={arch}", "steps=7", "batch_size=4", "context=128")).tokens_seen for arch in FITS
    }
    assert seen == {7 * 4 * 128}
