"""With a cache, token by token or in chunks, a decoder computes what it computes in one piece."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from zoo.blocks.masks import NotPadding
from zoo.generation.cache import Cache

LENGTH, VOCAB = 11, 50
POSITIONS = ["none", "sinusoidal", "learned", "rotary", "relative_bias", "alibi"]
ATTENTIONS = ["full", "gqa", "mqa", "qk_norm", "sliding_window", "strided", "block_sparse"]
thorough = settings(max_examples=20, deadline=None, derandomize=True)


def tokens(seed, length=LENGTH):
    return torch.randint(0, VOCAB, (3, length), generator=torch.Generator().manual_seed(seed))


def left_padding(starts):
    real = torch.arange(LENGTH) >= torch.tensor(starts)[:, None]
    return real, (real.cumsum(1) - 1).clamp(min=0)


def in_chunks(model, row, cuts, *, positions=None, **surroundings):
    """The states of ``row``, read with a cache in chunks of ``cuts`` tokens, then one by one."""
    cache, parts, start = Cache(model.decoder.layers), [], 0
    while start < row.shape[1]:
        end = min(start + (cuts[len(parts)] if len(parts) < len(cuts) else 1), row.shape[1])
        known = None if positions is None else positions[:, :end]
        parts.append(model.decode(row[:, start:end], positions=known, cache=cache, **surroundings))
        assert cache.length == end
        start = end
    return torch.cat(parts, dim=1)


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("attention", ATTENTIONS)
def test_gpt_reads_token_by_token_what_it_reads_in_one_piece(make, attention, position):
    model, row = make("gpt", attention=attention, position=position), tokens(0)
    with torch.no_grad():
        torch.testing.assert_close(in_chunks(model, row, []), model(row), atol=1e-9, rtol=1e-9)


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("attention", ATTENTIONS)
def test_t5_writes_token_by_token_what_it_reads_in_one_piece(make, attention, position):
    """The memory's padding stays hidden, and the decoder's own rule never reaches cross-attention."""
    model, source, row = make("t5", attention=attention, position=position), tokens(0, 9), tokens(1)
    real = torch.arange(9) < torch.tensor([[9], [4], [1]])
    rule = NotPadding(real)
    with torch.no_grad():
        memory = model.encode(source, rule=rule)
        stepped = in_chunks(model, row, [], memory=memory, memory_rule=rule)
        whole = model(source, row, rule=rule, memory_rule=rule)
    torch.testing.assert_close(stepped, whole, atol=1e-9, rtol=1e-9)


@pytest.mark.parametrize("arch", ["gpt", "gpt2", "t5", "t5_original", "transformer_2017"])
@given(
    cuts=st.lists(st.integers(1, 5), max_size=4),
    starts=st.lists(st.integers(0, LENGTH - 1), min_size=3, max_size=3),
    padded=st.booleans(),
    seed=st.integers(0, 100),
)
@thorough
def test_any_chunks_and_left_padding_give_the_same_as_one_piece(make, arch, cuts, starts, padded, seed):
    model, row, more = make(arch), tokens(seed), {}
    real, positions = left_padding(starts)
    with torch.no_grad():
        if model.encoder is not None:
            more = {"memory": model.encode(tokens(seed + 1, 6))}
        if padded:
            more = {**more, "rule": NotPadding(real), "positions": positions}
        whole = model.decode(row, **more)
        stepped = in_chunks(model, row, cuts, **more)
    torch.testing.assert_close(stepped, whole, atol=1e-9, rtol=1e-9)


@pytest.mark.parametrize("cuts", [[], [1, 100], [70, 5], [64, 64, 64]], ids=str)
def test_a_cache_has_room_for_long_rows(make, cuts):
    model, row = make("gpt"), tokens(0, 200)
    with torch.no_grad():
        torch.testing.assert_close(in_chunks(model, row, cuts), model(row), atol=1e-9, rtol=1e-9)


def test_the_memory_is_projected_once_for_all_steps(make):
    model = make("t5")
    memory = model.encode(tokens(0))
    computed = []
    for layer in model.decoder.blocks:
        layer.cross.key_value.register_forward_hook(lambda *_: computed.append(1))
    with torch.no_grad():
        in_chunks(model, tokens(1), [], memory=memory)
    assert len(computed) == len(model.decoder.blocks)


def test_shared_blocks_keep_a_cache_per_layer(make):
    model, row = make("gpt"), tokens(0)
    del model.decoder.blocks[1:]
    with torch.no_grad():
        torch.testing.assert_close(in_chunks(model, row, [3]), model(row), atol=1e-9, rtol=1e-9)
    assert model.decoder.layers == 4


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("attention", ATTENTIONS)
def test_a_prefix_lm_writes_token_by_token_what_it_reads_in_one_piece(make, attention, position):
    model, row = make("prefix_lm", attention=attention, position=position), tokens(0)
    prefix = torch.tensor([5])
    with torch.no_grad():
        stepped = in_chunks(model, row, [5], prefix=prefix)
        torch.testing.assert_close(stepped, model(row, prefix=prefix), atol=1e-9, rtol=1e-9)


@given(
    first=st.integers(1, LENGTH), cuts=st.lists(st.integers(1, 5), max_size=3), padded=st.booleans(),
    starts=st.lists(st.integers(0, LENGTH - 1), min_size=3, max_size=3), seed=st.integers(0, 100), data=st.data(),
)  # fmt: skip
@thorough
def test_whatever_follows_a_prefix_in_any_chunks_and_left_padding(
    make, first, cuts, padded, starts, seed, data
):
    """The prefixes of the rows, of any lengths, are all in the first chunk."""
    model, row = make("prefix_lm"), tokens(seed)
    more = {"prefix": torch.tensor(data.draw(st.lists(st.integers(0, first), min_size=3, max_size=3)))}
    real, positions = left_padding(starts)
    if padded:
        more = {**more, "rule": NotPadding(real), "positions": positions}
    with torch.no_grad():
        whole, stepped = model.decode(row, **more), in_chunks(model, row, [first, *cuts], **more)
    torch.testing.assert_close(stepped, whole, atol=1e-9, rtol=1e-9)


def test_a_prefix_is_never_read_into_a_cache_in_pieces(make):
    """Its first slots could not see the rest of it."""
    with pytest.raises(ValueError, match="read at once"):
        in_chunks(make("prefix_lm"), tokens(0), [4], prefix=torch.tensor([5]))
    in_chunks(make("gpt"), tokens(0), [4], prefix=torch.tensor([5]))
