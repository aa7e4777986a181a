"""Ours beside Hugging Face, in one process and in turn, so that a machine's drift hits both alike.

    python scripts/bench.py train       tokens/s of training steps, fp32 and bf16, and the share of the matmul floor
    python scripts/bench.py generate    tokens/s of greedy writing with a cache
    python scripts/bench.py attend      which attention kernel is fastest here, by length and dtype

Random weights, no download.  Needs the dev extra (transformers).
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch
from rich.console import Console
from rich.table import Table
from torch import nn

import zoo
from zoo.blocks.attend import _fused, _plain
from zoo.blocks.masks import EVERYTHING, Past
from zoo.generation.write import write
from zoo.models import Transformer
from zoo.objectives import Batch
from zoo.objectives.loss import sums, update_loss

WIDTH, LAYERS, HEADS, FF, VOCAB = 256, 6, 4, 1024, 4096
BATCH, LENGTH, TARGETS = 16, 256, 64
console = Console()
Step = Callable[[], None]


def in_turn(steps: dict[str, Step], rounds: int) -> dict[str, float]:
    """Median seconds of each, called one after another ``rounds`` times after a warm-up."""
    times: dict[str, list[float]] = {name: [] for name in steps}
    for turn in range(rounds + 2):
        for name, step in steps.items():
            begun = time.perf_counter()
            step()
            if turn >= 2:
                times[name].append(time.perf_counter() - begun)
    return {name: statistics.median(values) for name, values in times.items()}


def ours(arch: str) -> Transformer:
    """The published recipe at the bench's size, without dropout."""
    layers = 2 * (LAYERS // 2) if arch == "t5_original" else LAYERS
    shape = [f"size.d_model={WIDTH}", f"size.layers={layers}", f"size.heads={HEADS}", f"size.d_ff={FF}"]
    return zoo.build(
        *shape, "context=250", "size.positions=512", "match=none", "arch.dropout=0", arch=arch, vocab=VOCAB
    )


def hugging_face(family: str) -> Any:
    """Their model of the same shape, with their defaults but for dropout."""
    import transformers as hf

    if family == "gpt":
        return hf.GPT2LMHeadModel(hf.GPT2Config(
            vocab_size=VOCAB, n_positions=512, n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS, n_inner=FF,
            resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=1, eos_token_id=1,
        ))  # fmt: skip
    if family == "bert":
        return hf.BertForMaskedLM(hf.BertConfig(
            vocab_size=VOCAB, hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
            intermediate_size=FF, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
        ))  # fmt: skip
    return hf.T5ForConditionalGeneration(hf.T5Config(
        vocab_size=VOCAB, d_model=WIDTH, d_kv=WIDTH // HEADS, d_ff=FF, num_layers=LAYERS // 2, num_heads=HEADS,
        dropout_rate=0.0,
    ))  # fmt: skip


def batch_of(family: str) -> Batch:
    """Random tokens of the bench's lengths; BERT predicts 15 % of them."""
    random = torch.Generator().manual_seed(0)
    inputs = torch.randint(0, VOCAB, (BATCH, LENGTH), generator=random)
    where = targets = None
    if family == "bert":
        where = torch.randperm(BATCH * LENGTH, generator=random)[: int(0.15 * BATCH * LENGTH)].sort().values
    if family == "t5":
        targets = torch.randint(0, VOCAB, (BATCH, TARGETS), generator=random)
    count = len(where) if where is not None else BATCH * (TARGETS if family == "t5" else LENGTH)
    labels = torch.randint(0, VOCAB, (count,), generator=random)
    return Batch(
        inputs=inputs, labels=labels, where=where, targets=targets, update_labels=count, update_rows=BATCH
    )


def precision(bf16: bool) -> contextlib.AbstractContextManager:
    return torch.autocast("cpu", torch.bfloat16) if bf16 else contextlib.nullcontext()


def our_step(model: Transformer, batch: Batch, bf16: bool) -> Step:
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    special = torch.zeros(VOCAB, dtype=torch.bool)

    def step() -> None:
        with precision(bf16):
            loss = update_loss(sums(model, batch, special), batch)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


def their_step(model: Any, batch: Batch, bf16: bool) -> Step:
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    if batch.where is not None:
        labels = (
            torch.full((BATCH * LENGTH,), -100).index_copy(0, batch.where, batch.labels).view(BATCH, LENGTH)
        )
        inputs = {"input_ids": batch.inputs, "labels": labels}
    elif batch.targets is not None:
        labels = batch.labels.view(BATCH, TARGETS)
        inputs = {"input_ids": batch.inputs, "decoder_input_ids": batch.targets, "labels": labels}
    else:
        inputs = {"input_ids": batch.inputs, "labels": batch.inputs}

    def step() -> None:
        with precision(bf16):
            loss = model(**inputs).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


def matmul_floor(model: Transformer, batch: Batch, bf16: bool) -> Step:
    """Forward and backward products of the model's linear layers alone, at the same shapes."""
    shapes: list[tuple[int, Any]] = []
    hooks = [
        module.register_forward_hook(
            lambda m, x, y: shapes.append((x[0].reshape(-1, m.in_features).shape[0], m))
        )
        for module in model.modules()
        if isinstance(module, nn.Linear)
    ]
    with torch.no_grad():
        model(batch.inputs, batch.targets)
    for hook in hooks:
        hook.remove()
    # Self-attention joins its three projections into one product, which calls no module.
    stacks = [
        (model.encoder, batch.inputs),
        (model.decoder, batch.targets if batch.targets is not None else batch.inputs),
    ]
    for stack, tokens in stacks:
        own = (
            [module for name, module in stack.named_modules() if name.endswith(".attention")] if stack else []
        )
        shapes += [
            (tokens.numel(), part) for attention in own for part in (attention.query, attention.key_value)
        ]
    dtype = torch.bfloat16 if bf16 else torch.float32
    triples = [
        (
            torch.randn(n, m.in_features, dtype=dtype),
            m.weight.detach().to(dtype),
            torch.randn(n, m.out_features, dtype=dtype),
        )
        for n, m in shapes
    ]
    head = len(batch.labels)
    triples.append(
        (
            torch.randn(head, WIDTH, dtype=dtype),
            torch.randn(VOCAB, WIDTH, dtype=dtype),
            torch.randn(head, VOCAB, dtype=dtype),
        )
    )

    def step() -> None:
        for x, weight, gradient in triples:
            x @ weight.T
            gradient @ weight
            gradient.T @ x

    return step


def train(rounds: int) -> None:
    """The table of training speeds."""
    table = Table(
        "model",
        "precision",
        "ours tokens/s",
        "Hugging Face",
        "ratio",
        "matmul floor / ours",
        title="training",
    )
    names = {"gpt": "gpt2", "bert": "bert_original", "t5": "t5_original"}
    for family, arch in names.items():
        batch = batch_of(family)
        tokens = BATCH * (LENGTH + (TARGETS if family == "t5" else 0))
        for bf16 in (False, True):
            model = ours(arch)
            steps = {
                "ours": our_step(model, batch, bf16),
                "theirs": their_step(hugging_face(family).train(), batch, bf16),
                "floor": matmul_floor(model, batch, bf16),
            }
            found = in_turn(steps, rounds)
            table.add_row(
                arch, "bf16" if bf16 else "fp32", f"{tokens / found['ours']:,.0f}", f"{tokens / found['theirs']:,.0f}",
                f"{found['theirs'] / found['ours']:.2f}", f"{found['floor'] / found['ours']:.2f}",
            )  # fmt: skip
    console.print(table)


def generate(rounds: int) -> None:
    """The table of writing speeds: 200 tokens after a 32-token prompt."""
    table = Table("batch", "ours tokens/s", "Hugging Face", "ratio", title="greedy writing, gpt2, with cache")
    model, theirs = ours("gpt2").eval(), hugging_face("gpt").eval()
    for batch in (1, 16):
        prompt = torch.randint(2, VOCAB, (batch, 32), generator=torch.Generator().manual_seed(0))

        def our_text(prompt: torch.Tensor = prompt) -> None:
            write(model, prompt.tolist(), max_new_tokens=200, stop=(), pad=0, bos=1)

        def their_text(prompt: torch.Tensor = prompt) -> None:
            theirs.generate(prompt, max_new_tokens=200, min_new_tokens=200, do_sample=False, pad_token_id=0)

        found = in_turn({"ours": our_text, "theirs": their_text}, rounds)
        written = batch * 200
        table.add_row(
            str(batch), f"{written / found['ours']:,.0f}", f"{written / found['theirs']:,.0f}",
            f"{found['theirs'] / found['ours']:.2f}",
        )  # fmt: skip
    console.print(table)


def attend(rounds: int) -> None:
    """Plain matmuls against the fused kernel, forward and backward: where ``attend`` should switch."""
    table = Table(
        "dtype", "length", "rule", "plain ms", "fused ms", "fused / plain", title="attention kernels"
    )
    for dtype in (torch.float32, torch.bfloat16):
        for length in (64, 128, 256, 384, 512, 1024, 2048):
            rows = max(1, 4096 // length)
            q, k, v = (
                torch.randn(rows, HEADS, length, WIDTH // HEADS, dtype=dtype, requires_grad=True)
                for _ in range(3)
            )
            gradient = torch.randn_like(q)
            for name, rule in (("past", Past()), ("everything", EVERYTHING)):

                def plain(rule=rule, q=q, k=k, v=v, gradient=gradient) -> None:
                    _plain(q, k, v, rule, None, 0.125).backward(gradient)

                def fused(rule=rule, q=q, k=k, v=v, gradient=gradient) -> None:
                    _fused(q, k, v, rule, None, 0.125, 0.0).backward(gradient)

                found = in_turn({"plain": plain, "fused": fused}, rounds)
                table.add_row(
                    str(dtype).removeprefix("torch."), str(length), name, f"{found['plain'] * 1e3:.1f}",
                    f"{found['fused'] * 1e3:.1f}", f"{found['fused'] / found['plain']:.2f}",
                )  # fmt: skip
    console.print(table)


def arguments() -> Iterator[tuple[Callable[[int], None], int]]:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["train", "generate", "attend"], nargs="+")
    parser.add_argument("--rounds", type=int, default=12, help="timed calls of each (default 12)")
    parser.add_argument("--threads", type=int, default=2)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    for what in asked.what:
        yield {"train": train, "generate": generate, "attend": attend}[what], asked.rounds


if __name__ == "__main__":
    for bench, rounds in arguments():
        bench(rounds)
