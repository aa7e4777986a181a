"""Tied matrices, gradients for every parameter, initialisation."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from zoo.blocks import Attention, Block, Embedding
from zoo.config import load
from zoo.models import build
from zoo.plan import make_plan

ARCHS = [
    "gpt", "bert", "t5", "prefix_lm", "transformer_2017", "gpt1", "gpt2", "gpt3", "llama", "bert_original", "roberta",
    "albert", "modernbert", "t5_original", "mt5", "bart",
]  # fmt: skip
VOCAB = 50
GIVEN = torch.tensor([7])  # what it means is a prefix LM's business alone


def tokens(seed, length=12):
    return torch.randint(0, VOCAB, (4, length), generator=torch.Generator().manual_seed(seed))


def read(model, row, other):
    return model(row, other) if model.encoder and model.decoder else model(row, prefix=GIVEN)


def states_of(model):
    """Of every token and segment there is, so that each row of each table is read."""
    row = torch.cat(
        [tokens(0), torch.arange(48).view(4, 12), torch.full((4, 1), 48), torch.full((4, 1), 49)], dim=1
    )
    row = row[:, -16:]
    if model.encoder is None or model.decoder is None:
        kinds = getattr(model.embedding.segments, "num_embeddings", 2)
        segments = ((torch.arange(row.shape[1]) > 5).long() % kinds).expand_as(row)
        return model(row, prefix=GIVEN) if model.encoder is None else model(row, segments=segments)
    return model(row, row.flip(1))


def loss_of(model):
    states = states_of(model)
    total = F.cross_entropy(model.logits(states).flatten(0, 1), tokens(5, states.shape[1]).flatten())
    if model.next_sentence is not None:
        total = total + F.cross_entropy(model.next_sentence(states), torch.tensor([0, 1, 0, 1]))
    return total


TIED = [arch for arch in ARCHS if arch not in ("llama", "mt5")]


@pytest.mark.parametrize("arch", TIED)
def test_the_tied_matrix_is_one_parameter_under_one_name(make, arch):
    model = make(arch)
    matrices = [
        name for name, tensor in model.state_dict().items() if len(tensor) == VOCAB and tensor.dim() == 2
    ]
    assert matrices == ["embedding.tokens.weight"]
    storages = [tensor.data_ptr() for tensor in model.state_dict().values()]
    assert len(set(storages)) == len(storages)
    named = list(model.named_parameters(remove_duplicate=False))
    assert len({id(parameter) for _, parameter in named}) == len(named)
    in_optimizer = torch.optim.AdamW(model.parameters()).param_groups[0]["params"]
    assert sum(parameter is model.embedding.tokens.weight for parameter in in_optimizer) == 1


@pytest.mark.parametrize("arch", TIED)
def test_the_tied_matrix_gets_the_sum_of_both_uses_gradients(make, arch):
    model, labels = make(arch), tokens(5).flatten()
    table = model.embedding.tokens.weight

    def gradient(of_embedding, of_head):
        states = read(model, tokens(0), tokens(1))
        states = states if of_embedding else states.detach()
        logits = F.linear(*model.head(states, table if of_head else table.detach()))
        return torch.autograd.grad(F.cross_entropy(logits.flatten(0, 1), labels), table)[0]

    both, embedding, head = gradient(True, True), gradient(True, False), gradient(False, True)
    torch.testing.assert_close(both, embedding + head, atol=1e-10, rtol=1e-8)
    assert embedding.abs().max() > 0
    assert head.abs().max() > 0
    states = read(model, tokens(0), tokens(1))
    through_model = F.cross_entropy(model.logits(states).flatten(0, 1), labels)
    torch.testing.assert_close(torch.autograd.grad(through_model, table)[0], both)


@pytest.mark.parametrize("attention", ["full", "mqa", "qk_norm", "sliding_window"])
@pytest.mark.parametrize("arch", ARCHS)
def test_every_parameter_gets_a_gradient(make, arch, attention):
    model = make(arch, attention=attention)
    loss_of(model).backward()
    without = [
        name
        for name, parameter in model.named_parameters()
        if parameter.grad is None or not parameter.grad.any()
    ]
    assert without == []


@pytest.mark.parametrize("position", ["none", "sinusoidal", "learned", "rotary", "relative_bias", "alibi"])
@pytest.mark.parametrize("arch", ["gpt", "bert", "t5", "prefix_lm"])
def test_every_position_schemes_parameters_get_a_gradient_in_every_row_that_was_read(make, arch, position):
    model = make(arch, position=position)
    loss_of(model).backward()
    for stack in filter(None, (model.encoder, model.decoder)):
        for name, parameter in stack.position.named_parameters():
            assert parameter.grad.any(dim=1).sum() >= 12, name


OWN_HEAD = [
    (arch, "arch.head.tied=false")
    for arch in ARCHS
    if arch not in ("bert_original", "roberta", "albert", "modernbert")
]  # whose head is always tied


@pytest.mark.parametrize(("arch", "head"), [*((arch, "seed=0") for arch in ARCHS), *OWN_HEAD])
def test_every_parameter_is_initialised_and_the_seed_alone_decides(arch, head):
    """Memory that no initialisation wrote is filled with NaN here."""
    more = ("size=nano", "match=none", "ffn=swiglu", "position=relative_bias", head)
    plan = make_plan(load(f"arch={arch}", *more))
    torch.use_deterministic_algorithms(True)
    try:
        state = torch.get_rng_state()
        first, second, other = (build(plan, seed=seed) for seed in (1, 1, 2))
        assert torch.equal(torch.get_rng_state(), state)
    finally:
        torch.use_deterministic_algorithms(False)
    for (name, a), b, c in zip(
        first.named_parameters(), second.parameters(), other.parameters(), strict=True
    ):
        assert a.isfinite().all(), name
        assert torch.equal(a, b), name
        assert a.dim() == 1 or not torch.equal(a, c), name
        assert a.dim() == 1 or 0.001 < a.std() < 1.1, name


@pytest.mark.parametrize(
    ("arch", "lowest", "highest"),
    [("gpt", 0.9, 1.2), ("bert", 0.9, 1.2), ("t5", 0.9, 1.2), ("gpt2", 0.9, 1.1), ("t5_original", 0.9, 1.6)],
)
def test_an_untrained_model_guesses_nearly_evenly(arch, lowest, highest):
    """Its loss is about log V: no initialisation makes it sure of anything (a tied table a little, where its rows are
    long: a state begins near its own token's)."""
    model = build(make_plan(load(f"arch={arch}", "size=tiny", "match=none"), 1000), seed=0).eval()
    row = torch.randint(0, 1000, (2, 64), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        states = read(model, row, row)
        labels = torch.randint(0, 1000, (128,), generator=torch.Generator().manual_seed(1))
        loss = F.cross_entropy(model.logits(states).flatten(0, 1), labels)
    even = torch.log(torch.tensor(1000.0))
    assert lowest < loss / even < highest


def test_gpt2_scales_what_enters_the_residual_stream_by_the_number_of_additions():
    model = build(make_plan(load("arch=gpt2", "size=small", "match=none")), seed=0)
    outputs = [p for name, p in model.named_parameters() if name.endswith("output.weight")]
    others = [p for name, p in model.named_parameters() if name.endswith(("query.weight", "input.weight"))]
    assert len(outputs) == 12
    for parameter in outputs:
        assert parameter.std().item() == pytest.approx(0.02 / 12**0.5, rel=0.03)
    for parameter in others:
        assert parameter.std().item() == pytest.approx(0.02, rel=0.03)
    assert all(not m.bias.any() for m in model.modules() if isinstance(m, nn.Linear))


@pytest.mark.parametrize("arch", ARCHS)
def test_on_the_meta_device_a_model_has_the_same_shapes_without_numbers(arch):
    plan = make_plan(load(f"arch={arch}", "size=nano", "match=none"))
    meta, real = build(plan, device="meta"), build(plan)
    assert {n: p.shape for n, p in meta.named_parameters()} == {
        n: p.shape for n, p in real.named_parameters()
    }
    assert all(tensor.is_meta for tensor in (*meta.parameters(), *meta.buffers()))
    assert isinstance(meta.embedding, Embedding)


@pytest.mark.parametrize(("attention", "shared"), [("full", 1), ("gqa", 2), ("mqa", 4)])
@pytest.mark.parametrize("arch", ["gpt", "bert", "t5"])
def test_the_matched_recipe_starts_by_copying_and_keeps_every_products_scale(arch, attention, shared):
    model = build(make_plan(load(f"arch={arch}", f"attention={attention}", "match=none"), 500), seed=0)
    tokens = torch.randint(0, 500, (4, 64), generator=torch.Generator().manual_seed(0))
    x = model.embedding(tokens)
    assert x.std().item() == pytest.approx(1, rel=0.05)
    across = {id(module.cross) for module in model.modules() if isinstance(module, Block)}
    mixers = [module for module in model.modules() if isinstance(module, Attention)]
    assert len(mixers) == (6 if arch == "t5" else 4)
    for mixer in mixers:
        q = mixer.query(x).unflatten(-1, (mixer.heads, mixer.d_head))
        k, v = (
            part.unflatten(-1, (mixer.kv_heads, mixer.d_head)) for part in mixer.key_value(x).chunk(2, dim=-1)
        )
        assert all(part.std().item() == pytest.approx(1, rel=0.1) for part in (q, k, v))
        if id(mixer) in across:  # like finds like
            torch.testing.assert_close(k, q[:, :, ::shared])
        else:
            assert torch.corrcoef(torch.stack((k.flatten(), q[:, :, ::shared].flatten())))[0, 1].abs() < 0.3
        copied = mixer.output(
            v.repeat_interleave(shared, dim=2).flatten(2)
        )  # each token attends to itself alone
        likeness = F.cosine_similarity(copied, x, dim=-1)
        others = F.cosine_similarity(copied, x.roll(1, dims=1), dim=-1)
        assert likeness.mean() > 0.4 > 0.2 > others.mean().abs()
        assert (likeness > others).float().mean() > 0.99
