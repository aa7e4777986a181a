"""Each reading learns what it can learn, and cannot learn what the model cannot see."""

import string
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from zoo.api import build
from zoo.data.vocabularies import Bytes
from zoo.errors import UserError
from zoo.tasks import Example, Span
from zoo.tasks.layout import Layout
from zoo.tasks.readings import Fill, PerToken, Pool, SpanEnds, Write
from zoo.tasks.wording import understood, worded
from zoo.training.tuning import answer, mean_scores, tune

TOKENIZER = Bytes(vocab_size=262, sentinels=0).fit([])
TRIO = ("gpt", "bert", "t5")
STATES = (*TRIO, "prefix_lm")
OPTIM = {
    "lr": 2e-3,
    "betas": (0.9, 0.98),
    "eps": 1e-8,
    "weight_decay": 0.01,
    "warmup": 0.1,
    "final": 1.0,
    "clip": 1.0,
}


def exact(name, kind, classes, make):
    """A planted task, scored by exact match."""

    def score(examples, predictions):
        pairs = list(zip(examples, predictions, strict=True))
        if kind == "tag":
            plain = [tuple(s._replace(marked=False) for s in e.spans) == tuple(p) for e, p in pairs]
            return {"exact": [float(right) for right in plain]}
        return {"exact": [float(prediction == example.answers[0]) for example, prediction in pairs]}

    def examples(split):
        rng = np.random.default_rng(("train", "validation", "test").index(split))
        return [make(rng, f"{split}/{i}") for i in range({"train": 2000}.get(split, 100))]

    return SimpleNamespace(
        name=name, kind=kind, classes=classes, metric="exact", examples=examples, scores=score
    )


def word(rng, letters="abcdefgh"):
    return "".join(rng.choice(list(letters), 3))


def earlier(rng, item):
    """Which of two marks stands first: an order, not a bag."""
    pair = ["!", "?"] if rng.random() < 0.5 else ["?", "!"]
    return Example(
        item, f"{word(rng)}{pair[0]}{word(rng)}{pair[1]}", answers=("yes" if pair[0] == "!" else "no",)
    )


def capitals(rng, item):
    """A name is in capitals; its first letter is its type."""
    name = rng.choice(["X", "Y"]) + word(rng, "ABCDEFGH")
    text = f"{word(rng)} {name} {word(rng)}"
    return Example(item, text, spans=(Span(4, 8, name[0]),))


def settled_later(rng, item):
    """The name's type stands at the end."""
    kind = str(rng.choice(["X", "Y"]))
    return Example(item, f"{word(rng)} NAME {word(rng)} {kind}", spans=(Span(4, 8, kind, marked=True),))


def asked(rng, item):
    """The word after the letter that is asked for, before the text: who sees one way must know what to look for."""
    first, second = word(rng), word(rng)
    which = int(rng.integers(2))
    text = f"P{first}Q{second}"
    span = Span(1, 4) if which == 0 else Span(5, 8)
    return Example(item, text, "PQ"[which], True, ((first, second)[which],), (span,))


def initials(rng, item):
    words = [word(rng) for _ in range(3)]
    return Example(item, " ".join(words), answers=("".join(w[0] for w in words),))


TASKS = {
    "classify": exact("earlier", "classify", ("yes", "no"), earlier),
    "tag": exact("capitals", "tag", ("X", "Y"), capitals),
    "later": exact("settled_later", "tag", ("X", "Y"), settled_later),
    "extract": exact("asked", "extract", (), asked),
    "generate": exact("initials", "generate", (), initials),
}


def learned(arch, task, reading, updates=250):
    model = build("size.layers=4", arch=arch, size="nano", vocab=TOKENIZER.vocab_size, seed=0)
    answers = [len(TOKENIZER.encode(worded(task.kind, e))) for e in task.examples("train")]
    way = reading(task, Layout(TOKENIZER, longest=64, answer=max(answers) + 1))
    assert way.needs in model.capabilities
    tuned = tune(
        model, task, way, task.examples("train"), task.examples("validation"), updates=updates, batch_size=32,
        measure=(0.5, 1.0), average=0.1, optim=OPTIM, seed=0,
    )  # fmt: skip
    test = task.examples("test")
    return mean_scores(task, test, answer(tuned, way, test, 32))["exact"]


