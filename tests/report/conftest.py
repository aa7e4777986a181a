"""Run folders as training writes them, simulated: known abilities, seeds and stories that vary, no torch."""

import csv
import json

import numpy as np
import pyarrow
import pytest
import yaml
from omegaconf import OmegaConf
from pyarrow import parquet

from zoo.config import load

TASKS = {  # kind, readings, metric, baseline, oracle
    "reply": ("generate", ["write", "fill"], "consistent", 0.1, 0.95),
    "writing": ("generate", ["write", "fill"], "consistent", 0.05, 1.0),
    "translation": ("generate", ["write", "fill"], "chrf", 0.1, 1.0),
    "headline": ("generate", ["write", "fill"], "rouge_l", 0.1, 0.9),
    "completion": ("generate", ["write", "fill"], "exact", 0.0, 0.8),
    "topic": ("classify", ["pool", "write"], "accuracy", 0.2, 1.0),
    "mood": ("classify", ["pool", "write"], "accuracy", 0.3, 1.0),
    "pair": ("classify", ["pool"], "accuracy", 0.5, 1.0),
    "entities": ("tag", ["per_token", "write"], "f1", 0.0, 1.0),
    "questions": ("extract", ["span", "write"], "f1", 0.05, 1.0),
}
GENERATION = list(TASKS)[:5]
OBJECTIVE = {
    "gpt": ("CausalLM", "causal_lm"),
    "bert": ("MaskedLM", "masked_lm"),
    "t5": ("SpanCorruption", "span_corruption"),
}
STACKS = {"gpt": ["decoder"], "bert": ["encoder"], "t5": ["encoder", "decoder", "cross"]}
# What the documents say, so that every claim comes out unless a test plants something else.
ABILITY = {"gpt": (0.8, 0.6), "bert": (0.3, 0.85), "t5": (0.8, 0.85)}


@pytest.fixture(scope="session")
def thresholds():
    """conf/compare.yaml as it is shipped."""
    config = load(config_name="compare")
    return OmegaConf.to_container(OmegaConf.create(config))


@pytest.fixture
def simulate(tmp_path):
    """simulate(archs, seeds, ...) -> the folder that holds the runs; ``change`` edits a run before it is written."""

    def write(archs=("gpt", "bert", "t5"), seeds=range(5), ability=None, name="table", items=60, change=None):
        for arch in archs:
            for seed in seeds:
                run = _run(arch, seed, (ability or ABILITY)[arch], items, name)
                if change:
                    change(run)
                _write(tmp_path / "runs" / name / f"{arch}-seed_{seed}-0000000{seed}", run)
        return tmp_path / "runs"

    return write


