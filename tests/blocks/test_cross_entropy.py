"""The loss that never holds all logits is the plain one, in value and gradient."""

import pytest
import torch
import torch.nn.functional as F

from zoo.blocks import cross_entropy
from zoo.blocks.cross_entropy import linear_cross_entropy


def operands(dtype, rows=37, width=12, vocab=29):
    random = torch.Generator().manual_seed(0)
    tensors = [
        torch.randn(*shape, generator=random).to(dtype) for shape in ((rows, width), (vocab, width), (vocab,))
    ]
    return [tensor.requires_grad_() for tensor in tensors], torch.randint(0, vocab, (rows,), generator=random)


@pytest.mark.parametrize("chunk", [5, 37, 512])
@pytest.mark.parametrize("with_bias", [True, False])
def test_it_is_the_cross_entropy_of_the_logits(chunk, with_bias, monkeypatch):
    monkeypatch.setattr(cross_entropy, "_ROWS", chunk)
    (x, w, b), labels = operands(torch.float64)
    bias = b if with_bias else None
    expected = F.cross_entropy(F.linear(x, w, bias), labels, reduction="sum")
    wanted = torch.autograd.grad(3.0 * expected, [x, w, b] if with_bias else [x, w])
    found = linear_cross_entropy(x, w, bias, labels)
    got = torch.autograd.grad(3.0 * found, [x, w, b] if with_bias else [x, w])
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(got, wanted)


@pytest.mark.parametrize("chunk", [5, 37])
def test_each_label_counts_as_much_as_its_weight(chunk, monkeypatch):
    monkeypatch.setattr(cross_entropy, "_ROWS", chunk)
    (x, w, b), labels = operands(torch.float64)
    weights = torch.rand(37, dtype=torch.float64, generator=torch.Generator().manual_seed(1)) * 9
    expected = (F.cross_entropy(F.linear(x, w, b), labels, reduction="none") * weights).sum()
    wanted = torch.autograd.grad(3.0 * expected, [x, w, b])
    found = linear_cross_entropy(x, w, b, labels, weights)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(torch.autograd.grad(3.0 * found, [x, w, b]), wanted)


def test_autocast_computes_in_bfloat16_and_returns_the_parameters_own_dtype():
    (x, w, b), labels = operands(torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        found = linear_cross_entropy(x, w, b, labels)
    found.backward()
    expected = F.cross_entropy(F.linear(x, w, b), labels, reduction="sum")
    assert found.dtype == w.grad.dtype == x.grad.dtype == torch.float32
    torch.testing.assert_close(found, expected, rtol=1e-2, atol=0.1)
    torch.testing.assert_close(w.grad, torch.autograd.grad(expected, w)[0], rtol=0.05, atol=0.05)
