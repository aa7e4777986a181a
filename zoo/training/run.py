"""One run: from a configuration to a run folder with a trained model in it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock, Timeout
from hydra.utils import instantiate
from lightning import Trainer, seed_everything
from lightning.pytorch.loggers import Logger

from zoo.data.stream import Corpus
from zoo.errors import Interrupted, UserError
from zoo.models import build
from zoo.plan import Plan, make_plan
from zoo.training import checkpoints
from zoo.training.baselines import baselines
from zoo.training.callbacks import Checkpoints, Clock, Metrics, OrderlyStop, Validation, stopped_by_signals
from zoo.training.column import column
from zoo.training.corpora import Corpora
from zoo.training.loggers import WeightsAndBiases, make_loggers
from zoo.training.memory import keep_freed_memory
from zoo.training.module import Pretraining
from zoo.training.ranks import Threads, quiet, signals_reach_ranks, what_a_rank_said
from zoo.training.records import MetricsCsv, Record, write_json
from zoo.training.samples import Samples
from zoo.training.tasks import do_tasks
from zoo.training.terminal import Display, console


@dataclass(frozen=True)
class Outcome:
    """How a run ended: ``done``, or ``kept`` where it was done before."""

    folder: Path
    status: str
    results: dict[str, Any]


def run(config: dict, folder: Path) -> Outcome:
    """Train what ``config`` (plain dicts) asks for, in ``folder``; go on where an unfinished run stopped.

    Raises:
        UserError: it cannot be done, in one sentence; Interrupted: a signal stopped it, resumably.
    """
    if config["trainer"]["accelerator"] == "gpu" and not torch.cuda.is_available():
        raise UserError("there is no GPU that torch can use here; leave trainer=gpu out")
    record = Record(folder)
    source = instantiate(config["data"]).fingerprint()
    if not config["fresh"] and record.read().get("source", source) != source:
        raise UserError(
            f"{folder} was made from other data than there is now; use fresh=true, or another name=..."
        )
    if record.read().get("status") == "done" and not config["fresh"]:
        console.print(f"already done: {folder} (fresh=true does it again)")
        return Outcome(folder, "kept", record.read().get("results", {}))
    quiet()
    keep_freed_memory()
    with _alone(folder):
        return _run(config, folder, record, source)


def _run(config: dict, folder: Path, record: Record, source: str) -> Outcome:
    begun = time.perf_counter()
    data = Corpora(
        config, progress=lambda line: console.print(f"[dim]preparing the data, once: {line}[/dim]")
    )
    if config["trainer"]["threads"]:
        torch.set_num_threads(config["trainer"]["threads"])
    corpus = data.corpus
    plan = make_plan(config, vocab=corpus.tokenizer.vocab_size)
    data.reader("train"), data.reader("validation")  # refuse a text that is too short before a folder is made
    if config["fresh"]:
        # An interrupted fresh run must never be taken up from the weights of the one it replaces.
        shutil.rmtree(folder / "checkpoints", ignore_errors=True)
        record.path.unlink(missing_ok=True)
    resumed = checkpoints.newest_readable(folder / "checkpoints", console.print)
    loggers: list[Logger] = []
    try:
        module = _prepare(plan, corpus, folder, record, source)
        loggers = make_loggers(config, folder, console.print)
        table = loggers[0]
        assert isinstance(table, MetricsCsv)
        samples = Samples(
            corpus, count=config["samples"], context=config["context"], folder=folder,
            way=instantiate(config["objective"]).way,
        )  # fmt: skip
        reached = checkpoints.read(resumed)["global_step"] if resumed else 0
        table.cut_after(reached)
        samples.cut_after(reached)
        _describe(plan, module, corpus, folder, resumed)
        _train(plan, module, data, folder, resumed, loggers, samples)
        results = _conclude(plan, data, folder, record, table.last(), time.perf_counter() - begun)
        if plan.config["tasks"]:
            rows = _do_tasks(plan, corpus, folder)
            for logger in loggers:
                if isinstance(logger, WeightsAndBiases):
                    logger.log_tasks(rows, folder)
    except BaseException as error:
        stopped = isinstance(error, Interrupted | KeyboardInterrupt | SystemExit)
        with contextlib.suppress(OSError):  # a full disk must not hide its own message
            record.end("interrupted" if stopped else "failed", str(error) or type(error).__name__)
            if not stopped and not isinstance(error, UserError):
                (folder / "error.txt").write_text(traceback.format_exc(), encoding="utf-8")
        if stopped:
            console.print(f"python train.py resume={folder} goes on where it stopped")
        _finish(loggers, 1, {})
        raise
    record.end("done")
    _finish(loggers, 0, results)
    seconds = int(time.perf_counter() - begun)
    console.print(f"done in {seconds // 60}:{seconds % 60:02d}: {folder}")
    return Outcome(folder, "done", results)


def _finish(loggers: list[Logger], status: int, results: dict[str, Any]) -> None:
    for logger in loggers:
        if isinstance(logger, WeightsAndBiases):
            if results:
                logger.log_summary(results)
            logger.finish(status)


def _prepare(plan: Plan, corpus: Corpus, folder: Path, record: Record, source: str) -> Pretraining:
    config = plan.config
    seed_everything(config["seed"], verbose=False)
    model = build(plan, seed=config["seed"])
    parameters = sum(parameter.numel() for parameter in model.parameters())
    record.start(
        config,
        vocabulary=plan.vocab,
        source=source,
        corpus=corpus.fingerprint,
        budget={
            "parameters": parameters,
            "parameters_without_embedding": parameters - plan.counted.embedding(),
            "flops_per_token": plan.flops_per_token(),
            "tokens_seen": plan.tokens_seen,
            "updates": config["steps"],
        },
    )
    corpus.tokenizer.save(folder / "tokenizer.json")
    return Pretraining(
        model,
        is_special=corpus.tokenizer.is_special,
        optim=config["optim"],
        updates=config["steps"],
        micro_batches=config["trainer"]["micro_batches"],
    )


def _train(
    plan: Plan,
    module: Pretraining,
    data: Corpora,
    folder: Path,
    resumed: Path | None,
    loggers: list[Logger],
    samples: Samples,
) -> None:
    config, trainer_config = plan.config, plan.config["trainer"]
    steps, tokens = config["steps"], config["batch_size"] * plan.row.source
    clock, display = Clock(), Display(steps)

    metrics = Metrics(
        every=trainer_config["log_every"], updates=steps, tokens=tokens, flops=plan.flops_per_token(),
        peak=_peak_flops(trainer_config), clock=clock, show=display.metrics,
    )  # fmt: skip
    validation = Validation(
        every=trainer_config["validate_every"], updates=steps, tokens=tokens, batches=data.validation_batches,
        folder=folder, clock=clock, show=display.validation, sample=samples.show,
    )  # fmt: skip
    saver = Checkpoints(every=trainer_config["checkpoint_every"], updates=steps, folder=folder, clock=clock)
    trainer = Trainer(
        accelerator=trainer_config["accelerator"],
        devices=trainer_config["devices"],
        strategy=trainer_config["strategy"],
        precision=trainer_config["precision"],
        max_steps=steps,
        max_epochs=-1,
        accumulate_grad_batches=trainer_config["micro_batches"],
        callbacks=[metrics, validation, saver, OrderlyStop(saver), Threads(trainer_config["threads"])],
        logger=loggers,
        plugins=[checkpoints.SafeCheckpointIO()],
        profiler=trainer_config["profiler"],
        default_root_dir=folder,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        log_every_n_steps=steps,
    )
    if trainer_config["compile"]:
        module.model.compile()  # in place: the names in checkpoints stay as they are
    try:
        with signals_reach_ranks(), what_a_rank_said():
            trainer.fit(module, datamodule=data, ckpt_path=resumed, weights_only=True)
    finally:
        display.close()
    if trainer_config["profiler"]:
        console.print(trainer.profiler.summary())  # type: ignore[attr-defined]


def _conclude(
    plan: Plan, data: Corpora, folder: Path, record: Record, totals: dict[str, Any], seconds: float
) -> dict[str, Any]:
    """Evaluate the best weights once more, beside the baseline; write ``results.json``."""
    best = checkpoints.read(folder / "checkpoints" / checkpoints.BEST)
    found = best["validation"]
    objective = plan.config["objective"]["name"]
    batches = data.validation_batches()
    asked = [
        plan.config["objective"],
        plan.row.source,
        plan.config["batch_size"],
        sum(len(b.inputs) for b in batches),
    ]
    key = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:12]
    beside = baselines(data.corpus, objective, batches, key=key)
    counted = sum(len(batch.labels) for batch in batches)
    rows = [
        {
            "task": objective,
            "kind": "pre-training",
            "reading": "pre-training",
            "metric": name,
            "value": value,
            "split": "validation",
            "count": counted,
            "updates": best["update"],
            "options": {},
        }
        for name, value in {**found, **beside}.items()
    ]
    write_json(folder / "results.json", rows)
    results = {**found, **beside, "best_update": best["update"]}
    budget = record.read()["budget"]
    record.note(
        results=results,
        budget={**budget, "tokens_in_loss": int(float(totals["tokens_in_loss"]))},
        timings={"session_seconds": round(seconds, 1), "training_seconds": float(totals["training_seconds"])},
    )
    _report(objective, results)
    return results


def _do_tasks(plan: Plan, corpus: Corpus, folder: Path) -> list[dict[str, Any]]:
    """Fine-tune the best weights on each task; their rows, which join those of the pre-training."""
    model = build(plan, seed=plan.config["seed"])
    best = checkpoints.read(folder / "checkpoints" / checkpoints.BEST)
    model.load_state_dict(dict(checkpoints.tensors_of(best)))
    if plan.config["trainer"]["accelerator"] == "gpu":
        model.cuda()
    path = folder / "results.json"
    before = [row for row in json.loads(path.read_text(encoding="utf-8")) if row["kind"] == "pre-training"]
    with stopped_by_signals():
        rows = do_tasks(plan.config, folder, model, corpus.tokenizer, console.print)
    write_json(path, [*before, *rows])
    if (own := column(rows, plan.config["arch"]["name"])) is not None:
        console.print(own)
    return rows


def _report(objective: str, results: dict[str, Any]) -> None:
    if "kneser_ney_5gram_loss" in results:
        ours, theirs = results["loss"], results["kneser_ney_5gram_loss"]
        bound = "at most " if objective == "masked_diffusion" else ""
        console.print(
            f"held-out loss {bound}[bold]{ours:.3f}[/bold] nats per token; Kneser-Ney 5-gram {theirs:.3f}"
        )
    if "two_sided_trigram_accuracy" in results:
        ours, theirs = results["accuracy"], results["two_sided_trigram_accuracy"]
        console.print(
            f"accuracy on hidden tokens [bold]{ours:.1%}[/bold]; two-sided trigram {theirs:.1%}"
            + (
                f"; next sentence {results['next_sentence_accuracy']:.1%}"
                if "next_sentence_accuracy" in results
                else ""
            )
        )


def _describe(plan: Plan, module: Pretraining, corpus: Corpus, folder: Path, resumed: Path | None) -> None:
    config = plan.config
    parameters = sum(parameter.numel() for parameter in module.model.parameters())
    console.print(
        f"[bold]{config['arch']['name']}[/bold] on {config['objective']['name']}: {parameters:,} parameters, "
        f"{plan.tokens_seen:,} source tokens in {config['steps']:,} updates, from {len(corpus.train):,} in the text; "
        f"vocabulary {plan.vocab:,}"
    )
    if resumed:
        console.print(f"resuming {folder} from {resumed.name}")


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Two processes never train in one folder."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder.with_name(f".{folder.name}.lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise UserError(
            f"another process is training {folder}; wait for it, or change the configuration"
        ) from error
    try:
        yield
    finally:
        lock.release()
        Path(lock.lock_file).unlink(missing_ok=True)


def _peak_flops(trainer: dict[str, Any]) -> float:
    """FLOP/s of one large matrix product on one device here: what the utilisation is a share of."""
    device = "cuda" if trainer["accelerator"] != "cpu" and torch.cuda.is_available() else "cpu"
    dtype = torch.bfloat16 if "bf16" in trainer["precision"] else torch.float32
    size = 1024 if device == "cpu" else 8192
    a, b = (torch.randn(size, size, dtype=dtype, device=device) for _ in range(2))
    times = []
    for _ in range(6):
        begun = time.perf_counter()
        (a @ b)[0, 0].item()  # waits for the device
        times.append(time.perf_counter() - begun)
    return 2 * size**3 / min(times)
