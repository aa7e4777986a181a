"""Where metrics go: metrics.csv always, W&B (offline unless logged in), TensorBoard if asked."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from lightning.pytorch.loggers import Logger, TensorBoardLogger, WandbLogger

from zoo.errors import UserError
from zoo.training.records import MetricsCsv, Record


def make_loggers(config: dict, folder: Path, warn: Any = print) -> list[Logger]:
    """The loggers of ``config['logger']`` for the run in ``folder``."""
    found: list[Logger] = [MetricsCsv(folder / "metrics.csv")]
    asked = config["logger"]
    if asked["wandb"] and wandb_mode(asked["wandb"]["mode"]) != "disabled":
        found += _wandb(config, folder, warn)
    if asked["tensorboard"]:
        try:
            found.append(TensorBoardLogger(save_dir=folder, name="", version="tensorboard"))
        except ModuleNotFoundError as error:
            raise UserError("logger=tensorboard needs the package: pip install tensorboard") from error
    return found


def wandb_mode(asked: str | None) -> str:
    """What was asked for, else WANDB_MODE, else online where there is an API key and offline where there is none."""
    if asked or os.environ.get("WANDB_MODE"):
        return asked or os.environ["WANDB_MODE"]
    if os.environ.get("WANDB_API_KEY"):
        return "online"
    netrc = Path(os.environ.get("NETRC", Path.home() / ".netrc"))
    try:
        return "online" if "api.wandb.ai" in netrc.read_text(encoding="utf-8") else "offline"
    except OSError:
        return "offline"


def _wandb(config: dict, folder: Path, warn: Any) -> list[Logger]:
    """W&B's logger, offline where the server cannot be reached, none where W&B itself fails: training goes on."""
    import wandb

    record = Record(folder)
    run_id = record.read().get("wandb_id") or wandb.util.generate_id()
    record.note(wandb_id=run_id)
    wanted = wandb_mode(config["logger"]["wandb"]["mode"])
    for mode in dict.fromkeys((wanted, "offline")):
        try:
            run = wandb.init(
                project=config["logger"]["wandb"]["project"],
                name=folder.name,
                id=run_id,
                group=config["name"],
                job_type=config["arch"]["name"],
                config={**axes(config), "full": config},
                dir=folder,
                mode=mode,
                resume="allow" if mode == "online" else None,
                settings=wandb.Settings(silent=True, console="off", init_timeout=30),
            )
        except (wandb.errors.Error, OSError) as error:
            warn(f"W&B cannot start {mode} ({error})")
            continue
        run.define_metric("tokens_seen")
        run.define_metric("*", step_metric="tokens_seen")
        return [WandbLogger(experiment=run)]
    return []


def finish_wandb(status: int) -> None:
    """End this job's W&B run, so that the next job of a sweep gets its own."""
    import sys

    if "wandb" in sys.modules and (wandb := sys.modules["wandb"]).run is not None:
        wandb.finish(exit_code=status, quiet=True)


def axes(config: dict) -> dict[str, Any]:
    """The compared axes under short names, for filtering and grouping in a dashboard."""

    def last(target: dict | None) -> str | None:
        return target["_target_"].rsplit(".", 1)[-1] if target and "_target_" in target else None

    return {
        "arch": config["arch"]["name"],
        "size": config["size"]["name"],
        "objective": config["objective"]["name"],
        "attention_rule": last(config["attention"]["rule"]),
        "heads": config["attention"]["mixer"].get("heads"),
        "kv_heads": config["attention"]["mixer"].get("kv_heads"),
        "position": last(config["position"]),
        "norm": f"{config['norm']['placement']}_{last(config['norm']['layer'])}",
        "activation": config["ffn"].get("activation"),
        "gated": config["ffn"].get("gated"),
        "match": config["match"]["by"],
        "data": last(config["data"]),
        "tokenizer": last(config["tokenizer"]),
        "lr": config["optim"]["lr"],
        "seed": config["seed"],
        "context": config["context"],
        "batch_size": config["batch_size"],
        "steps": config["steps"],
    }
