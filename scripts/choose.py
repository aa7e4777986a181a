"""What the grids found best on validation: `python scripts/choose.py runs=[runs/lr_grid] out=conf/chosen`."""

from pathlib import Path

import hydra
from omegaconf import DictConfig

from zoo import door
from zoo.config import folder, plain


@hydra.main(config_path=str(folder()), config_name="choose", version_base="1.3")
@door.job
def command(config: DictConfig) -> None:
    """Print everything that was tried, and the choice for each architecture."""
    from zoo.report import choose
    from zoo.report.write import write_texts

    settings = plain(config)
    runs = choose.grid(map(Path, settings["runs"]))
    print(choose.table(runs))
    files = {f"{arch}.yaml": text for arch, text in choose.files(runs).items()}
    for name, text in files.items():
        print(f"{name}:\n{text}")
    if settings["out"]:
        write_texts(files, Path(settings["out"]))


if __name__ == "__main__":
    door.enter(command, "choose")
