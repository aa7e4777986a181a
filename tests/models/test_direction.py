"""Who can influence whom, by changing one token at a time, on built models.

Output i depends on input j exactly where a path of visible pairs leads from j to i in as many steps as there
are layers: so for every rule, padding and packing, and both ways.
"""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from zoo.blocks.masks import EVERYTHING, NotPadding, Past, SameDocument

LENGTH, VOCAB = 13, 50
ATTENTIONS = {
    "full": lambda i, j: True,
    "gqa": lambda i, j: True,
    "mqa": lambda i, j: True,
    "qk_norm": lambda i, j: True,
    "sliding_window": lambda i, j: abs(i - j) < 3,
    "strided": lambda i, j: abs(i - j) < 4 or (i - j) % 4 == 0,
    "block_sparse": lambda i, j: i // 3 == j // 3 or j % 3 == 2,
}
POSITIONS = ["none", "sinusoidal", "learned", "rotary", "relative_bias", "alibi"]
PUBLISHED = {"gpt2": "gpt", "bert_original": "bert", "t5_original": "t5", "transformer_2017": "t5"}
thorough = settings(max_examples=8, deadline=None, derandomize=True)


def tokens(seed, length=LENGTH):
    return torch.randint(0, VOCAB, (1, length), generator=torch.Generator().manual_seed(seed))


def influence(function, row):
    """(outputs, inputs): whether changing input j changes output i; all changes in one batch."""
    length = row.shape[1]
    changed = row.repeat(length + 1, 1)
    for j in range(length):
        changed[j + 1, j] = (changed[j + 1, j] + 1) % VOCAB
    with torch.no_grad():
        out = function(changed)
    return ((out[1:] - out[:1]).abs().amax(-1) > 1e-12).T


def reach(sees, layers, length=LENGTH):
    """Where a path of at most ``layers`` visible pairs leads; every residual stream also keeps its own."""
    step = torch.tensor([[i == j or bool(sees(i, j)) for j in range(length)] for i in range(length)]).double()
    return torch.linalg.matrix_power(step, layers) > 0


def check_one_stack(model, sees, causal, row):
    layers = (model.encoder or model.decoder).layers
    expected = reach(lambda i, j: sees(i, j) and (j <= i or not causal), layers)
    assert torch.equal(influence(model, row), expected)


def check_two_stacks(model, sees, row, target):
    encoder = reach(sees, model.encoder.layers)
    decoder = reach(lambda i, j: sees(i, j) and j <= i, model.decoder.layers)
    assert torch.equal(influence(model.encode, row), encoder)
    assert torch.equal(influence(lambda x: model(row.expand(len(x), -1), x), target), decoder)
    assert influence(lambda x: model(x, target.expand(len(x), -1)), row).all()


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("attention", ATTENTIONS)
@pytest.mark.parametrize("arch", ["gpt", "bert", "t5"])
def test_the_trio_looks_the_way_it_should_whatever_the_attention_and_positions(
    make, arch, attention, position
):
    model, sees = make(arch, attention=attention, position=position), ATTENTIONS[attention]
    if arch == "t5":
        check_two_stacks(model, sees, tokens(0), tokens(1))
    else:
        check_one_stack(model, sees, arch == "gpt", tokens(0))
    if attention in ("full", "gqa", "mqa", "qk_norm"):  # the same in plain words
        seen = influence(model, tokens(0)) if arch != "t5" else influence(model.encode, tokens(0))
        assert torch.equal(
            seen, torch.ones(13, 13).tril().bool() if arch == "gpt" else torch.ones(13, 13).bool()
        )


@pytest.mark.parametrize("arch", PUBLISHED)
def test_the_published_recipes_look_the_same_way(make, arch):
    model, sees = make(arch), ATTENTIONS["full"]
    if PUBLISHED[arch] == "t5":
        check_two_stacks(model, sees, tokens(0), tokens(1))
    else:
        check_one_stack(model, sees, PUBLISHED[arch] == "gpt", tokens(0))


@pytest.mark.parametrize("arch", ["gpt", "bert", "t5"])
def test_gradients_agree_with_what_changes_show(make, arch):
    """d output i / d embedding j is exactly zero where the model must not look, and nowhere else."""
    model, row = make(arch), tokens(0)
    embedded = []
    model.embedding.register_forward_hook(lambda module, given, out: embedded.append(out.requires_grad_()))
    out = model(row, tokens(1)) if arch == "t5" else model(row)
    for i in range(LENGTH):
        gradients = torch.autograd.grad(out[0, i].sum(), embedded, retain_graph=True)
        seen = [gradient[0].abs().amax(-1) != 0 for gradient in gradients]
        past = torch.arange(LENGTH) <= i
        everything = torch.ones(LENGTH, dtype=torch.bool)
        expected = {"gpt": [past], "bert": [everything], "t5": [everything, past]}[arch]
        assert all(torch.equal(*pair) for pair in zip(seen, expected, strict=True))


