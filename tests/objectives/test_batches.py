"""Order and noise: new every epoch, the same after a resume, fixed in validation, independent of how work is split."""

import numpy as np
import pytest
import torch

from zoo.data.stream import Stream
from zoo.errors import UserError
from zoo.objectives import CausalLM, MaskedDiffusion, MaskedLM, PrefixLM, SpanCorruption
from zoo.training.loader import Reader, TrainingBatches, evaluation_batches

OBJECTIVES = [CausalLM(), MaskedLM(), MaskedDiffusion(), SpanCorruption(), PrefixLM()]
by_name = pytest.mark.parametrize("objective", OBJECTIVES, ids=lambda objective: objective.name)


@pytest.fixture
def stream(tokenizer):
    rng = np.random.default_rng(0)
    tokens = rng.integers(80, 300, 2000).astype(np.uint16)
    documents = np.arange(0, 2001, 50)
    tokens[documents[1:] - 1] = tokenizer.eos
    return Stream(tokens, documents, np.arange(0, 2000, 10))


def batches(stream, tokenizer, objective, **changes):
    settings = {"batch_size": 8, "updates": 40, "seed": 3} | changes
    return TrainingBatches(Reader(stream, tokenizer, objective, context=20), **settings)


def same(a, b):
    names = ("inputs", "labels", "where", "weights", "targets", "prefix", "segments", "next_sentence")
    return all(
        (x is None and y is None) or (x is not None and y is not None and torch.equal(x, y))
        for x, y in ((getattr(a, name), getattr(b, name)) for name in names)
    )


@by_name
def test_the_same_seed_gives_the_same_batches_and_another_one_others(stream, tokenizer, objective):
    first, again = (list(batches(stream, tokenizer, objective)) for _ in range(2))
    assert all(same(a, b) for a, b in zip(first, again, strict=True))
    other = list(batches(stream, tokenizer, objective, seed=4))
    assert not any(same(a, b) for a, b in zip(first, other, strict=True))


@by_name
def test_starting_later_gives_the_rest(stream, tokenizer, objective):
    whole = list(batches(stream, tokenizer, objective, micro_batches=2))
    late = batches(stream, tokenizer, objective, micro_batches=2)
    late.first = 13
    assert all(same(a, b) for a, b in zip(whole[13:], late, strict=True))


@by_name
def test_each_epoch_reads_every_row_once_in_another_order(stream, tokenizer, objective):
    """What is left over by the rows' grid moves with its shift, so no token is never seen."""
    loader = batches(stream, tokenizer, objective)
    starts = [[loader._start(epoch, number) for number in range(loader.rows)] for epoch in range(30)]
    grids = [np.sort(epoch) for epoch in starts]
    assert all((np.diff(grid) == 20).all() for grid in grids)
    assert len({tuple(epoch) for epoch in starts}) == 30
    seen = np.zeros(len(stream), dtype=bool)
    for epoch in starts:
        for start in epoch:
            seen[start : start + 21] = True
    assert seen.all()


@pytest.mark.parametrize("objective", OBJECTIVES[1:], ids=lambda objective: objective.name)
def test_the_same_rows_get_new_noise(stream, tokenizer, objective):
    reader = Reader(stream, tokenizer, objective, context=20)
    starts = np.arange(0, 160, 20)
    one, two = (reader.read(starts, np.random.default_rng((0, 1, update))) for update in (0, 1))
    assert not same(one.tensors(), two.tensors())


@by_name
@pytest.mark.parametrize(("ranks", "pieces"), [(1, 2), (2, 1), (2, 2), (4, 2)])
def test_ranks_and_micro_batches_share_out_the_very_same_rows(stream, tokenizer, objective, ranks, pieces):
    whole = list(batches(stream, tokenizer, objective))
    shares = [
        list(batches(stream, tokenizer, objective, micro_batches=pieces, rank=rank, ranks=ranks))
        for rank in range(ranks)
    ]
    for update, batch in enumerate(whole):
        parts = [part for share in shares for part in share[update * pieces : (update + 1) * pieces]]
        assert torch.equal(torch.cat([part.inputs for part in parts]), batch.inputs)
        assert torch.equal(torch.cat([part.labels for part in parts]), batch.labels)
        assert {part.update_labels for part in parts} == {batch.update_labels}
        assert sum(float(part.weight) for part in parts) == pytest.approx(batch.update_labels)
        assert sum(part.source_tokens for part in parts) == batch.source_tokens


@by_name
def test_evaluation_is_the_same_for_every_run(stream, tokenizer, objective):
    reader = Reader(stream, tokenizer, objective, context=20)
    one, two = (evaluation_batches(reader, rows=30, batch_size=8) for _ in range(2))
    assert all(same(a, b) for a, b in zip(one, two, strict=True))
    assert sum(len(batch.inputs) for batch in one) == 30


def test_full_evaluation_covers_every_token_once(stream, tokenizer):
    """nanoGPT's full validation: non-overlapping blocks, each token but the first predicted once."""
    reader = Reader(stream, tokenizer, CausalLM(), context=20)
    found = torch.cat([batch.labels for batch in evaluation_batches(reader, rows=None, batch_size=8)])
    assert torch.equal(found, torch.from_numpy(stream.tokens[1:1981].astype(np.int64)))


def test_labels_of_causal_lm_are_the_next_tokens_and_documents_are_numbered(stream, tokenizer):
    reader = Reader(stream, tokenizer, CausalLM(documents=True), context=20)
    batch = reader.read(np.array([0, 35, 990]), np.random.default_rng(0))
    assert (batch.labels.reshape(3, 20)[:, :-1] == batch.inputs[:, 1:]).all()
    assert batch.documents[1].tolist() == [0] * 15 + [1] * 5


def test_a_text_shorter_than_a_row_is_refused(tokenizer):
    short = Stream(np.arange(20, dtype=np.uint16), np.array([0, 20]), np.array([0]))
    with pytest.raises(UserError, match=r"20 tokens, fewer than one row of context=20"):
        Reader(short, tokenizer, CausalLM(), context=20)