@pytest.mark.parametrize("arch", TRIO)
@pytest.mark.parametrize(("task", "reading"), [("classify", Pool), ("tag", PerToken), ("extract", SpanEnds)])
def test_states_learn_a_task_that_they_can_solve(arch, task, reading):
    assert learned(arch, TASKS[task], reading) >= 0.99


@pytest.mark.parametrize(("arch", "reading"), [("gpt", Write), ("t5", Write), ("bert", Fill)])
@pytest.mark.parametrize(
    ("task", "updates"),
    [
        ("classify", 200),
        ("tag", 300),
        ("generate", 600),
        pytest.param("extract", 1500, marks=pytest.mark.slow),
    ],
)
def test_writing_and_filling_learn_every_kind_of_task(arch, reading, task, updates):
    assert learned(arch, TASKS[task], reading, updates) >= 0.99


def test_a_prefix_lm_learns_to_write_as_well():
    assert learned("prefix_lm", TASKS["classify"], Write, 200) >= 0.99


def test_a_label_that_only_later_context_settles_divides_the_architectures():
    """One way, the labels are a coin's; both ways they are known; and who has read to the end can write them."""
    found = {arch: learned(arch, TASKS["later"], PerToken) for arch in STATES}
    assert 0.35 < found["gpt"] < 0.65
    assert min(found["bert"], found["t5"], found["prefix_lm"]) >= 0.99
    assert learned("gpt", TASKS["later"], Write, updates=300) >= 0.99


texts = st.text(alphabet=string.ascii_letters + " é中", min_size=1, max_size=30)


@given(text=texts, data=st.data())
def test_labels_and_spans_are_each_others_inverse(text, data):
    words = list(_words(text))
    chosen = data.draw(st.lists(st.sampled_from(words), unique=True)) if words else []
    spans = tuple(Span(a, b, data.draw(st.sampled_from(["X", "Y"]))) for a, b in sorted(chosen))
    example = Example("0", text, spans=spans)
    layout = Layout(TOKENIZER, longest=1000, answer=1)
    reading = PerToken(TASKS["tag"], layout)
    source = layout.sources([example])[0]
    assert reading.spans(example, source, reading.labels(example, source)) == spans


def _words(text):
    at = 0
    for part in text.split(" "):
        if part:
            yield at, at + len(part)
        at += len(part) + 1


@given(text=texts, data=st.data())
def test_entities_are_understood_as_they_are_worded(text, data):
    words = list(_words(text))
    chosen = data.draw(st.lists(st.sampled_from(words), unique=True)) if words else []
    spans = tuple(Span(a, b, data.draw(st.sampled_from(["X", "Y"]))) for a, b in sorted(chosen))
    example = Example("0", text, spans=spans)
    found = understood("tag", ("X", "Y"), example, worded("tag", example))
    assert [(text[s.start : s.end], s.label) for s in found] == [(text[a:b], k) for a, b, k, _ in spans]


@pytest.mark.parametrize("said", ["", ";", "no such; thing", "x", "x X;; y", " X", "X"])
def test_nonsense_is_understood_as_nothing(said):
    assert understood("classify", ("yes", "no"), Example("0", "abc"), said) == ""
    assert understood("tag", ("Q",), Example("0", "abc"), said) == ()


@given(text=texts, query=st.text(alphabet="abc", max_size=5), first=st.booleans(), longest=st.integers(8, 40))
def test_a_layout_keeps_to_its_length_and_knows_where_the_text_is(text, query, first, longest):
    example = Example("0", text, query, first)
    layout = Layout(TOKENIZER, longest=longest, answer=1)
    source = layout.sources([example])[0]
    whole = TOKENIZER.encode(text)
    assert len(source.tokens) <= max(longest, len(TOKENIZER.encode(query)) + 3)
    kept = source.tokens[source.text_at : source.text_at + len(source.starts)]
    assert kept == whole[: len(kept)]
    assert len(kept) == len(whole) or len(source.tokens) == max(longest, len(TOKENIZER.encode(query)) + 3)
    others = source.tokens[: source.text_at] + source.tokens[source.text_at + len(kept) :]
    asked_ids = TOKENIZER.encode(query)
    seps = [TOKENIZER.sep] * (2 if query else 1)
    assert sorted(others) == sorted([TOKENIZER.cls, *asked_ids, *seps])