@pytest.mark.parametrize("attention", ATTENTIONS)
@pytest.mark.parametrize("arch", ["gpt", "bert"])
@given(seed=st.integers(0, 1000), start=st.integers(0, 6), end=st.integers(7, LENGTH), cut=st.integers(1, 12))
@thorough
def test_padding_and_other_documents_reach_nothing(make, arch, attention, seed, start, end, cut):
    """Padding on either side, and a document that ends at any place."""
    model, slots = make(arch, attention=attention), torch.arange(LENGTH)
    real, document = ((slots >= start) & (slots < end))[None], (slots >= cut).long()[None]
    for rule, also in [
        (NotPadding(real), lambda i, j: real[0, j]),
        (SameDocument(document), lambda i, j: document[0, i] == document[0, j]),
        (
            SameDocument(document) & NotPadding(real),
            lambda i, j: real[0, j] and document[0, i] == document[0, j],
        ),
    ]:
        rows = widen(rule, LENGTH + 1)
        expected = reach(
            lambda i, j, also=also: ATTENTIONS[attention](i, j) and also(i, j) and (j <= i or arch == "bert"),
            (model.encoder or model.decoder).layers,
        )
        assert torch.equal(influence(lambda x, rows=rows: model(x, rule=rows), tokens(seed)), expected)


def widen(rule, batch):
    """The rule for ``batch`` equal rows."""
    if isinstance(rule, NotPadding):
        return NotPadding(rule.real.expand(batch, -1))
    if isinstance(rule, SameDocument):
        return SameDocument(rule.documents.expand(batch, -1))
    wide = EVERYTHING
    for part in rule.rules:
        wide = wide & widen(part, batch)
    return wide


@pytest.mark.parametrize("position", POSITIONS)
@given(seed=st.integers(0, 1000), end=st.integers(1, LENGTH))
@thorough
def test_the_encoders_padding_reaches_neither_its_states_nor_the_decoder(make, position, seed, end):
    model, row, target = make("t5", position=position), tokens(seed), tokens(seed + 1)
    real = torch.arange(LENGTH)[None] < end

    def read(x):
        rule = NotPadding(real.expand(len(x), -1))
        return model(x, target.expand(len(x), -1), rule=rule, memory_rule=rule)

    seen = influence(read, row)
    assert torch.equal(seen, real.expand_as(seen))
    with torch.no_grad():
        cut = model(row[:, :end], target)
        padded = model(row, target, rule=NotPadding(real), memory_rule=NotPadding(real))
    torch.testing.assert_close(padded, cut, atol=1e-8, rtol=1e-8)


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("attention", [name for name in ATTENTIONS if name != "block_sparse"])
@pytest.mark.parametrize("arch", ["gpt", "bert"])
def test_documents_packed_into_a_row_and_rows_padded_left_read_as_if_each_stood_alone(
    make, arch, attention, position
):
    """With positions that start again.  Block-sparse attention counts its blocks from the row's start."""
    model = make(arch, attention=attention, position=position)
    pieces = [tokens(seed, length) for seed, length in ((0, 5), (1, 7), (2, 1), (3, 3))]
    where = torch.cat([torch.arange(piece.shape[1]) for piece in pieces])[None]
    document = torch.cat([torch.full_like(piece, n) for n, piece in enumerate(pieces)], dim=1)
    with torch.no_grad():
        alone = [model(piece) for piece in pieces]
        packed = model(torch.cat(pieces, dim=1), rule=SameDocument(document), positions=where)
        torch.testing.assert_close(packed, torch.cat(alone, dim=1), atol=1e-4, rtol=1e-4)
        left = torch.cat([torch.nn.functional.pad(piece, (7 - piece.shape[1], 0)) for piece in pieces])
        real = torch.arange(7) >= torch.tensor([[7 - piece.shape[1]] for piece in pieces])
        positions = (real.cumsum(1) - 1).clamp(min=0)
        padded = model(left, rule=NotPadding(real), positions=positions)
    for piece, expected, got in zip(pieces, alone, padded, strict=True):
        torch.testing.assert_close(got[-piece.shape[1] :], expected[0], atol=1e-4, rtol=1e-4)


