"""Where metrics go: metrics.csv always, W&B (offline unless logged in), TensorBoard if asked."""

from __future__ import annotations

import json
import multiprocessing
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow.parquet as pq
from lightning.pytorch.loggers import Logger, TensorBoardLogger
from lightning.pytorch.utilities.rank_zero import rank_zero_only

from zoo.errors import UserError
from zoo.training.records import MetricsCsv, Record

Warn = Callable[[str], Any]


def make_loggers(config: dict, folder: Path, warn: Warn = print) -> list[Logger]:
    """The loggers of ``config['logger']`` for the run in ``folder``."""
    found: list[Logger] = [MetricsCsv(folder / "metrics.csv")]
    asked = config["logger"]
    if asked["wandb"] and wandb_mode(asked["wandb"]["mode"]) != "disabled":
        found.append(WeightsAndBiases(config, folder, warn))
    if asked["tensorboard"]:
        try:
            found.append(TensorBoardLogger(save_dir=folder, name="", version="tensorboard"))
        except ModuleNotFoundError as error:
            raise UserError("logger=tensorboard needs its package: pip install tensorboard") from error
    return found


Mode = Literal["online", "offline", "disabled"]


def wandb_mode(asked: Mode | None) -> Mode:
    """What was asked for, else WANDB_MODE, else online where there is an API key and offline where there is none."""
    wanted = asked or os.environ.get("WANDB_MODE")
    if wanted == "online":
        return "online"
    if wanted:
        return "disabled" if wanted == "disabled" else "offline"
    if os.environ.get("WANDB_API_KEY"):
        return "online"
    netrc = Path(os.environ.get("NETRC", Path.home() / ".netrc"))
    try:
        return "online" if "api.wandb.ai" in netrc.read_text(encoding="utf-8") else "offline"
    except OSError:
        return "offline"


class WeightsAndBiases(Logger):
    """One W&B run per job, always finished, and never a reason for a run to stop.

    Lightning's own logger neither finishes its run, so that the jobs of a sweep share one, nor survives a server
    that is down.
    """

    def __init__(self, config: dict, folder: Path, warn: Warn = print) -> None:
        super().__init__()
        self.mode = wandb_mode(config["logger"]["wandb"]["mode"])
        record = Record(folder)
        self._id = record.read().get("wandb_id") or secrets.token_hex(4)
        record.note(wandb_id=self._id)
        self.folder, self._warn, self._broken = folder, warn, False
        self._run: Any = None
        self._about = {
            "project": config["logger"]["wandb"]["project"],
            "name": folder.name,
            "group": config["name"],
            "job_type": config["arch"]["name"],
            "config": {**axes(config), "full": config},
        }

    @property
    def name(self) -> str:
        return "wandb"

    @property
    def version(self) -> str:
        return self._id

    @property
    def experiment(self) -> Any:
        """W&B's run: offline where the server cannot be reached, None where W&B itself fails."""
        import wandb

        modes: tuple[Mode, ...] = (self.mode,) if self.mode == "offline" else (self.mode, "offline")
        for mode in modes:
            if self._run is not None or self._broken:
                break
            try:
                self._run = wandb.init(
                    **self._about,
                    id=self._id,
                    # Absolute: a W&B service that an agent or a parent process started has its own working directory.
                    dir=self.folder.resolve(),
                    mode=mode,
                    resume="allow" if mode == "online" else None,
                    settings=wandb.Settings(silent=True, console="off", init_timeout=30),
                )
                # Steps differ in cost between architectures; tokens seen are what runs are compared along.
                self._run.define_metric("tokens_seen")
                self._run.define_metric("*", step_metric="tokens_seen")
            except (wandb.errors.Error, OSError) as error:
                self._warn(f"W&B does not start {mode} ({error}); the run goes on")
                self._broken = mode == "offline"
        return self._run

    @rank_zero_only
    def log_hyperparams(self, params: Any, *args: Any, **kwargs: Any) -> None:
        """The configuration is given when the run starts."""

    @rank_zero_only
    def log_metrics(self, metrics: Mapping[str, float], step: int | None = None) -> None:
        self._log(dict(metrics), step)

    @rank_zero_only
    def log_samples(self, pairs: list[tuple[str, str]], step: int) -> None:
        """A table of (prompt, text)."""
        import wandb

        self._log(
            {"samples": wandb.Table(columns=["prompt", "text"], data=[list(pair) for pair in pairs])}, step
        )

    @rank_zero_only
    def log_summary(self, results: Mapping[str, Any]) -> None:
        """What the run ended with, one value each."""
        if (run := self.experiment) is not None:
            run.summary.update({f"final/{name}": value for name, value in results.items()})

    @rank_zero_only
    def log_tasks(self, rows: Sequence[Mapping[str, Any]], folder: Path) -> None:
        """What the dashboard compares runs by: the rows of results.json and every answer to a test item as tables, the
        maps of attention's direction as pictures, the chosen reading's scores in the summary."""
        import wandb

        answers = sorted((folder / "predictions").glob("*.parquet"))
        tables = {"results": rows} | {
            f"answers/{one.stem}": pq.read_table(one).to_pylist() for one in answers
        }
        media: dict[str, Any] = {name: wandb.Table(*_columns(rows)) for name, rows in tables.items() if rows}
        if (maps := folder / "direction.json").exists():
            for stack, influence in json.loads(maps.read_text(encoding="utf-8")).items():
                media[f"direction/{stack}"] = wandb.Image(_grey(np.array(influence)))
        self._log(media, None)
        chosen = (row for row in rows if row["split"] == "test" and row.get("headline") and row.get("chosen"))
        self.log_summary({f"{row['task']}/{row['metric']}": row["value"] for row in chosen})

    def _log(self, values: dict[str, Any], step: int | None) -> None:
        import wandb

        if (run := self.experiment) is None:
            return
        try:
            run.log(values, step=step)
        except (wandb.errors.Error, OSError) as error:
            self._warn(f"W&B stopped taking values ({error}); the run goes on")
            self._run, self._broken = None, True

    @rank_zero_only
    def finalize(self, status: str) -> None:
        """Lightning calls this after ``fit``.  A spawned rank ends here; the main process has results to add."""
        if multiprocessing.parent_process() is not None:
            self.finish(0 if status == "success" else 1)

    def finish(self, status: int) -> None:
        """End the W&B run, so that the next job of a sweep gets its own."""
        if self._run is not None:
            self._run.finish(exit_code=status)
            self._run = None

    def __getstate__(self) -> dict[str, Any]:
        # A spawned rank starts (and finishes) the W&B run itself.
        return {**self.__dict__, "_run": None}


def _columns(rows: Sequence[Mapping[str, Any]]) -> tuple[list[str | int], list[list[Any]]]:
    """For ``wandb.Table``: the keys of the rows, and the rows; a cell is a number or a text."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    plain = [
        {key: json.dumps(value) if isinstance(value, dict | list) else value for key, value in row.items()}
        for row in rows
    ]
    return [*keys], [[row.get(key) for key in keys] for row in plain]


def _grey(influence: np.ndarray, pixels: int = 8) -> np.ndarray:
    """A picture of influences (outputs, inputs), dark where they are large; so many pixels for each."""
    scaled = 255 * (1 - influence / max(influence.max(), 1e-12))
    return np.kron(scaled, np.ones((pixels, pixels))).astype(np.uint8)


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