def test_padding_changes_nothing():
    """A row's loss and answer do not depend on the rows beside it."""
    short, long = (
        Example("0", "Pabc", "P", answers=("abc",), spans=(Span(1, 4),)),
        Example("1", "Pabc" * 5, "P", answers=("abc",), spans=(Span(1, 4),)),
    )
    for arch in STATES:
        model = build(arch=arch, size="nano", vocab=TOKENIZER.vocab_size, seed=0).eval().double()
        layout = Layout(TOKENIZER, longest=64, answer=4)
        for reading in (Write,) if arch != "bert" else (Fill,):
            way = reading(TASKS["extract"], layout)
            for options in way.options():
                alone = way.predict(model, None, [short], **options)
                assert way.predict(model, None, [short, long], **options)[0] == alone[0]
            if reading is Write:
                together = way.loss(model, None, [short, long], np.random.default_rng(0))
                parts = [way.loss(model, None, [e], np.random.default_rng(0)) for e in (short, long)]
                torch.testing.assert_close(together, sum(parts) / 2)
        way = SpanEnds(TASKS["extract"], layout)
        head = way.head(64).double()
        together = way.loss(model, head, [short, long], np.random.default_rng(0))
        parts = [way.loss(model, head, [e], np.random.default_rng(0)) for e in (short, long)]
        torch.testing.assert_close(together, sum(parts) / 2)


class Counts:
    """A stand-in that says a, b, c or d: by how many of four masks it sees filled in."""

    embedding = SimpleNamespace(tokens=SimpleNamespace(weight=torch.zeros(1)))

    def __call__(self, tokens, **_):
        seen = 4 - (tokens == TOKENIZER.mask).sum(1)
        said = TOKENIZER.encode("abcd")
        return torch.nn.functional.one_hot(torch.tensor(said)[seen], TOKENIZER.vocab_size)[:, None].expand(
            -1, tokens.shape[1], -1
        )

    def logits(self, states):
        return states.float()


def test_an_answer_can_be_filled_in_from_the_left_all_at_once_or_in_any_order():
    way = Fill(TASKS["generate"], Layout(TOKENIZER, longest=64, answer=4))
    both = [Example("0", "xyz", answers=("abcd",)), Example("1", "xyz, xyz", answers=("abcd",))]

    def said(**options):
        one, other = way.predict(Counts(), None, both, **options)
        assert [one] == way.predict(Counts(), None, both[:1], **options)
        assert one == other
        return one

    assert said(order="left_to_right") == "abcd"
    assert said(order="mask_predict", iterations=1) == said(order="diffusion", iterations=1) == "aaaa"
    alone = said(order="diffusion", iterations=10_000)
    assert sorted(alone) == list("abcd")
    assert alone != "abcd"
    with pytest.raises(UserError, match="use mask_predict, left_to_right or diffusion"):
        said(order="right_to_left")


def test_to_write_an_answer_a_prefix_lm_sees_its_source_both_ways_in_training_and_when_it_writes():
    """Against one example at a time, its source given and no more."""
    task, layout = TASKS["generate"], Layout(TOKENIZER, longest=64, answer=6)
    examples = [Example("0", "ab cd", answers=("ac",)), Example("1", "abc def ghi", answers=("adg",))]
    model = build(arch="prefix_lm", size="nano", vocab=TOKENIZER.vocab_size, seed=0).eval().double()
    for parameter in model.parameters():
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, std=0.3, generator=torch.Generator().manual_seed(1))
    way, costs, written = Write(task, layout), [], []
    for example, source in zip(examples, layout.sources(examples), strict=True):
        given = torch.tensor([len(source.tokens)])

        def logits(after, source=source, given=given):
            row = torch.tensor([[*source.tokens, *after]])
            return model.logits(model(row, prefix=given)[0, len(source.tokens) - 1 :])

        answer = [*TOKENIZER.encode(example.answers[0]), TOKENIZER.eos]
        with torch.no_grad():
            costs += torch.nn.functional.cross_entropy(
                logits(answer[:-1]), torch.tensor(answer), reduction="none"
            )
            said = []
            while len(said) < 6 and TOKENIZER.eos not in said:
                said.append(logits(said)[-1].argmax().item())
        written.append(understood("generate", (), example, TOKENIZER.decode(said)))
    loss = way.loss(model, None, examples, np.random.default_rng(0))
    torch.testing.assert_close(loss, torch.stack(costs).mean())
    assert way.predict(model, None, examples) == written
