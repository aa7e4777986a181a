"""Small models with random weights, and models that were taught the answers."""

from functools import cache

import pytest
import torch

import zoo
from zoo.analysis.scoring import _STOP, _rows, stops
from zoo.data.vocabularies import Bytes, Characters
from zoo.generation.padding import padded


@cache
def model_of(arch, vocab, *more):
    """In evaluation, all weights random: an initial model's small matrices would hide what is misplaced."""
    model = zoo.build(
        "context=64", "size.positions=96", *more, arch=arch, size="nano", vocab=vocab, seed=0
    ).eval()
    torch.manual_seed(0)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    return model


@pytest.fixture(scope="session")
def make():
    """make(arch, tokenizer, overrides ...)."""
    return lambda arch, tokenizer, *more: model_of(arch, tokenizer.vocab_size, *more)


@pytest.fixture(scope="session")
def letters():
    """Eleven tokens: six special ones, two sentinels, a, b and space."""
    tokenizer = Characters(sentinels=2).fit(["ab "])
    assert tokenizer.vocab_size == 11
    return tokenizer


@pytest.fixture(scope="session")
def bytewise():
    return Bytes(sentinels=8).fit([])


@pytest.fixture(scope="session")
def teach():
    """teach(arch, tokenizer, gaps): a model that has learned the answer to each gap by heart."""

    taught = {}

    def teach(arch, tokenizer, gaps, until=0.005, way=None):
        if (key := f"{arch} {gaps} {way}") not in taught:
            taught[key] = train(arch, tokenizer, gaps, until, way)
        return taught[key]

    def train(arch, tokenizer, gaps, until, way):
        model = zoo.build("context=64", arch=arch, size="nano", vocab=tokenizer.vocab_size, seed=0)
        rows = [row for index, gap in enumerate(gaps) for row in _rows(model, tokenizer, index, gap, way)]
        wanted = torch.tensor(
            [stops(tokenizer)[0] if token == _STOP else token for row in rows for token in row.wanted]
        )
        which = torch.tensor([n for n, row in enumerate(rows) for _ in row.wanted])
        where = torch.tensor([row.first + k for row in rows for k in range(len(row.wanted))])
        inputs, rule = padded([row.inputs for row in rows], tokenizer.pad, torch.device("cpu"))
        targets = padded([row.targets or [0] for row in rows], tokenizer.pad, torch.device("cpu"))[0]
        given = torch.tensor([row.first + 1 for row in rows])
        optimiser = torch.optim.Adam(model.parameters(), lr=3e-3)
        for _ in range(300):
            states = model(
                inputs,
                targets if model.encoder and model.decoder else None,
                rule=rule,
                memory_rule=rule,
                prefix=given,
            )
            loss = model.loss(states[which, where], wanted) / len(wanted)
            if loss < until:
                break
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        assert loss < until
        return model

    return teach
