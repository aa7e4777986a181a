"""``python train.py``: Hydra in front, one sentence for every mistake."""

from __future__ import annotations

import os
import sys
import time
from difflib import get_close_matches
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from zoo.config import folder as config_folder
from zoo.config import load, plain
from zoo.errors import UserError
from zoo.plan import make_plan
from zoo.plan.identity import folder as run_folder

_jobs: list[tuple[str, str, str, float]] = []  # of a sweep: name, status, remark, seconds


@hydra.main(config_path=str(config_folder()), config_name="config", version_base="1.3")
def _hydra_main(config: DictConfig) -> None:
    overrides = list(HydraConfig.get().overrides.task)
    if HydraConfig.get().mode != RunMode.MULTIRUN:
        _job(plain(config), overrides)
        return
    # A job that fails does not stop the others; the table at the end tells.
    name, begun = " ".join(overrides), time.perf_counter()
    try:
        status, remark = _job(plain(config), overrides)
    except UserError as error:
        status, remark = "failed", str(error)
    except (
        ValueError,
        TypeError,
        RuntimeError,
        OSError,
        KeyError,
        AttributeError,
        IndexError,
        AssertionError,
    ) as error:
        status, remark = "failed", f"{type(error).__name__}: {error}"
    except OmegaConfBaseException as error:
        status, remark = "failed", _explain(error)
    if status == "failed":
        print(f"error in {name}: {remark}", file=sys.stderr)
    _jobs.append((name, status, remark, time.perf_counter() - begun))


def _job(config: dict, overrides: list[str]) -> tuple[str, str]:
    """One run; its status and its folder."""
    if config["resume"]:
        from zoo.training.records import read_config

        path = Path(config["resume"])
        config = {**read_config(path), "fresh": False}
    else:
        make_plan(config)  # refuses in milliseconds what cannot be, before torch is imported
        path = run_folder(config, overrides)
    from zoo.training.run import run

    outcome = run(config, path)
    return outcome.status, str(outcome.folder)


def main() -> None:
    """Exit status: 0 done; 1 a failed job or an unforeseen error; 2 a request that cannot be met; 128 + signal."""
    traceback_wanted = bool(os.environ.get("HYDRA_FULL_ERROR"))
    os.environ["HYDRA_FULL_ERROR"] = "1"  # errors come here instead of being printed by Hydra
    try:
        _hydra_main()
    except KeyboardInterrupt:
        _fail("interrupted", 130)
    except (UserError, HydraException, OmegaConfBaseException) as error:
        if traceback_wanted:
            raise
        _fail(f"error: {error if isinstance(error, UserError) else _explain(error)}", 2)
    except Exception as error:
        if type(error).__name__ != "Interrupted":
            raise
        _fail(f"{error}; the same command goes on where it stopped", 128 + error.signum)  # type: ignore[attr-defined]
    finally:
        if _jobs:
            _table()
    if any(status == "failed" for _, status, _, _ in _jobs):
        sys.exit(1)


def _fail(sentence: str, status: int) -> None:
    print(sentence, file=sys.stderr)
    sys.exit(status)


def _table() -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("job", "status", "minutes", "")
    for name, status, remark, seconds in _jobs:
        table.add_row(name, status, f"{seconds / 60:.1f}", remark)
    Console(soft_wrap=True).print(table)


def _explain(error: Exception) -> str:
    """Hydra's and OmegaConf's messages as one sentence that says what to change."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    first = lines[0]
    if "Missing mandatory value" in first:
        key = first.rpartition(":")[2].strip()
        return f"{key} is needed here: add {key}=... to the command"
    if first.startswith("Could not override"):
        key = first.split("'")[1]
        near = get_close_matches(key, list(_keys(load())), n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else "python train.py --cfg job lists all keys"
        return f"there is no key {key}; {hint}"
    if "Could not find" in first:
        options = [line for line in lines[1:] if " " not in line]
        missing = first.split("'")[-2]
        group, _, choice = missing.rpartition("/")
        return f"{group}={choice} does not exist; use one of {', '.join(options)}"
    return first


def _keys(config: dict, prefix: str = "") -> list[str]:
    found = []
    for key, value in config.items():
        found.append(prefix + key)
        if isinstance(value, dict):
            found += _keys(value, f"{prefix}{key}.")
    return found
