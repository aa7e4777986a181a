"""One transformer: GPT is a decoder, BERT an encoder, T5 both; that is all the difference there is.

Shapes: B batch, T length of the first stack's input, U length of the second's, D model width, V vocabulary.
"""

from __future__ import annotations

from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn

from zoo.blocks import Embedding, NextSentenceHead, Stack
from zoo.blocks.cross_entropy import linear_cross_entropy
from zoo.blocks.masks import EVERYTHING, Past, Prefix, Rule, parts


def _left_to_right(stack: Stack) -> bool:
    return any(isinstance(part, Past | Prefix) for part in parts(stack.sees))


class Transformer(nn.Module):
    """An encoder, a decoder, or a decoder that reads an encoder's states.

    Args:
        embedding: shared by both stacks, and by a tied head.
        encoder, decoder: at least one; a decoder's blocks cross-attend where there is an encoder.
        head: states (N, D), embedding matrix (V, D) -> the operands of the vocabulary projection.
        next_sentence: states -> logits (B, 2), for BERT's second objective.

    Raises:
        ValueError: neither stack given.
    """

    def __init__(
        self,
        *,
        embedding: Embedding,
        encoder: Stack | None = None,
        decoder: Stack | None = None,
        head: nn.Module,
        next_sentence: NextSentenceHead | None = None,
    ) -> None:
        super().__init__()
        if encoder is None and decoder is None:
            raise ValueError("a transformer needs an encoder, a decoder or both")
        self.embedding, self.encoder, self.decoder = embedding, encoder, decoder
        self.head, self.next_sentence = head, next_sentence

    @property
    def d_model(self) -> int:
        """D, the width of the states."""
        entry = (self.encoder or self.decoder).projection  # type: ignore[union-attr]
        return entry.out_features if isinstance(entry, nn.Linear) else self.embedding.tokens.embedding_dim

    @property
    def capabilities(self) -> frozenset[str]:
        """``states``: a vector per input token; ``write``: generate left to right; ``fill``: predict masked
        positions, which needs to see both ways."""
        writes = self.decoder is not None and _left_to_right(self.decoder)
        fills = self.decoder is None and self.encoder is not None and not _left_to_right(self.encoder)
        return frozenset({"states"} | ({"write"} if writes else set()) | ({"fill"} if fills else set()))

    def encode(
        self,
        tokens: Tensor,
        *,
        segments: Tensor | None = None,
        rule: Rule = EVERYTHING,
        positions: Tensor | None = None,
    ) -> Tensor:
        """Token ids (B, T) -> the encoder's states (B, T, D)."""
        assert self.encoder is not None
        return self.encoder(self.embedding(tokens, segments), rule=rule, positions=positions)

    def decode(
        self,
        tokens: Tensor,
        *,
        memory: Tensor | None = None,
        rule: Rule = EVERYTHING,
        memory_rule: Rule = EVERYTHING,
        prefix: Tensor | None = None,
        positions: Tensor | None = None,
        cache: Any = None,
    ) -> Tensor:
        """Token ids (B, U) -> the decoder's states (B, U, D); ``memory`` (B, T, D) comes from ``encode``.

        ``prefix`` (B or 1,): how many tokens of each row are given, not written; who sees them both ways must know.
        """
        assert self.decoder is not None
        return self.decoder(
            self.embedding(tokens),
            rule=rule,
            prefix=prefix,
            positions=positions,
            memory=memory,
            memory_rule=memory_rule,
            cache=cache,
        )

    def states(self, tokens: Tensor, *, rule: Rule = EVERYTHING) -> Tensor:
        """A vector per input token, (B, T) -> (B, T, D): of the stack that reads the input.  All of it is given."""
        if self.encoder is not None:
            return self.encode(tokens, rule=rule)
        return self.decode(tokens, rule=rule, prefix=tokens.new_tensor([tokens.shape[1]]))

    def forward(
        self,
        tokens: Tensor,
        targets: Tensor | None = None,
        *,
        segments: Tensor | None = None,
        rule: Rule = EVERYTHING,
        memory_rule: Rule = EVERYTHING,
        prefix: Tensor | None = None,
        positions: Tensor | None = None,
    ) -> Tensor:
        """The states from which the vocabulary is predicted.

        Args:
            tokens: (B, T), what the first stack reads.
            targets: (B, U), what the decoder reads where there are two stacks (the answer, shifted right).
            rule: what the batch adds to the first stack's visibility: padding, documents.
            memory_rule: which of the encoder's states the decoder sees (not its padding).
            prefix: (B or 1,), how many of ``tokens`` are given and not to be written.  An encoder sees all of them, a
                causal decoder none before its turn; a decoder that sees its prefix both ways must be told.

        Returns:
            (B, T, D) of the only stack, or (B, U, D) of the decoder.

        Raises:
            ValueError: ``targets`` or ``prefix`` is needed and not given.
        """
        if self.encoder is None:
            return self.decode(tokens, rule=rule, prefix=prefix, positions=positions)
        states = self.encode(tokens, segments=segments, rule=rule, positions=positions)
        if self.decoder is None:
            return states
        if targets is None:
            raise ValueError("an encoder-decoder needs the decoder's input too")
        return self.decode(targets, memory=states, memory_rule=memory_rule)

    def logits(self, states: Tensor) -> Tensor:
        """States (N, D) -> logits (N, V)."""
        return F.linear(*self.head(states, self.embedding.tokens.weight))

    def loss(self, states: Tensor, labels: Tensor, weights: Tensor | None = None) -> Tensor:
        """Cross-entropy of states (N, D) and labels (N,), each times its weight (N,) where there are any, summed, in
        nats; the logits are never held at once."""
        features, matrix, bias = self.head(states, self.embedding.tokens.weight)
        return linear_cross_entropy(features, matrix, bias, labels, weights)
