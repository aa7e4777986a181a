"""Between run folders and those of other projects: a trained model comes in to be tuned and compared, or goes out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import models

from zoo.api import load
from zoo.data.tokenizer import Tokenizer, read
from zoo.data.vocabularies import named
from zoo.errors import UserError
from zoo.interop import from_hugging_face, grown, read_folder, to_hugging_face, write_folder
from zoo.interop.llama2c import read_llama2c, read_llama2c_tokenizer
from zoo.interop.weights import State
from zoo.training import checkpoints
from zoo.training.records import Record

_FILES = [
    "config.json",
    "*.safetensors",
    "*.safetensors.index.json",
    "pytorch_model*.bin*",
    "tokenizer*",
    "vocab*",
]


def to_run(source: str, folder: Path, *, tokenizer: str | None = None) -> list[str]:
    """Make a run folder of ``source``: a folder of transformers, a name on the Hugging Face hub, or a .bin of llama2.c.

    Args:
        tokenizer: a tokenizer.json or llama2.c's tokenizer, where it does not lie beside the weights.

    Returns:
        Names of weights that ``source`` lacks, as initialised: heads, and the vectors of special tokens that we need.

    Raises:
        UserError: it cannot be read, or is none of our architectures; or ``folder`` is there already.
    """
    if folder.exists() and any(folder.iterdir()):
        raise UserError(f"{folder} is there already; give another folder to write to")
    theirs, state, tokens = _read(source, tokenizer)
    found = from_hugging_face(theirs, state, "task=none")
    own = Tokenizer(_as_large(named(tokens, sentinels=0), theirs["vocab_size"]))
    model = grown(found, own.vocab_size)
    fresh = list(found.fresh)
    if new := own.vocab_size - theirs["vocab_size"]:
        fresh.append(f"the {new} last rows of embedding.tokens.weight")
    record = Record(folder)
    record.start({**found.config, "name": "imported"}, imported_from=source, fresh_weights=fresh)
    own.save(folder / "tokenizer.json")
    (folder / "checkpoints").mkdir(exist_ok=True)
    weights = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
    checkpoints.save({"state_dict": weights, "update": 0}, folder / "checkpoints" / checkpoints.BEST)
    record.end("imported")
    return fresh


def to_folder(run: Path, folder: Path, *, checkpoint: str = "best") -> None:
    """Make a folder that transformers loads, weights and tokenizer, of a run.

    Raises:
        UserError: no run folder, none of transformers' architectures, or ``folder`` is there already.
    """
    if folder.exists() and any(folder.iterdir()):
        raise UserError(f"{folder} is there already; give another folder to write to")
    trained = load(run, checkpoint=checkpoint)
    own = trained.tokenizer
    ids = {f"{role}_token_id": getattr(own, role) for role in ("pad", "bos", "eos", "cls", "sep")}
    if trained.model.encoder and trained.model.decoder:
        ids |= {"decoder_start_token_id": own.bos, "forced_eos_token_id": None}
    write_folder(folder, *to_hugging_face(trained.config, trained.model, ids))
    own.save(folder / "tokenizer.json")
    names = {
        f"{role}_token": own.token(getattr(own, role)) for role in ("pad", "bos", "eos", "cls", "sep", "mask")
    }
    about = {"tokenizer_class": "PreTrainedTokenizerFast", **names}
    (folder / "tokenizer_config.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")


def _read(source: str, tokenizer: str | None) -> tuple[dict[str, Any], State, tokenizers.Tokenizer]:
    path = Path(source)
    if path.is_file():
        theirs, state = read_llama2c(path)
        if tokenizer is None:
            raise UserError(
                f"{path} has no tokenizer beside it that we know: add tokenizer_file=<its .bin or a tokenizer.json>"
            )
        if tokenizer.endswith(".json"):
            return theirs, state, read(tokenizer)
        return theirs, state, read_llama2c_tokenizer(Path(tokenizer), theirs["vocab_size"])
    folder = path if path.is_dir() else _downloaded(source)
    theirs, state = read_folder(folder)
    return theirs, state, _tokenizer(folder) if tokenizer is None else read(tokenizer)


def _downloaded(name: str) -> Path:
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, allow_patterns=_FILES))
    except Exception as error:
        short = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise UserError(
            f"{name} is neither a folder here nor a model that the hub gives us ({short})"
        ) from error


def _tokenizer(folder: Path) -> tokenizers.Tokenizer:
    if (folder / "tokenizer.json").exists():
        return read(folder / "tokenizer.json")
    if (folder / "vocab.json").exists() and (folder / "merges.txt").exists():
        model = models.BPE.from_file(str(folder / "vocab.json"), str(folder / "merges.txt"))
        made = tokenizers.Tokenizer(model)
        made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
        made.decoder = tokenizers.decoders.ByteLevel()
        return made
    raise UserError(
        f"{folder} has no tokenizer.json: load it with AutoTokenizer in transformers and save_pretrained there, "
        f"or give tokenizer_file=<a tokenizer.json>"
    )


def _as_large(tokenizer: tokenizers.Tokenizer, vocab: int) -> tokenizers.Tokenizer:
    """With names for the ids that a vocabulary was rounded up by, so that both have one size."""
    missing = vocab - max(tokenizer.get_vocab(with_added_tokens=True).values()) - 1
    if missing > 0:
        tokenizer.add_special_tokens([f"<unused_{i}>" for i in range(missing)])
    return tokenizer
