"""Block, stack, feed-forward, norms, embedding and heads against their formulas."""

import copy
import math
from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from zoo.blocks import (
    Attention,
    Block,
    Embedding,
    FeedForward,
    LayerNorm,
    LMHead,
    MLMHead,
    NextSentenceHead,
    RelativeBias,
    RMSNorm,
    Rotary,
    Sinusoidal,
    Stack,
    Surroundings,
)
from zoo.blocks.masks import EVERYTHING, Past

thorough = settings(max_examples=25, deadline=None, derandomize=True)
seeds = st.integers(0, 10_000)

ACTIVATIONS = {
    "relu": lambda x: max(x, 0.0),
    "gelu": lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2,
    "gelu_tanh": lambda x: x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2,
    "silu": lambda x: x / (1 + math.exp(-x)),
}


def randomised(module, seed):
    torch.manual_seed(seed)
    for parameter in module.parameters():
        nn.init.normal_(parameter)
    return module.double()


def block(**options):
    return Block(
        d_model=8,
        **{
            "mixer": partial(Attention, heads=2),
            "feed_forward": partial(FeedForward, d_ff=12),
            "norm": LayerNorm,
            **options,
        },
    )


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("gated", [False, True])
@given(seed=seeds)
@thorough
def test_a_feed_forward_network_is_its_formula(activation, gated, seed):
    network = randomised(FeedForward(d_model=3, d_ff=5, activation=activation, gated=gated), seed)
    x = torch.randn(2, 4, 3, dtype=torch.float64)

    def active(h):
        return torch.tensor([ACTIVATIONS[activation](v) for v in h.flatten().tolist()], dtype=h.dtype).view(
            h.shape
        )

    hidden = x @ network.input.weight.T + network.input.bias
    hidden = active(x @ network.gate.weight.T + network.gate.bias) * hidden if gated else active(hidden)
    torch.testing.assert_close(network(x), hidden @ network.output.weight.T + network.output.bias)


@given(seed=seeds, width=st.integers(2, 9), bias=st.booleans())
@thorough
def test_norms_are_their_formulas(seed, width, bias):
    layer, rms = (
        randomised(LayerNorm(d_model=width, bias=bias), seed),
        randomised(RMSNorm(d_model=width), seed),
    )
    x = 3 + torch.randn(2, width, dtype=torch.float64)
    for row, mean_free, scaled in zip(x, layer(x), rms(x), strict=True):
        centred = row - row.mean()
        expected = centred / (centred.pow(2).mean() + 1e-5).sqrt() * layer.weight + (
            layer.bias if bias else 0
        )
        torch.testing.assert_close(mean_free, expected)
        torch.testing.assert_close(scaled, row / (row.pow(2).mean() + 1e-6).sqrt() * rms.weight)


@given(seed=seeds, width=st.integers(2, 9))
@thorough
def test_rmsnorm_has_the_gradient_of_its_formula_in_every_precision(seed, width):
    layer = randomised(RMSNorm(d_model=width), seed)
    x = torch.randn(2, 3, width, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda x, w: torch.func.functional_call(layer, {"weight": w}, (x,)), (x, layer.weight)
    )
    exact = layer(x)
    for dtype, close in ((torch.float32, 1e-5), (torch.bfloat16, 0.05)):
        other = copy.deepcopy(layer).to(dtype)
        again = x.detach().to(dtype).requires_grad_()
        found = other(again)
        assert found.dtype == dtype
        torch.testing.assert_close(found.double(), exact, rtol=close, atol=close)
        wanted = torch.autograd.grad(exact.sum(), (x, layer.weight), retain_graph=True)
        for ours, theirs in zip(torch.autograd.grad(found.sum(), (again, other.weight)), wanted, strict=True):
            assert ours.dtype == dtype
            torch.testing.assert_close(ours.double(), theirs, rtol=close, atol=close * 3)


@pytest.mark.parametrize("placement", ["pre", "post"])
@pytest.mark.parametrize("crosses", [False, True])
@pytest.mark.parametrize("norm", [LayerNorm, RMSNorm])
@given(seed=seeds)
@thorough
def test_a_block_is_its_sublayers_each_with_residual_and_norm_where_the_placement_says(
    placement, crosses, norm, seed
):
    layer = randomised(block(placement=placement, crosses=crosses, norm=norm), seed)
    x, memory = (torch.randn(2, n, 8, dtype=torch.float64) for n in (5, 3))
    around = Surroundings(rule=Past(), memory=memory)
    steps = [
        (layer.attention_norm, lambda h: layer.attention(h, rule=Past())),
        (layer.cross_norm, lambda h: layer.cross(h, memory=memory)),
        (layer.feed_forward_norm, layer.feed_forward),
    ]
    expected = x
    for normalise, sublayer in steps if crosses else steps[::2]:
        if placement == "pre":
            expected = expected + sublayer(normalise(expected))
        else:
            expected = normalise(expected + sublayer(expected))
    torch.testing.assert_close(layer(x, around), expected)


@given(
    seed=seeds, rows=st.integers(1, 3), segments=st.integers(0, 3), scaled=st.booleans(), said=st.booleans()
)
@thorough
def test_an_embedding_is_the_tokens_row_scaled_if_asked_plus_its_segments(seed, rows, segments, scaled, said):
    table = randomised(Embedding(vocab=7, width=4, segments=segments, scaled=scaled), seed)
    tokens = torch.randint(0, 7, (rows, 5))
    which = torch.randint(0, segments, (rows, 5)) if said and segments else None
    got = table(tokens, which)
    for b in range(rows):
        for t in range(5):
            expected = table.tokens.weight[tokens[b, t]] * (2.0 if scaled else 1.0)
            if segments:
                expected = expected + table.segments.weight[0 if which is None else which[b, t]]
            torch.testing.assert_close(got[b, t], expected)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("scaled", [False, True])