def given_first(prefix):
    """Read with the first ``prefix`` slots given."""
    return lambda model, **more: lambda x: model(x, prefix=torch.tensor([prefix]), **more)


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("attention", ATTENTIONS)
@given(prefix=st.integers(0, LENGTH), seed=st.integers(0, 1000))
@settings(thorough, max_examples=4)
def test_a_prefix_is_seen_both_ways_and_what_follows_it_from_the_left_only(
    make, attention, position, prefix, seed
):
    model, sees = make("prefix_lm", attention=attention, position=position), ATTENTIONS[attention]
    found = influence(given_first(prefix)(model), tokens(seed))
    layers = model.decoder.layers
    assert torch.equal(found, reach(lambda i, j: sees(i, j) and (j <= i or j < prefix), layers))
    slots = torch.arange(LENGTH)
    later, target = slots > slots[:, None], slots >= prefix
    assert not found[later & target].any()  # whatever the attention, nothing to come is seen
    if attention in ("full", "gqa", "mqa", "qk_norm"):
        assert found[:prefix, :prefix].all()  # and all that is given


@pytest.mark.parametrize("attention", ATTENTIONS)
@given(
    prefix=st.integers(0, LENGTH),
    start=st.integers(0, 6),
    end=st.integers(7, LENGTH),
    seed=st.integers(0, 1000),
)
@thorough
def test_a_prefix_with_padding_on_either_side_shows_its_real_tokens_only(
    make, attention, prefix, start, end, seed
):
    model, slots = make("prefix_lm", attention=attention), torch.arange(LENGTH)
    real = ((slots >= start) & (slots < end))[None]
    read = given_first(prefix)(model, rule=NotPadding(real.expand(LENGTH + 1, -1)))
    expected = reach(
        lambda i, j: ATTENTIONS[attention](i, j) and real[0, j] and (j <= i or j < prefix),
        model.decoder.layers,
    )
    assert torch.equal(influence(read, tokens(seed)), expected)


def test_rows_of_one_batch_have_prefixes_of_their_own(make):
    model, rows = make("prefix_lm"), torch.cat([tokens(seed) for seed in range(4)])
    prefix = torch.tensor([1, 4, 9, LENGTH])
    with torch.no_grad():
        together = model(rows, prefix=prefix)
        alone = [model(row[None], prefix=length[None]) for row, length in zip(rows, prefix, strict=True)]
    torch.testing.assert_close(together, torch.cat(alone), atol=1e-9, rtol=1e-9)


@pytest.mark.parametrize("position", POSITIONS)
def test_states_are_read_both_ways_and_padding_changes_none(make, position):
    model, row = make("prefix_lm", position=position), tokens(0)
    assert influence(model.states, row).all()
    real = torch.arange(LENGTH)[None] < 8
    with torch.no_grad():
        padded = model.states(row, rule=NotPadding(real))[:, :8]
        torch.testing.assert_close(padded, model.states(row[:, :8]), atol=1e-9, rtol=1e-9)


def test_gpt_and_the_prefix_lm_are_one_model_but_for_the_rule(make):
    """The same weights: with nothing given a prefix LM is a GPT, and a GPT does not care what is given."""
    gpt, prefix_lm, row = make("gpt"), make("prefix_lm"), tokens(0)
    prefix_lm.load_state_dict(gpt.state_dict())
    with torch.no_grad():
        expected = gpt(row)
        torch.testing.assert_close(prefix_lm(row, prefix=torch.tensor([1])), expected)
        assert torch.equal(gpt(row, prefix=torch.tensor([9])), expected)
        assert (prefix_lm(row, prefix=torch.tensor([9])) - expected).abs().max() > 0.01
        prefix_lm.decoder.sees = Past()
        assert torch.equal(prefix_lm(row), expected)


@pytest.mark.parametrize("attention", ["full", "sliding_window"])
def test_without_a_stated_prefix_nothing_is_computed(make, attention):
    model, row = make("prefix_lm", attention=attention), tokens(0)
    for read in (model, model.decode):
        with pytest.raises(ValueError, match="say how many slots of each row it has"):
            read(row)


@pytest.mark.parametrize(
    ("arch", "both_ways"),
    [("gpt", [False]), ("prefix_lm", [True]), ("bert", [True]), ("t5", [True, False])],
)
def test_a_relative_bias_tells_what_is_ahead_from_what_is_behind_where_both_are_seen(make, arch, both_ways):
    model, keys = make(arch, position="relative_bias"), torch.arange(11)[None]
    stacks = [stack for stack in (model.encoder, model.decoder) if stack is not None]
    for stack, differs in zip(stacks, both_ways, strict=True):
        bias = stack.position.bias(torch.tensor([[5]]), keys)[0, 0, 0]
        assert len(set(bias.tolist())) == (11 if differs else 6)
