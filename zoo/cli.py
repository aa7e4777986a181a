"""``python train.py``: one run, or a sweep of them."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig

from zoo import door
from zoo.config import folder as config_folder
from zoo.config import plain
from zoo.errors import Interrupted, UserError
from zoo.plan import make_plan
from zoo.plan.identity import folder as run_folder

_jobs: list[tuple[str, str, str, float]] = []  # of a sweep: name, status, folder or error, seconds


@hydra.main(config_path=str(config_folder()), config_name="config", version_base="1.3")
@door.job
def _command(config: DictConfig) -> None:
    overrides = list(HydraConfig.get().overrides.task)
    if HydraConfig.get().mode == RunMode.MULTIRUN:
        _sweep_job(config, overrides)
    else:
        train(plain(config), overrides)


def _sweep_job(config: DictConfig, overrides: list[str]) -> None:
    """A job that fails, whatever the reason, does not stop the others; the table at the end tells."""
    name, begun = " ".join(overrides), time.perf_counter()
    try:
        status, remark = train(plain(config), overrides)
    except Interrupted as error:
        # Who stops a job stops the sweep: Hydra would go on to the next after any ordinary exception.
        _jobs.append((name, "interrupted", "", time.perf_counter() - begun))
        print(error, file=sys.stderr)
        raise SystemExit(128 + error.signum) from error
    except Exception as error:
        status, remark = "failed", door.sentence(error)
        print(f"error in {name}: {remark}", file=sys.stderr)
    _jobs.append((name, status, remark, time.perf_counter() - begun))


def train(config: dict, overrides: list[str]) -> tuple[str, str]:
    """One run: its status and its folder."""
    if config["resume"]:
        from zoo.training.records import read_config

        if more := [item for item in overrides if not item.startswith("resume=")]:
            raise UserError(f"resume= goes on with the run's own configuration; leave out {' '.join(more)}")
        path = Path(config["resume"])
        config = {**read_config(path), "fresh": False}
    else:
        make_plan(config)  # refuses in milliseconds what cannot be, before torch is imported
        path = run_folder(config, overrides)
    from zoo.training.run import run

    outcome = run(config, path)
    return outcome.status, str(outcome.folder)


def main() -> None:
    """See ``door.enter`` for the exit status; a sweep with a failed job ends with 1."""
    try:
        door.enter(_command)
    finally:
        if _jobs:
            _table()
    if any(status == "failed" for _, status, _, _ in _jobs):
        sys.exit(1)


def _table() -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("job", "status", "minutes", "")
    for name, status, remark, seconds in _jobs:
        table.add_row(name, status, f"{seconds / 60:.1f}", remark)
    Console(soft_wrap=True).print(table)
