"""Weights in and out: `python scripts/convert.py from=<folder, hub name or run> to=<folder>`."""

from pathlib import Path

import hydra
from omegaconf import DictConfig

from zoo import door
from zoo.config import folder, plain


@hydra.main(config_path=str(folder()), config_name="convert", version_base="1.3")
@door.job
def command(config: DictConfig) -> None:
    """A run becomes a folder of transformers, anything else a run."""
    from zoo.convert import to_folder, to_run

    asked = plain(config)
    source, target = asked["from"], Path(asked["to"])
    if (Path(source) / "run.json").exists():
        to_folder(Path(source), target, checkpoint=asked["checkpoint"])
        print(f"{target}: transformers loads it with from_pretrained")
        return
    fresh = to_run(source, target, tokenizer=asked["tokenizer_file"])
    print(f"{target}: a run folder, as good as one that was trained here")
    if fresh:
        print(f"not among the weights, so as initialised: {', '.join(fresh)}")


if __name__ == "__main__":
    door.enter(command, "convert")
