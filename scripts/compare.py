"""The comparison, from the runs on disk: `python scripts/compare.py runs=[runs/table] group_by=arch`."""

import os
import time
from pathlib import Path

import hydra
from omegaconf import DictConfig

from zoo import door
from zoo.config import folder, plain


@hydra.main(config_path=str(folder()), config_name="compare", version_base="1.3")
@door.job
def command(config: DictConfig) -> None:
    """Print the table; write it as a page, Markdown, CSV and JSON."""
    from zoo.report import compare, keep, show, write

    settings = plain(config)
    runs = settings["runs"]
    if runs is None:
        runs = "runs/table" if Path("runs/table").is_dir() else "runs"
    places = [Path(place) for place in ([runs] if isinstance(runs, str) else runs)]
    if settings["keep"]:
        for path in keep(places, Path(settings["keep"])):
            print(os.path.relpath(path))
        return
    report = compare(places, settings)
    show(report)
    written = write(report, Path(settings["out"]), time.strftime("%Y-%m-%d"))
    for path in written:
        print(os.path.relpath(path))
    if settings["wandb"]["project"]:
        from zoo.report.dashboard import send
        from zoo.training.loggers import wandb_mode

        print(send(report, written[0], settings["wandb"]["project"], wandb_mode(settings["wandb"]["mode"])))


if __name__ == "__main__":
    door.enter(command, "compare")
