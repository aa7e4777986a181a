"""What counting alone achieves on the same held-out tokens, seeing what each model may see.

Beside causal LM and prefix LM: an interpolated Kneser-Ney 5-gram's loss on the tokens that are in the model's own; all
three see what stands before a token in its row, and nothing after it.  Beside text infilling the same, though that
model reads the damaged text besides: what it saves is what reading it is worth.  Beside masked LM and span corruption:
the accuracy of a two-sided trigram, which guesses a hidden token from its two neighbours where they are visible.

Beside masked diffusion: both.  Its loss bounds what it takes to tell a whole row, in whatever order, so a 5-gram that
tells the same tokens from the left is a fair one; it too is given nothing before the row, and where documents end.  The
trigram is asked at every rate, with one neighbour or none where the others are masked, as the model is.
"""

from __future__ import annotations

import json

import numpy as np

from zoo.data.ngram import KneserNey, TwoSidedTrigram
from zoo.data.stream import Corpus, default_cache
from zoo.objectives import Batch
from zoo.training.records import write_json

_UNSEEN = -1  # a neighbour that is hidden too


def baselines(corpus: Corpus, objective: str, batches: list[Batch], *, key: str) -> dict[str, float]:
    """The baseline of ``objective`` on the validation ``batches``; kept in the cache under ``key``."""
    path = default_cache() / "baselines" / f"{corpus.fingerprint}-{key}.json"
    if path.exists():
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            path.unlink()
    left_to_right = objective in ("causal_lm", "prefix_lm", "text_infilling")
    found = _causal(corpus, batches) if left_to_right else _hidden(corpus, batches)
    if objective == "masked_diffusion":
        found |= _whole(corpus, batches)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, found)
    return found


def _causal(corpus: Corpus, batches: list[Batch]) -> dict[str, float]:
    vocab = corpus.tokenizer.vocab_size
    model = KneserNey(order=5).fit(np.asarray(corpus.train.tokens), vocab)
    total = count = 0.0
    for batch in batches:
        views = _next_views(batch) if batch.targets is None else _written_views(batch)
        for row, asked in zip(*views, strict=True):
            total += model.loss(row, positions=asked) * len(asked)
            count += len(asked)
    return {"kneser_ney_5gram_loss": total / count}


def _next_views(batch: Batch) -> tuple[np.ndarray, list[np.ndarray]]:
    """Each row with the token after it, (B, n + 1), and the places in it of the tokens that are in the loss."""
    inputs, labels = batch.inputs.numpy(), batch.labels.numpy()
    where = np.arange(inputs.size) if batch.where is None else batch.where.numpy()
    row, place = np.divmod(where, inputs.shape[1])
    after = labels[place == inputs.shape[1] - 1]  # the token after a row is always asked for
    rows = np.concatenate([inputs, after[:, None]], 1)
    return rows, [place[row == number] + 1 for number in range(len(rows))]


def _written_views(batch: Batch) -> tuple[np.ndarray, list[np.ndarray]]:
    """Each written row after its start token, (B, U + 1); all but the start token is in the loss."""
    assert batch.targets is not None
    starts, labels = batch.targets.numpy()[:, :1], batch.labels.numpy().reshape(batch.targets.shape)
    return np.concatenate([starts, labels], 1), [np.arange(1, labels.shape[1] + 1)] * len(labels)


def _whole(corpus: Corpus, batches: list[Batch]) -> dict[str, float]:
    """The loss on every text token of masked rows, given the tokens before it in the row and that it is one."""
    model = KneserNey(order=5).fit(np.asarray(corpus.train.tokens), corpus.tokenizer.vocab_size)
    is_text = ~corpus.tokenizer.is_special
    total = count = 0.0
    for batch in batches:
        assert batch.where is not None
        framed = batch.inputs.numpy().copy()
        framed.reshape(-1)[batch.where.numpy()] = batch.labels.numpy()
        for row in framed[:, 1:-1]:
            for place in np.flatnonzero(is_text[row]):
                p = model.probabilities(row[:place])
                total -= np.log(p[row[place]] / p[is_text].sum())
                count += 1
    return {"kneser_ney_5gram_loss": float(total / count)}


def _hidden(corpus: Corpus, batches: list[Batch]) -> dict[str, float]:
    model = TwoSidedTrigram().fit(np.asarray(corpus.train.tokens), corpus.tokenizer.vocab_size)
    special = corpus.tokenizer.is_special
    right = count = 0
    for batch in batches:
        left, after, answers = (
            _masked_views(batch, special) if batch.targets is None else _span_views(batch, corpus)
        )
        right += int((model.predict(left, after) == answers).sum())
        count += len(answers)
    return {"two_sided_trigram_accuracy": right / max(count, 1)}


def _masked_views(batch: Batch, special: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each hidden token's neighbours in BERT's input; <cls>, <sep> and <mask> tell nothing."""
    assert batch.where is not None
    flat = batch.inputs.numpy().reshape(-1)
    where = batch.where.numpy()
    neighbours = np.where(special[flat], _UNSEEN, flat)
    return neighbours[where - 1], neighbours[where + 1], batch.labels.numpy()


def _span_views(batch: Batch, corpus: Corpus) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each cut token's neighbours: to the left what T5's decoder has just read, or the encoder's text before the
    span; to the right the encoder's text after the span, for its last token."""
    assert batch.targets is not None
    special, sentinels = corpus.tokenizer.is_special, set(corpus.tokenizer.sentinels)
    lefts, rights, answers = [], [], []
    for inputs, targets in zip(
        batch.inputs.numpy(), batch.labels.numpy().reshape(batch.targets.shape), strict=True
    ):
        sides = {
            token: (inputs[i - 1] if i else _UNSEEN, inputs[i + 1])
            for i, token in enumerate(inputs.tolist())
            if token in sentinels
        }
        for i, token in enumerate(targets.tolist()):
            if token in sentinels:
                side = sides[token]
                continue
            if special[token]:
                continue
            before = targets[i - 1]
            last = special[targets[i + 1]]
            lefts.append(side[0] if before in sentinels else before)
            rights.append(side[1] if last else _UNSEEN)
            answers.append(token)
    left, right = np.array(lefts, dtype=np.int64), np.array(rights, dtype=np.int64)
    for neighbours in (left, right):
        neighbours[(neighbours >= 0) & special[neighbours]] = _UNSEEN
    return left, right, np.array(answers, dtype=np.int64)
