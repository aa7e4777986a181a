"""What two stacks read in two rows a decoder reads in one, and the other way round; the same labels are in the loss."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import zoo
from zoo.objectives import PrefixLM, SpanCorruption, TextInfilling
from zoo.objectives.layout import laid_out
from zoo.objectives.loss import sums

N = 24


def model(arch, tokenizer):
    made = zoo.build("context=64", arch=arch, size="nano", vocab=tokenizer.vocab_size, seed=0).eval()
    for parameter in made.parameters():
        torch.nn.init.normal_(parameter, std=0.1)
    return made


@pytest.fixture
def rows(make_rows):
    return make_rows([40] * 8, N, [0, 30, 77, 200])


def loss(made, tokenizer, batch):
    with torch.no_grad():
        return sums(made, batch, torch.from_numpy(tokenizer.is_special)).loss.item()


@pytest.mark.parametrize("objective", [SpanCorruption(), TextInfilling()])
@pytest.mark.parametrize("arch", ["gpt", "prefix_lm"])
def test_a_decoder_goes_on_behind_what_it_read(rows, tokenizer, objective, arch):
    batch = objective(rows, np.random.default_rng(0)).tensors()
    made = model(arch, tokenizer)
    expected = 0.0
    with torch.no_grad():
        for read, written, labels in zip(
            batch.inputs, batch.targets, batch.labels.view(batch.targets.shape), strict=True
        ):
            row = torch.cat([read, written])[None]
            logits = made.logits(made(row, prefix=torch.tensor([len(read) + 1]))[0, len(read) :])
            expected += F.cross_entropy(logits, labels, reduction="sum").item()
    assert loss(made, tokenizer, batch) == pytest.approx(expected, rel=1e-5)
    assert laid_out(batch, made).inputs.shape[1] == batch.inputs.shape[1] + batch.targets.shape[1]


def test_an_encoder_reads_the_prefix_alone_and_its_decoder_writes_the_rest(rows, tokenizer):
    batch = PrefixLM()(rows, np.random.default_rng(0)).tensors()
    made = model("t5", tokenizer)
    whole = torch.from_numpy(rows.tokens.astype(np.int64))
    expected = 0.0
    with torch.no_grad():
        for row, prefix in zip(whole, batch.prefix.tolist(), strict=True):
            rest = row[prefix:]
            begun = torch.cat([torch.tensor([tokenizer.bos]), rest[:-1]])
            states = made(row[None, :prefix], begun[None])
            expected += F.cross_entropy(made.logits(states[0]), rest, reduction="sum").item()
    assert loss(made, tokenizer, batch) == pytest.approx(expected, rel=1e-5)
    parts = [loss(made, tokenizer, batch.part(i, 2)) for i in range(2)]
    assert sum(parts) == pytest.approx(expected, rel=1e-5)


def test_what_fits_is_left_as_it_is(rows, tokenizer):
    rng = np.random.default_rng(0)
    for arch, objective in (("gpt", PrefixLM()), ("t5", SpanCorruption())):
        batch = objective(rows, rng).tensors()
        assert laid_out(batch, model(arch, tokenizer)) is batch
