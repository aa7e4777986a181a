from itertools import pairwise

import numpy as np
import pytest

from zoo.data.stream import Stream
from zoo.data.vocabularies import Bytes
from zoo.objectives import Rows


@pytest.fixture(scope="session")
def tokenizer():
    return Bytes(vocab_size=326, sentinels=64).fit([])


@pytest.fixture(scope="session")
def make_rows(tokenizer):
    """Rows of a stream of documents of ``lengths``, each of one letter, in sentences of ``sentence`` tokens."""

    def make(lengths, n, starts, sentence=5):
        letters = [tokenizer.encode(chr(0x21 + number % 90))[0] for number in range(len(lengths))]
        parts = [
            [letter] * (length - 1) + [tokenizer.eos] for letter, length in zip(letters, lengths, strict=True)
        ]
        tokens = np.array([token for part in parts for token in part], dtype=np.uint16)
        documents = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        sentences = np.concatenate([np.arange(a, b, sentence) for a, b in pairwise(documents)])
        stream = Stream(tokens, documents, sentences)
        starts = np.asarray(starts)
        inner = sentences[~np.isin(sentences, documents)]
        return Rows(stream.tokens[starts[:, None] + np.arange(n + 1)], starts, stream, inner, tokenizer)

    return make
