"""Where a tokenizer comes from: trained byte-level BPE, bytes, characters, or a tokenizer.json.

Each kind has `fit(documents) -> Tokenizer` and `fingerprint()`, a hash of its settings. `vocab_size` counts
the special tokens and is what the model's embedding gets, so it must be known, or checked, before anything is
trained.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Iterator
from typing import Protocol

import tokenizers
from tokenizers import AddedToken, decoders, models, pre_tokenizers, trainers

from zoo.data.tokenizer import ALIASES, Tokenizer, read, sentinel, special_names
from zoo.errors import UserError

logger = logging.getLogger(__name__)

# Without merges no two neighbours ever join, so the library's BPE model is a table of single symbols.
_NO_MERGES: list[tuple[str, str]] = []


class Kind(Protocol):
    """A way to come by a tokenizer."""

    def fit(self, documents: Iterable[str]) -> Tokenizer:
        """The tokenizer, trained on `documents` where it is trained at all."""

    def fingerprint(self) -> str:
        """A hash of the settings: equal settings and documents make equal tokenizers."""


class BPE:
    """Byte-level byte-pair encoding (Sennrich et al. 2016; GPT-2), trained on the first `sample_bytes`.

    Any text round-trips: all 256 bytes are in the vocabulary. Where the text is too small for `vocab_size`,
    unused tokens fill the vocabulary, so that the model has the size its configuration says.
    """

    def __init__(self, *, vocab_size: int = 2048, sentinels: int = 64, sample_bytes: int = 5_000_000) -> None:
        least = 256 + len(special_names(sentinels))
        if vocab_size < least:
            raise UserError(
                f"tokenizer.vocab_size={vocab_size} is below {least}, the bytes and special tokens: raise it"
            )
        self.vocab_size, self.sentinels, self.sample_bytes = vocab_size, sentinels, sample_bytes

    def fit(self, documents: Iterable[str]) -> Tokenizer:
        """Train. Merges are found by count, ties by id: the same documents always give the same tokenizer."""
        tokenizer = _byte_level(models.BPE())
        trainer = trainers.BpeTrainer(
            vocab_size=self.vocab_size,
            min_frequency=2,
            special_tokens=special_names(self.sentinels),
            initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
            show_progress=False,
        )
        tokenizer.train_from_iterator(_first(documents, self.sample_bytes), trainer)
        missing = self.vocab_size - tokenizer.get_vocab_size()
        if missing:
            logger.warning(
                "the text has too few repeated pieces for %d tokens: %d are unused", self.vocab_size, missing
            )
            tokenizer.add_special_tokens([f"<unused_{i}>" for i in range(missing)])
        return Tokenizer(tokenizer)

    def fingerprint(self) -> str:
        """See `Kind`."""
        return _hash("bpe", self.vocab_size, self.sentinels, self.sample_bytes)


class Bytes:
    """The 256 bytes of UTF-8 as tokens (ByT5, Xue et al. 2022): nothing to train, any text round-trips."""

    def __init__(self, *, vocab_size: int | None = None, sentinels: int = 64) -> None:
        _check_size(vocab_size, 256 + len(special_names(sentinels)))
        self.sentinels = sentinels

    def fit(self, documents: Iterable[str]) -> Tokenizer:
        """The tokenizer; `documents` are not read."""
        symbols = special_names(self.sentinels) + sorted(pre_tokenizers.ByteLevel.alphabet())
        tokenizer = _byte_level(
            models.BPE(vocab={s: i for i, s in enumerate(symbols)}, merges=_NO_MERGES), split=False
        )
        tokenizer.add_special_tokens(special_names(self.sentinels))
        return Tokenizer(tokenizer)

    def fingerprint(self) -> str:
        """See `Kind`."""
        return _hash("bytes", self.sentinels)


class Characters:
    """The characters of the training text as tokens. Encoding any other character raises `UserError`."""

    def __init__(self, *, vocab_size: int | None = None, sentinels: int = 64) -> None:
        self.vocab_size, self.sentinels = vocab_size, sentinels

    def fit(self, documents: Iterable[str]) -> Tokenizer:
        """Collect the characters of all `documents`."""
        characters: set[str] = set()
        for document in documents:
            characters.update(document)
        symbols = special_names(self.sentinels) + sorted(characters)
        _check_size(self.vocab_size, len(symbols))
        tokenizer = tokenizers.Tokenizer(
            models.BPE(vocab={s: i for i, s in enumerate(symbols)}, merges=_NO_MERGES)
        )
        tokenizer.decoder = decoders.Fuse()  # the default decoder puts a space between tokens
        tokenizer.add_special_tokens(special_names(self.sentinels))
        return Tokenizer(tokenizer)

    def fingerprint(self) -> str:
        """See `Kind`."""
        return _hash("characters", self.sentinels)


class File:
    """Any `tokenizer.json`, special tokens under their usual names ([PAD], </s>); missing ones are added."""

    def __init__(self, *, path: str, vocab_size: int | None = None, sentinels: int = 64) -> None:
        self.path, self.vocab_size, self.sentinels = path, vocab_size, sentinels

    def fit(self, documents: Iterable[str]) -> Tokenizer:
        """The tokenizer in the file; `documents` are not read. `UserError` when the file cannot be read."""
        result = Tokenizer(named(read(self.path), sentinels=self.sentinels))
        _check_size(self.vocab_size, result.vocab_size)
        probe = "A naïve test:\n\tthe  cat (猫) is 3 years old 🙂."
        if result.decode(result.encode(probe)) != probe:
            logger.warning(
                "%s does not give every text back unchanged, so generated text may differ in form", self.path
            )
        return result

    def fingerprint(self) -> str:
        """See `Kind`; a hash of the file, not of its name."""
        return _hash("file", hashlib.sha256(read(self.path).to_str().encode()).hexdigest(), self.sentinels)


def named(tokenizer: tokenizers.Tokenizer, *, sentinels: int) -> tokenizers.Tokenizer:
    """With the special tokens that models need: those it has under a usual name, the others added at the end."""
    present = tokenizer.get_vocab(with_added_tokens=True)
    names = [next((n for n in aliases if n in present), aliases[0]) for aliases in ALIASES.values()]
    names += [sentinel(i) for i in range(sentinels)]
    special = {token.content for token in tokenizer.get_added_tokens_decoder().values() if token.special}
    tokenizer.add_special_tokens(
        [AddedToken(n, normalized=False, special=True) for n in names if n not in special]
    )
    return tokenizer


def _byte_level(model: models.Model, split: bool = True) -> tokenizers.Tokenizer:
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=split)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def _first(documents: Iterable[str], n_bytes: int) -> Iterator[str]:
    """The first `n_bytes` bytes of the documents, the last one cut."""
    for document in documents:
        text = document[:n_bytes]
        yield text
        n_bytes -= len(text.encode())
        if n_bytes <= 0:
            return


def _check_size(claimed: int | None, true: int) -> None:
    if claimed is not None and claimed != true:
        raise UserError(f"this tokenizer has {true} tokens, not {claimed}: set tokenizer.vocab_size={true}")


def _hash(*settings: object) -> str:
    # The library is part of the settings: another version may merge differently.
    return hashlib.sha256(repr((tokenizers.__version__, *settings)).encode()).hexdigest()[:16]