def _run(arch, seed, ability, items, name):
    target, objective = OBJECTIVE[arch]
    rng = np.random.default_rng((seed, sum(map(ord, arch))))
    story = np.random.default_rng(17)  # the stories are the same for all
    config = {
        "arch": {"name": arch, "encoder": None, "decoder": None},
        "objective": {"_target_": f"zoo.objectives.{target}", "name": objective},
        "ffn": {"d_ff": {"gpt": 388, "bert": 388, "t5": 320}[arch]},
        "position": {"_target_": "zoo.blocks.Rotary", "_partial_": True},
        "match": {"by": "params"},
        "optim": {"lr": 0.0014, "warmup": 0.1},
        "data": {"_target_": "zoo.data.world.World", "seed": 0},
        "tuning": {"updates": 400},
        "steps": 4400,
        "seed": seed,
        "name": name,
        "runs": "runs",
    }
    record = {
        "status": "done", "seed": seed, "data_seed": 0, "git_commit": "abc", "source": "s", "corpus": "c",
        "vocabulary": 2048, "versions": {"python": "3.11.7", "torch": "2.13.0"},
        "budget": {
            "parameters": 642912, "parameters_without_embedding": 446304,
            "flops_per_token": {"gpt": 4.1e6, "bert": 3.9e6, "t5": 2.4e6}[arch],
            "tokens_seen": 4505600, "updates": 4400,
            "tokens_in_loss": {"gpt": 4505600, "bert": 675840, "t5": 1100000}[arch],
        },
        "timings": {"session_seconds": 261.5, "training_seconds": 238.0 + 10 * rng.random()},
        "error": None,
    }  # fmt: skip
    rows, predictions = _pretraining(objective, rng), {}
    for task, (kind, readings, metric, baseline, oracle) in TASKS.items():
        true = ability[0 if task in GENERATION else 1]
        rows += [
            _row(task, kind, bound, metric, "test", value, items, headline=True)
            for bound, value in (("baseline", baseline), ("oracle", oracle))
        ]
        for which, reading in enumerate(readings):
            level = baseline + (oracle - baseline) * (true - 0.15 * which)
            score, marked = _scores(level, items, rng, story, task)
            predictions[f"{task}.{reading}"] = {
                "item": [f"test-{i // 2}/{task}-{i % 2}" for i in range(items)],
                "score": score,
                "marked": marked,
                "prediction": [f"<b>{arch}</b> says {i}" for i in range(items)],
                "answer": [f"answer {i}" for i in range(items)],
                "input": [f"Once upon a time there was story {i} & its people." for i in range(items)],
            }
            options = {"lr": 3e-4}
            for updates, share in ((25, 0.4), (100, 0.8), (400, 1.0)):
                value = baseline + (level - baseline) * share
                rows.append(
                    _row(
                        task,
                        kind,
                        reading,
                        metric,
                        "validation",
                        value,
                        items,
                        updates,
                        options,
                        True,
                        which == 0,
                    )
                )
            plain = [s for s, m in zip(score, marked, strict=True) if not m]
            rows.append(
                _row(
                    task,
                    kind,
                    reading,
                    metric,
                    "test",
                    float(np.mean(plain)),
                    len(plain),
                    400,
                    options,
                    True,
                    which == 0,
                )
            )
            kept = [s for s, m in zip(score, marked, strict=True) if m]
            if kept:
                rows.append(
                    _row(
                        task,
                        kind,
                        reading,
                        metric,
                        "test_marked",
                        float(np.mean(kept)),
                        len(kept),
                        400,
                        options,
                        True,
                    )
                )
    correct = (rng.random(80) < {"gpt": 0.4, "bert": 0.6, "t5": 0.5}[arch]).astype(float)
    predictions["cloze"] = {"item": [f"test-{i // 4}/{i % 4}" for i in range(80)], "score": correct}
    rows.append(_row("cloze", "cloze", "direct", "accuracy", "test", float(correct.mean()), 80))
    rows.append(_row("one_token", "cloze", "direct", "accuracy", "test", 0.9, 40))
    bits, words = 48 + 12 * rng.random(80), np.full(80, 12)
    predictions["continuation"] = {
        "item": [f"test-{i}/0" for i in range(80)],
        "score": [0.5] * 80,
        "bits": bits,
        "words": words,
    }
    rows.append(
        _row("continuation", "continuation", "direct", "bits_per_word", "test", bits.sum() / words.sum(), 80)
    )
    rows.append(_row("continuation", "continuation", "direct", "accuracy", "test", 0.45, 80))
    direction = {}
    for stack in STACKS[arch]:
        matrix = rng.random((12, 12)) + 3 * np.eye(12)
        if stack == "decoder":
            matrix = np.tril(matrix)
        matrix /= matrix.sum()
        direction[stack] = matrix.tolist()
        for metric, value in (
            ("above_diagonal", np.triu(matrix, 1).sum()),
            ("below_diagonal", np.tril(matrix, -1).sum()),
            ("diagonal", np.trace(matrix)),
        ):
            rows.append(_row(stack, "direction", "direct", metric, "test", float(value), 12))
    for metric, value in (("grammatical", 0.9), ("consistent", 0.5), ("tokens_per_s", 3000.0)):
        rows.append(
            _row(
                "left_to_right",
                "direct_writing",
                "direct",
                metric,
                "test",
                value * (0.9 + 0.1 * rng.random()),
                50,
            )
        )
    metrics = [
        {
            "step": 550 * k,
            "tokens_seen": 563200 * k,
            "train/loss": "",
            "val/loss": 2 + 3 / k + 0.05 * rng.random(),
        }
        for k in range(1, 9)
    ]
    samples = [
        {
            "update": 4400,
            "prompt": "One day",
            "text": f"One day {arch} wrote this line of a story, seed {seed}.",
        }
    ]
    return {
        "config": config, "record": record, "results": rows, "predictions": predictions, "direction": direction,
        "metrics": metrics, "samples": samples,
    }  # fmt: skip


def _scores(level, items, rng, story, task):
    """Right or wrong, in pairs of a story, with an effect of the seed and of the story."""
    easy = story.normal(0, 0.05, items // 2)
    p = np.clip(level + np.repeat(easy, 2) + rng.normal(0, 0.002), 0, 1)
    marked = np.arange(items) % 5 == 0 if task in ("entities", "questions") else np.zeros(items, dtype=bool)
    # between 0 and 1 with mean p, as an F1 is
    return list(rng.beta(60 * p + 1e-6, 60 * (1 - p) + 1e-6)), [bool(one) for one in marked]


def _pretraining(objective, rng):
    noise = 0.01 * rng.random()
    values = {
        "causal_lm": {"loss": 1.99 + noise, "kneser_ney_5gram_loss": 2.4, "accuracy": 0.5},
        "masked_lm": {
            "accuracy": 0.52 + noise,
            "two_sided_trigram_accuracy": 0.48,
            "next_sentence_accuracy": 0.7 + noise,
            "loss": 2.1,
        },
        "span_corruption": {"accuracy": 0.4 + noise, "two_sided_trigram_accuracy": 0.35, "loss": 2.9},
    }[objective]
    return [
        _row(objective, "pre-training", "pre-training", metric, "validation", value)
        for metric, value in values.items()
    ]


def _row(
    task,
    kind,
    reading,
    metric,
    split,
    value,
    count=None,
    updates=None,
    options=None,
    headline=None,
    chosen=None,
):
    row = {
        "task": task, "kind": kind, "reading": reading, "metric": metric, "split": split, "value": value,
        "count": count, "updates": updates, "options": options,
    }  # fmt: skip
    if count is None:
        del row["count"]
    return row | ({"headline": headline} if headline else {}) | ({"chosen": True} if chosen else {})


def _write(folder, run):
    (folder / "predictions").mkdir(parents=True)
    (folder / "config.yaml").write_text(yaml.safe_dump(run["config"], sort_keys=False))
    (folder / "run.json").write_text(json.dumps(run["record"]))
    (folder / "results.json").write_text(json.dumps(run["results"]))
    (folder / "direction.json").write_text(json.dumps(run["direction"]))
    (folder / "samples.jsonl").write_text("\n".join(json.dumps(row) for row in run["samples"]))
    with (folder / "metrics.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["step", "tokens_seen", "train/loss", "val/loss"])
        writer.writeheader()
        writer.writerows(run["metrics"])
    for name, columns in run["predictions"].items():
        parquet.write_table(pyarrow.table(columns), folder / "predictions" / f"{name}.parquet")
