"""One batch of 8 = two of 4 accumulated = two ranks of 4, in gradient, weights and logged value, lengths ragged."""

import csv

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from zoo.api import build
from zoo.config import load
from zoo.objectives import Batch
from zoo.objectives.loss import sums, update_loss
from zoo.training.meter import Meter
from zoo.training.run import run

ARCHS = ["gpt", "bert", "t5", "prefix_lm"]
ASKED = [*((f"arch={arch}",) for arch in ARCHS), ("arch=bert", "objective=masked_diffusion")]
VOCAB = 50
SPECIAL = torch.zeros(VOCAB, dtype=torch.bool)


def ragged(arch, seed=0, weighted=False):
    """Eight rows with 1 to 9 tokens in the loss each."""
    rng = np.random.default_rng(seed)
    rows, width = 8, 12
    inputs = rng.integers(0, VOCAB, (rows, width))
    counts = rng.permutation(np.arange(rows) + 1)
    where = np.concatenate(
        [row * width + np.sort(rng.choice(width, n, replace=False)) for row, n in enumerate(counts)]
    )
    return Batch(
        inputs=inputs,
        targets=rng.integers(0, VOCAB, (rows, width)) if arch == "t5" else None,
        labels=rng.integers(0, VOCAB, len(where)),
        where=where,
        weights=rng.random(len(where)) * 9 if weighted else None,
        next_sentence=rng.integers(0, 2, rows) if arch == "bert" else None,
        prefix=rng.integers(1, width, rows) if arch == "prefix_lm" else None,
    )


def gradients(model, parts):
    model.zero_grad()
    meter, total = Meter(), 0.0
    for part in parts:
        found = sums(model, part, SPECIAL)
        loss = update_loss(found, part)
        loss.backward()
        total += loss.item()
        meter.update(found)
    return total, meter.compute(), [parameter.grad.clone() for parameter in model.parameters()]


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("parts", [2, 4, 8])
def test_parts_add_up_to_the_whole(arch, weighted, parts):
    model = build(arch=arch, size="nano", vocab=VOCAB, seed=1).double()
    batch = ragged(arch, weighted=weighted)
    whole = gradients(model, [batch.part(0, 1).tensors()])
    split = gradients(model, [batch.part(index, parts).tensors() for index in range(parts)])
    assert split[0] == pytest.approx(whole[0], rel=1e-12)
    assert split[1] == pytest.approx(whole[1], rel=1e-12)
    for ours, theirs in zip(split[2], whole[2], strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-13)


def test_the_loss_is_the_plain_mean_over_tokens():
    model = build(arch="gpt", size="nano", vocab=VOCAB, seed=1).double()
    batch = ragged("gpt").part(0, 1).tensors()
    logits = model.logits(model(batch.inputs)).flatten(0, 1)[batch.where]
    expected = F.cross_entropy(logits, batch.labels)
    total, found, _ = gradients(model, [batch])
    assert total == pytest.approx(expected.item(), rel=1e-12)
    assert found["loss"] == pytest.approx(expected.item(), rel=1e-12)
    with torch.no_grad():
        counted = sums(model, batch, SPECIAL)
    assert counted.loss.item() == pytest.approx(total * len(batch.labels), rel=1e-12)
    assert counted.right == (logits.argmax(-1) == batch.labels).sum()


def test_with_weights_the_loss_is_the_weighted_mean_and_tokens_are_still_counted():
    model = build(arch="gpt", size="nano", vocab=VOCAB, seed=1).double()
    batch = ragged("gpt", weighted=True).part(0, 1).tensors()
    logits = model.logits(model(batch.inputs)).flatten(0, 1)[batch.where]
    losses = F.cross_entropy(logits, batch.labels, reduction="none")
    expected = (losses * batch.weights).sum() / batch.weights.sum()
    total, found, _ = gradients(model, [batch])
    assert total == pytest.approx(expected.item(), rel=1e-12)
    assert found["loss"] == pytest.approx(expected.item(), rel=1e-12)
    assert found["count"] == len(batch.labels)
    with torch.no_grad():
        assert sums(model, batch, SPECIAL).loss.item() == pytest.approx(
            total * batch.weights.sum().item(), rel=1e-12
        )


def test_accuracy_asks_which_text_token_stands_here():
    """A special token is never a guess nor asked for, however sure the model is of it."""
    model = build(arch="gpt", size="nano", vocab=VOCAB, seed=1).double()
    batch = ragged("gpt").part(0, 1).tensors()
    logits = model.logits(model(batch.inputs)).flatten(0, 1)[batch.where]
    special = torch.zeros(VOCAB, dtype=torch.bool)
    special[logits.argmax(-1)[:5]] = True  # what the model is surest of
    special[batch.labels[5]] = True
    asked = [i for i, label in enumerate(batch.labels.tolist()) if not special[label]]
    texts = [token for token in range(VOCAB) if not special[token]]
    right = sum(max(texts, key=logits[i].tolist().__getitem__) == batch.labels[i] for i in asked)
    with torch.no_grad():
        counted = sums(model, batch, special)
    assert (counted.right, counted.text) == (right, len(asked))


def logged(folder):
    with (folder / "metrics.csv").open() as file:
        rows = list(csv.DictReader(file))
    return np.array([float(row[key]) for row in rows for key in ("train/loss", "val/loss") if row.get(key)])


def weights(folder):
    return torch.load(folder / "checkpoints" / "last.ckpt", weights_only=True)["state_dict"]


@pytest.mark.parametrize("asked", ASKED, ids=" ".join)
def test_micro_batches_change_nothing(asked, small, tmp_path):
    run(load(*small, *asked, "steps=4"), tmp_path / "one")
    run(load(*small, *asked, "steps=4", "trainer.micro_batches=2"), tmp_path / "two")
    np.testing.assert_allclose(logged(tmp_path / "one"), logged(tmp_path / "two"), rtol=1e-5)
    one, two = weights(tmp_path / "one"), weights(tmp_path / "two")
    for name in one:
        torch.testing.assert_close(one[name], two[name], rtol=1e-3, atol=2e-5)


@pytest.mark.parametrize("asked", [*ASKED[:2], ASKED[-1]], ids=" ".join)
def test_two_ranks_change_nothing(asked, small, tmp_path):
    """Spawned processes on the CPU, each with half of every batch."""
    run(load(*small, *asked, "steps=4"), tmp_path / "one")
    ranks = ["trainer=ddp", "trainer.accelerator=cpu", "trainer.devices=2", *small[-5:]]
    run(load(*small, *asked, "steps=4", *ranks), tmp_path / "two")
    np.testing.assert_allclose(logged(tmp_path / "one"), logged(tmp_path / "two"), rtol=1e-5)
    one, two = weights(tmp_path / "one"), weights(tmp_path / "two")
    for name in one:
        torch.testing.assert_close(one[name], two[name], rtol=1e-3, atol=2e-5)
