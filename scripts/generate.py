"""Text from a trained run: `python scripts/generate.py run=runs/... prompt="..." temperature=0.8 max_new_tokens=64`."""

import hydra
from omegaconf import DictConfig

from zoo import door
from zoo.config import folder
from zoo.errors import UserError


@hydra.main(config_path=str(folder()), config_name="generate", version_base="1.3")
@door.job
def command(config: DictConfig) -> None:
    """Print one text per sample."""
    import zoo
    from zoo.generation import Sampling, generate

    if not isinstance(config.samples, int) or config.samples < 1:
        raise UserError(f"samples={config.samples} must be a whole number above 0")
    run, sampling = config.run, Sampling(config.temperature, config.top_k, config.top_p)
    trained = zoo.load(run, checkpoint=config.checkpoint)
    texts = generate(
        trained.model,
        trained.tokenizer,
        [str(config.prompt)] * config.samples,
        max_new_tokens=config.max_new_tokens,
        sampling=sampling,
        method=config.method,
        iterations=config.iterations,
        seed=config.seed,
        way=trained.way,
    )
    print("\n---\n".join(texts))


if __name__ == "__main__":
    door.enter(command, "generate", texts=["prompt"])