def test_tied_and_scaled_are_two_choices_of_the_language_models_head(tied, scaled):
    """One flag for both has been a source of repeated regressions elsewhere."""
    head = randomised(LMHead(d_model=4, vocab=7, tied=tied, scaled=scaled), 0)
    states, table = torch.randn(3, 4, dtype=torch.float64), torch.randn(7, 4, dtype=torch.float64)
    expected = states @ (table if tied else head.weight).T * (0.5 if scaled else 1.0)
    torch.testing.assert_close(nn.functional.linear(*head(states, table)), expected)


def test_bert_heads_are_their_formulas():
    head = randomised(MLMHead(d_model=4, vocab=7, norm=LayerNorm), 0)
    states, table = torch.randn(2, 3, 4, dtype=torch.float64), torch.randn(7, 4, dtype=torch.float64)
    hidden = head.norm(nn.functional.gelu(states @ head.transform.weight.T + head.transform.bias))
    torch.testing.assert_close(nn.functional.linear(*head(states, table)), hidden @ table.T + head.bias)
    pooled = randomised(NextSentenceHead(d_model=4, pooled=True), 1)
    first = torch.tanh(states[:, 0] @ pooled.pooler.weight.T + pooled.pooler.bias)
    torch.testing.assert_close(pooled(states), first @ pooled.classifier.weight.T + pooled.classifier.bias)
    plain = randomised(NextSentenceHead(d_model=4), 2)
    torch.testing.assert_close(
        plain(states), states[:, 0] @ plain.classifier.weight.T + plain.classifier.bias
    )


def shared_and_unrolled(layers, seed, placement):
    position = Rotary(d_head=4)
    final = LayerNorm(d_model=8) if placement == "pre" else None
    options = {
        "block": partial(block, placement=placement),
        "layers": layers,
        "sees": Past(),
        "position": position,
    }
    shared = randomised(Stack(**options, shared=True, final_norm=final), seed)
    unrolled = Stack(**options, final_norm=copy.deepcopy(final)).double()
    for layer in unrolled.blocks:
        layer.load_state_dict(shared.blocks[0].state_dict())
    if final is not None:
        unrolled.final_norm.load_state_dict(shared.final_norm.state_dict())
    return shared, unrolled


@given(layers=st.integers(1, 4), seed=seeds, placement=st.sampled_from(["pre", "post"]))
@thorough
def test_shared_blocks_are_one_block_used_as_often_as_there_are_layers(layers, seed, placement):
    """The same output as copies of it, and their gradients' sum."""
    shared, unrolled = shared_and_unrolled(layers, seed, placement)
    x = torch.randn(2, 5, 8, dtype=torch.float64)
    out, expected = shared(x), unrolled(x)
    torch.testing.assert_close(out, expected)
    out.square().sum().backward()
    expected.square().sum().backward()
    for name, parameter in shared.blocks[0].named_parameters():
        copies = [dict(layer.named_parameters())[name].grad for layer in unrolled.blocks]
        total = torch.stack(copies).sum(0)
        torch.testing.assert_close(
            parameter.grad, total, atol=1e-8 * total.abs().max().item() + 1e-12, rtol=1e-8
        )
    assert len(shared.blocks) == 1
    assert len(unrolled.blocks) == layers


def test_a_stack_adds_positions_normalises_its_input_and_its_output_in_this_order():
    torch.manual_seed(0)
    x, first, last = torch.randn(2, 5, 8), LayerNorm(d_model=8), LayerNorm(d_model=8)
    nn.init.normal_(first.weight)
    nn.init.normal_(last.weight)
    scheme = Sinusoidal(d_model=8)
    stack = Stack(
        block=block, layers=1, sees=EVERYTHING, position=scheme, input_norm=first, final_norm=last
    )  # fmt: skip
    inside = stack.blocks[0](first(x + scheme.embed(torch.arange(5)[None])), Surroundings(rule=EVERYTHING))
    torch.testing.assert_close(stack(x), last(inside))


@given(layers=st.integers(1, 5), shared=st.booleans())
@thorough
def test_a_relative_bias_belongs_to_the_stack_and_is_computed_once_a_forward_pass(layers, shared):
    calls = []

    class Counted(RelativeBias):
        def bias(self, queries, keys):
            calls.append(queries.shape)
            return super().bias(queries, keys)

    scheme = Counted(heads=2, two_way=False)
    stack = Stack(block=block, layers=layers, sees=Past(), position=scheme, shared=shared)
    stack(torch.randn(3, 5, 8))
    assert calls == [(1, 5)]
    tables = [name for name, parameter in stack.named_parameters() if parameter.shape == (32, 2)]
    assert tables == ["position.table.weight"]


@given(seed=seeds, shape=st.sampled_from([Rotary, RelativeBias]))
@thorough
def test_cross_attention_knows_no_positions(seed, shape):
    """Turning the memory's slots round changes nothing: no bias and no rotation is applied to them."""
    position = shape(d_head=4, heads=2, two_way=False)
    stack = randomised(
        Stack(block=partial(block, crosses=True), layers=2, sees=Past(), position=position), seed
    )
    x, memory = (torch.randn(2, n, 8, dtype=torch.float64) for n in (5, 4))
    order = torch.randperm(4)
    torch.testing.assert_close(
        stack(x, memory=memory[:, order]), stack(x, memory=memory), atol=1e-8, rtol=1e-8
    )
