"""Batches in order: update i of a run is a pure function of (stream, objective, seed, i).

So a resumed run, any number of micro-batches and any number of ranks see the same rows and the same noise.
Shapes: B rows per update, n source tokens per row, N tokens in the stream.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from zoo.data.stream import Stream
from zoo.data.tokenizer import Tokenizer
from zoo.errors import UserError
from zoo.objectives import Batch, Rows

Objective = Callable[[Rows, np.random.Generator], Batch]


class Reader:
    """Rows of ``context`` tokens of a stream, as batches of an objective.

    Raises:
        UserError: the stream is shorter than one row and the token after it.
    """

    def __init__(self, stream: Stream, tokenizer: Tokenizer, objective: Objective, *, context: int) -> None:
        if len(stream) <= context:
            raise UserError(
                f"the text has {len(stream)} tokens, fewer than one row of context={context} and the next; "
                f"give more text or set context={max(8, len(stream) // 2)}"
            )
        self.stream, self.tokenizer, self.objective, self.context = stream, tokenizer, objective, context
        self.inner = stream.sentences[~np.isin(stream.sentences, stream.documents)]

    def read(self, starts: np.ndarray, rng: np.random.Generator) -> Batch:
        """The batch of the rows that begin at ``starts`` (B,), with noise from ``rng``."""
        tokens = self.stream.tokens[starts[:, None] + np.arange(self.context + 1)]
        return self.objective(Rows(tokens, starts, self.stream, self.inner, self.tokenizer), rng)


class TrainingBatches:
    """This rank's micro-batches of one update after another; Lightning reads it like a DataLoader.

    Args:
        reader: rows and objective.
        batch_size: B, over all micro-batches and ranks.
        updates: where it ends.
        seed: of the rows' order and the noise.
        micro_batches: pieces per update and rank.
        rank, ranks: this process among how many.
        same_batch: read the first update's rows and noise again and again.
    """

    def __init__(
        self,
        reader: Reader,
        *,
        batch_size: int,
        updates: int,
        seed: int,
        micro_batches: int = 1,
        rank: int = 0,
        ranks: int = 1,
        same_batch: bool = False,
    ) -> None:
        self.reader, self.batch_size, self.updates, self.seed = reader, batch_size, updates, seed
        self.micro_batches, self.rank, self.ranks, self.same_batch = micro_batches, rank, ranks, same_batch
        self.first = 0  # the micro-batch an iteration starts with; moved by a resume
        last_start = len(reader.stream) - 1
        whole = last_start // reader.context
        # One row fewer than fit leaves room to shift the grid of rows by a different amount every epoch.
        self.rows = whole - 1 if whole >= 8 else whole
        self._slack = last_start - self.rows * reader.context
        self._order: tuple[int, np.ndarray] = (-1, np.empty(0))

    def __len__(self) -> int:
        return self.updates * self.micro_batches

    def __iter__(self) -> Iterator[Batch]:
        first, self.first = self.first, 0
        for update in range(first // self.micro_batches, self.updates):
            whole = self.update(0 if self.same_batch else update)
            skip = first % self.micro_batches if update == first // self.micro_batches else 0
            for piece in range(skip, self.micro_batches):
                parts = self.micro_batches * self.ranks
                yield whole.part(self.rank * self.micro_batches + piece, parts).tensors()

    def update(self, index: int) -> Batch:
        """All rows of update ``index``, with their noise."""
        numbers = index * self.batch_size + np.arange(self.batch_size)
        starts = np.array([self._start(*divmod(int(number), self.rows)) for number in numbers])
        return self.reader.read(starts, np.random.default_rng((self.seed, 1, index)))

    def _start(self, epoch: int, number: int) -> int:
        if self._order[0] != epoch:
            rng = np.random.default_rng((self.seed, 0, epoch))
            shift = rng.integers(self._slack + 1)
            self._order = epoch, shift + rng.permutation(self.rows) * self.reader.context
        return int(self._order[1][number])

    def state_dict(self) -> dict[str, int]:
        """Nothing to keep: how many updates were done is the whole state, and the trainer knows that."""
        return {}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """See ``state_dict``; ``first`` is set where the loader is made, from the trainer's count."""


def evaluation_batches(reader: Reader, *, rows: int | None, batch_size: int) -> list[Batch]:
    """Evenly spaced rows of a stream (``rows`` None: all that fit), with noise that is the same for every run."""
    fitting = (len(reader.stream) - 1) // reader.context
    count = fitting if rows is None else min(rows, fitting)
    starts = np.linspace(0, fitting - 1, count).astype(np.int64) * reader.context
    batches = []
    for number, low in enumerate(range(0, count, batch_size)):
        whole = reader.read(starts[low : low + batch_size], np.random.default_rng((0, 2, number)))
        batches.append(whole.part(0, 1).tensors())
    return batches
