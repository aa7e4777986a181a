"""`Tokenizer`: a `tokenizers.Tokenizer` with the special tokens that models need, looked up by name.

Shape letters: V vocabulary.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import tokenizers

from zoo.errors import UserError

# The usual names, first the zoo's own. No name stands twice, so that the six ids are six: a model whose
# padding is its end-of-text never learns to stop.
ALIASES: dict[str, tuple[str, ...]] = {
    "pad": ("<pad>", "[PAD]", "<|pad|>", "<|padding|>"),
    "bos": ("<bos>", "<s>", "<|begin_of_text|>", "<|startoftext|>", "[BOS]"),
    "eos": ("<eos>", "</s>", "<|endoftext|>", "<|end_of_text|>", "[EOS]"),
    "sep": ("<sep>", "[SEP]"),
    "cls": ("<cls>", "[CLS]"),
    "mask": ("<mask>", "[MASK]"),
}


def sentinel(i: int) -> str:
    """The name of T5's i-th sentinel (Raffel et al. 2020, arXiv:1910.10683)."""
    return f"<extra_id_{i}>"


def special_names(sentinels: int) -> list[str]:
    """The special tokens of a tokenizer made here, in the order of their ids."""
    return [names[0] for names in ALIASES.values()] + [sentinel(i) for i in range(sentinels)]


class Tokenizer:
    """Text to token ids and back.

    Attributes: `pad bos eos sep cls mask` (six different ids), `sentinels` (the ids of <extra_id_0>,
    <extra_id_1>, ...), `vocab_size`, and `is_special` (V,) bool: ids that are never text.

    Raises `UserError` when a special token is not in the vocabulary.
    """

    pad: int
    bos: int
    eos: int
    sep: int
    cls: int
    mask: int

    def __init__(self, tokenizer: tokenizers.Tokenizer) -> None:
        self._plain = tokenizers.Tokenizer.from_str(tokenizer.to_str())
        self._plain.no_padding()
        self._plain.no_truncation()
        # "<mask>" in somebody's text is six characters, not the special token. The json does not record this
        # switch.
        self._plain.encode_special_tokens = True

        vocabulary = self._plain.get_vocab(with_added_tokens=True)
        self.vocab_size = max(vocabulary.values()) + 1
        for role, names in ALIASES.items():
            found = next((vocabulary[name] for name in names if name in vocabulary), None)
            if found is None:
                raise UserError(f"the tokenizer has no {role} token: add one named {names[0]}")
            setattr(self, role, found)
        ids: list[int] = []
        while (token := vocabulary.get(sentinel(len(ids)))) is not None:
            ids.append(token)
        self.sentinels = tuple(ids)
        self.is_special = np.zeros(self.vocab_size, dtype=bool)
        added = self._plain.get_added_tokens_decoder()
        self.is_special[[i for i, token in added.items() if token.special]] = True
        self._alphabet = _alphabet(self._plain, vocabulary)

    @cached_property
    def _parsing(self) -> tokenizers.Tokenizer:
        return tokenizers.Tokenizer.from_str(self._plain.to_str())  # without the switch

    def encode(self, text: str, specials: bool = False) -> list[int]:
        """The ids of `text`. With `specials`, names of special tokens in the text stand for the tokens."""
        if specials:
            return list(self._parsing.encode(text, add_special_tokens=False).ids)
        self._check([text])
        return list(self._plain.encode(text, add_special_tokens=False).ids)

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text, in parallel."""
        self._check(texts)
        return [list(e.ids) for e in self._plain.encode_batch_fast(list(texts), add_special_tokens=False)]

    def encode_with_starts(self, texts: Sequence[str]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Per text its ids (T,) and the character (T,) at which each token starts, int64; in parallel."""
        self._check(texts)
        encoded = self._plain.encode_batch(list(texts), add_special_tokens=False)
        return [
            (np.array(e.ids, dtype=np.int64), np.array([s for s, _ in e.offsets], dtype=np.int64))
            for e in encoded
        ]

    def decode(self, ids: Iterable[int], skip_specials: bool = True) -> str:
        """The text of `ids`; incomplete UTF-8 becomes U+FFFD."""
        return str(self._plain.decode([int(i) for i in ids], skip_special_tokens=skip_specials))

    def token(self, i: int) -> str:
        """The vocabulary's own name of id `i` (byte-level alphabet, not text)."""
        return str(self._plain.id_to_token(int(i)))

    def fingerprint(self) -> str:
        """A hash of everything the tokenizer does."""
        return hashlib.sha256(self._plain.to_str().encode()).hexdigest()[:16]

    def save(self, path: str | Path) -> None:
        """Write the library's own `tokenizer.json`, which any Hugging Face tool reads."""
        Path(path).write_text(self._plain.to_str(pretty=True), encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Tokenizer:
        """Read what `save` wrote. Raises `UserError` when it cannot be read."""
        return cls(read(path))

    def __reduce__(self) -> tuple[object, ...]:
        return _from_json, (self._plain.to_str(),)

    def _check(self, texts: Iterable[str]) -> None:
        """Refuse characters that the library would drop without a word."""
        if self._alphabet is None:
            return
        for text in texts:
            if not self._alphabet.issuperset(text):
                unknown = next(c for c in text if c not in self._alphabet)
                raise UserError(
                    f"the tokenizer of characters has never seen {unknown!r} (U+{ord(unknown):04X}): "
                    "use tokenizer=bytes or tokenizer=bpe, or put the character into the training text"
                )


def read(path: str | Path) -> tokenizers.Tokenizer:
    """The library's tokenizer in the file `path`. Raises `UserError` when there is none."""
    try:
        contents = Path(path).read_bytes()
    except OSError as error:
        raise UserError(
            f"cannot read the tokenizer {path} ({error}): give the path of a tokenizer.json"
        ) from error
    try:
        return tokenizers.Tokenizer.from_buffer(contents)
    except ValueError as error:
        raise UserError(f"{path} is not a tokenizer.json of the tokenizers library ({error})") from error


def _from_json(text: str) -> Tokenizer:
    return Tokenizer(tokenizers.Tokenizer.from_str(text))


def _alphabet(tokenizer: tokenizers.Tokenizer, vocabulary: dict[str, int]) -> frozenset[str] | None:
    """The known characters of a model that silently drops all others; None for a model that drops none."""
    model = tokenizer.model
    drops = isinstance(model, tokenizers.models.BPE) and model.unk_token is None and not model.byte_fallback
    if not drops or tokenizer.pre_tokenizer is not None or tokenizer.normalizer is not None:
        return None
    return frozenset(token for token in vocabulary if len(token) == 1)
