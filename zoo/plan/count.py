"""Parameters and FLOPs of a configuration, from its numbers alone.

Letters: V vocabulary, D model width, H heads, G key/value heads, K head width, F feed-forward width.
FLOPs are those of the matrix products (2 per multiply-add), as torch's FlopCounterMode counts them: every pair of
query and key is counted, seen or not; norms, activations and look-ups are not.
"""

from __future__ import annotations

from dataclasses import dataclass

from zoo.errors import UserError
from zoo.plan.lengths import Lengths


def kind(target: dict | None) -> str:
    """The class name that a configuration's ``_target_`` ends in; '' for none."""
    return target["_target_"].rsplit(".", 1)[-1] if target else ""


def linear(inputs: int, outputs: int, bias: bool) -> int:
    """Parameters of a linear layer."""
    return inputs * outputs + (outputs if bias else 0)


@dataclass(frozen=True)
class Counted:
    """A resolved configuration and the vocabulary size, ready to be counted.

    Raises:
        UserError: in the counts, for a block of the user's own, whose size is known only once it is built.
    """

    config: dict
    vocab: int
    positions: int

    @property
    def d_model(self) -> int:
        return self.config["size"]["d_model"]

    @property
    def d_head(self) -> int:
        mixer = self.config["attention"]["mixer"]
        return mixer["d_head"] or self.d_model // mixer["heads"]

    @property
    def embedding_width(self) -> int:
        """E, D where it is not given."""
        return self.config["arch"]["embedding"]["width"] or self.d_model

    @property
    def normed_input(self) -> bool:
        """Whether what enters the first block is normalised already, which its own norm would only do again."""
        return bool(self.config["arch"]["input_norm"]) and self.config["norm"]["placement"] == "pre"

    @property
    def stacks(self) -> list[tuple[str, dict]]:
        arch = self.config["arch"]
        return [(name, arch[name]) for name in ("encoder", "decoder") if arch[name]]

    @property
    def layers(self) -> int:
        """Blocks per stack."""
        return self.config["size"]["layers"] // len(self.stacks)

    def _known(self, part: str, target: dict, *names: str) -> str:
        name = kind(target)
        if name not in names:
            raise UserError(
                f"the size of {part}={target['_target_']} is not known beforehand; use match=none"
            )
        return name

    def norm(self, width: int | None = None) -> int:
        layer = self.config["norm"]["layer"]
        has_bias = self._known("norm", layer, "LayerNorm", "RMSNorm") == "LayerNorm" and layer["bias"]
        return (width or self.d_model) * (2 if has_bias else 1)

    def attention(self) -> int:
        mixer = self.config["attention"]["mixer"]
        self._known("attention.mixer", mixer, "Attention")
        queries, keys = mixer["heads"] * self.d_head, mixer["kv_heads"] * self.d_head
        return (
            linear(self.d_model, queries, mixer["bias"])
            + linear(self.d_model, 2 * keys, mixer["bias"])
            + linear(queries, self.d_model, mixer["bias"])
            + (2 * self.d_head if mixer["qk_norm"] else 0)
        )

    def feed_forward(self) -> int:
        ffn = self.config["ffn"]
        self._known("ffn", ffn, "FeedForward")
        into = linear(self.d_model, ffn["d_ff"], ffn["bias"]) * (2 if ffn["gated"] else 1)
        return into + linear(ffn["d_ff"], self.d_model, ffn["bias"])

    def position(self) -> int:
        """Per stack."""
        position = self.config["position"]
        if kind(position) == "Learned":
            return self.positions * self.embedding_width
        if kind(position) == "RelativeBias":
            return position["buckets"] * self.config["attention"]["mixer"]["heads"]
        return 0

    def stack(self, crosses: bool) -> int:
        attentions = 2 if crosses else 1
        block = attentions * (self.attention() + self.norm()) + self.feed_forward() + self.norm()
        arch, width = self.config["arch"], self.embedding_width
        blocks = (1 if arch["shared"] else self.layers) * block - self.normed_input * self.norm()
        entry = self.norm(width) if arch["input_norm"] else 0
        if width != self.d_model:
            entry += linear(width, self.d_model, arch["bias"])
        exit = self.norm() if self.config["norm"]["placement"] == "pre" else 0
        return entry + blocks + exit + self.position()

    def embedding(self) -> int:
        """The token table, segments, and position tables: what "non-embedding parameters" leaves out."""
        positions = self.position() * len(self.stacks) if kind(self.config["position"]) == "Learned" else 0
        return self._token_tables() + positions

    def _token_tables(self) -> int:
        return (self.vocab + self.config["arch"]["embedding"]["segments"]) * self.embedding_width

    def heads(self) -> int:
        arch, d_model, width = self.config["arch"], self.d_model, self.embedding_width
        if kind(arch["head"]) == "MLMHead":
            head = linear(d_model, width, arch["head"]["bias"]) + self.norm(width) + self.vocab
        elif arch["head"]["tied"]:
            head = linear(d_model, width, False) if width != d_model else 0
        else:
            head = self.vocab * d_model
        if not self.config["objective"].get("next_sentence"):
            return head
        pooler = linear(d_model, d_model, True) if arch["next_sentence"]["pooled"] else 0
        return head + pooler + linear(d_model, 2, True)

    def parameters(self) -> int:
        """All parameters, the embedding's included."""
        stacks = sum(self.stack(bool(spec.get("memory"))) for _, spec in self.stacks)
        return self._token_tables() + self.heads() + stacks

    def _attention_flops(self, queries: int, keys: int) -> int:
        mixer = self.config["attention"]["mixer"]
        wide, narrow = mixer["heads"] * self.d_head, 2 * mixer["kv_heads"] * self.d_head
        projections = 2 * self.d_model * (queries * 2 * wide + keys * narrow)
        return projections + 4 * queries * keys * wide

    def _stack_flops(self, queries: int, memory: int) -> int:
        ffn = self.config["ffn"]
        matrices = 3 if ffn["gated"] else 2
        block = self._attention_flops(queries, queries) + 2 * matrices * queries * self.d_model * ffn["d_ff"]
        if memory:
            block += self._attention_flops(queries, memory)
        width = self.embedding_width
        entry = 2 * queries * width * self.d_model if width != self.d_model else 0
        return entry + self.layers * block

    def forward_flops(self, row: Lengths) -> float:
        """Of the forward pass of one row, the vocabulary projected at the positions in the loss only."""
        if row.targets:
            stacks = self._stack_flops(row.inputs, 0) + self._stack_flops(row.targets, row.inputs)
        else:
            stacks = self._stack_flops(row.inputs, 0)
        head, width = self.config["arch"]["head"], self.embedding_width
        to_table = kind(head) == "MLMHead" or (head["tied"] and width != self.d_model)
        own = kind(head) != "MLMHead" and not head["tied"]
        per_position = 2 * self.vocab * (self.d_model if own else width)
        if to_table:
            per_position += 2 * self.d_model * width
        pair = 0
        if self.config["objective"].get("next_sentence"):
            pooled = self.config["arch"]["next_sentence"]["pooled"]
            pair = 2 * self.d_model * (2 + (self.d_model if pooled else 0))
        return stacks + per_position * row.loss + pair

    def training_flops(self, row: Lengths) -> float:
        """Per source token: forward, and twice that backward."""
        return 3 * self.forward_flops(row) / row.source
