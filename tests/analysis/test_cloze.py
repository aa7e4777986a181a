"""The prediction is a slow loop's; a model that knows the answers has them all right, one that does not, none."""

import math

import pytest
import torch

from zoo.analysis import cloze, continuation
from zoo.analysis.items import Gap, Item, cloze_items, continuation_items, gaps
from zoo.analysis.scoring import score, stops

STORIES = {
    "a": "Ada lost the lamp in Rome and Ben found the rope",
    "b": "Cleo sold her drum to Dan, who likes it",
    "c": "a long walk home, then rain",
}
ARCHS = ["gpt", "prefix_lm", "bert", "t5"]


@pytest.fixture(scope="module")
def items():
    return cloze_items(STORIES, per_text=2)


def greedy(model, tokenizer, gap):
    """Token by token, alone, without a cache."""
    left, answer, right = gap
    said = []
    while True:
        if model.decoder is None:
            if len(said) == len(answer):
                return said
            holes = [tokenizer.mask] * (len(answer) - len(said))
            row = torch.tensor([[tokenizer.cls, *left, *said, *holes, *right, tokenizer.sep]])
            logits = model.logits(model(row)[:, 1 + len(left) + len(said)])[0]
            logits[torch.from_numpy(tokenizer.is_special)] = -math.inf
        elif model.encoder is None:
            read, given = torch.tensor([[tokenizer.eos, *left, *said]]), torch.tensor([1 + len(left)])
            logits = model.logits(model(read, prefix=given)[:, -1])[0]
        else:
            hole = tokenizer.sentinels[0]
            read, begun = [*left, hole, *right, tokenizer.eos], [tokenizer.bos, hole, *said]
            logits = model.logits(model(torch.tensor([read]), torch.tensor([begun]))[:, -1])[0]
        token = logits.argmax().item()
        written = model.encoder is not None and model.decoder is not None
        if token in (stops(tokenizer) if written else [tokenizer.eos]):
            return said
        said.append(token)
        if len(said) == len(answer) + (8 if written else 0):
            return said


@pytest.mark.parametrize("arch", [*ARCHS, "gpt2", "bert_original", "t5_original"])
@pytest.mark.parametrize("batch_tokens", [1, 10_000])
def test_what_is_said_is_what_a_slow_loop_says(make, bytewise, items, arch, batch_tokens):
    model, hidden = make(arch, bytewise), gaps(bytewise, items)
    with torch.no_grad():
        expected = [greedy(model, bytewise, gap) for gap in hidden]
    said = cloze.predict(model, bytewise, hidden, batch_tokens=batch_tokens)
    assert any(said)
    for one, other, gap in zip(said, expected, hidden, strict=True):
        most = len(gap.answer) + 2  # an answer longer than any right one may be cut anywhere
        assert one[:most] == other[:most]


@pytest.mark.parametrize("arch", ARCHS)
def test_who_was_taught_the_answers_knows_them_and_nobody_else_does(teach, make, bytewise, items, arch):
    found = cloze.cloze(teach(arch, bytewise, gaps(bytewise, items)), bytewise, items)
    assert [one.item for one in found] == [item.item for item in items]
    assert (
        [one.prediction for one in found] == [one.answer for one in found] == [item.hidden for item in items]
    )
    assert all(one.right and one.bits < 1 for one in found)
    ignorant = cloze.cloze(make(arch, bytewise), bytewise, items)
    assert not any(one.right or one.bits < 1 for one in ignorant)


@pytest.mark.parametrize("arch", ARCHS)
def test_taught_the_wrong_word_it_is_wrong(teach, bytewise, items, arch):
    hidden = gaps(bytewise, items)
    wrong = [Gap(gap.left, gap.answer[::-1], gap.right) for gap in hidden]
    found = cloze.cloze(teach(arch, bytewise, wrong), bytewise, items)
    assert [one.prediction for one in found] == [item.hidden[::-1] for item in items]
    assert [one.right for one in found] == [item.hidden == item.hidden[::-1] for item in items]


@pytest.mark.parametrize("arch", ARCHS)
def test_candidates_have_as_many_tokens_and_the_taught_model_chooses_right(teach, bytewise, items, arch):
    words = cloze.candidates(bytewise, items, count=3)
    assert words == cloze.candidates(bytewise, items, count=3)
    for those, item in zip(words, items, strict=True):
        assert those[0] == item.hidden
        assert len(set(those)) == len(those) > 1
        assert {len(word) for word in those} == {len(item.hidden)}
    backwards = [those[::-1] for those in words]
    model = teach(arch, bytewise, gaps(bytewise, items))
    assert cloze.choose(model, bytewise, items, words) == [0] * len(items)
    assert cloze.choose(model, bytewise, items, backwards) == [len(those) - 1 for those in words]


def test_reading_on_a_decoder_learns_from_the_right_what_the_left_cannot_say(teach, bytewise):
    texts = ["the lamp shone", "the rope broke"]
    # The left leaves both words open, so a bit is lost in each text: ln 2 / 14 tokens.
    model = teach("gpt", bytewise, [Gap([], bytewise.encode(text), []) for text in texts], until=0.055)
    items = [Item(text, text, 4, 8) for text in texts]
    words = [["lamp", "rope"]] * 2
    assert cloze.choose(model, bytewise, items, words, read_on=True) == [0, 1]
    assert cloze.choose(model, bytewise, items, words) in ([0, 0], [1, 1])


def test_cloze_rows_add_up(letters):
    made = [
        cloze.ClozeResult("x/0", True, 2.0, 1.0, "a", "a", 1),
        cloze.ClozeResult("x/1", False, 5.0, 0.0, "b", "ab", 2),
    ]
    values = {
        (row["task"], row["metric"]): (row["value"], row["count"]) for row in cloze.rows(made, {"a": 1})
    }
    assert values == {
        ("cloze", "accuracy"): (0.5, 2),
        ("cloze", "bits_per_word"): (3.5, 2),
        ("cloze", "stop_bits_per_word"): (0.5, 2),
        ("one_token", "accuracy"): (1.0, 1),
        ("one_token", "bits_per_word"): (2.0, 1),
        ("one_token", "stop_bits_per_word"): (1.0, 1),
    }
    assert set(cloze.rows(made)[0]) == {
        "task", "kind", "reading", "metric", "split", "value", "count", "updates", "options",
    }  # fmt: skip
    assert cloze.rows([]) == []


@pytest.mark.parametrize("arch", ARCHS)
def test_a_continuation_is_scored_without_what_follows_it(make, bytewise, arch):
    model, text = make(arch, bytewise), STORIES["a"]
    cut = text.index(" and Ben")
    whole, short = Item("x", text, 9, cut), Item("x", text[:cut], 9, cut)
    assert continuation.continuation(model, bytewise, [whole]) == continuation.continuation(
        model, bytewise, [short]
    )
    (found,) = continuation.continuation(model, bytewise, [whole])
    (expected,) = score(model, bytewise, [Gap(bytewise.encode(text[:9]), bytewise.encode(text[9:cut]), [])])
    assert (found.bits, found.stop_bits, found.right, found.tokens) == (
        expected.bits, expected.stop_bits, expected.right, expected.tokens,
    )  # fmt: skip
    assert found.words == len(text[9:cut].split()) == 4


@pytest.mark.parametrize("arch", ARCHS)
def test_who_knows_how_it_goes_on_needs_no_bits(teach, make, bytewise, arch):
    items = continuation_items(STORIES, words=2)
    found = continuation.continuation(teach(arch, bytewise, gaps(bytewise, items)), bytewise, items)
    values = {row["metric"]: row["value"] for row in continuation.rows(found)}
    assert values["accuracy"] == 1.0
    assert values["bits_per_word"] < 0.5
    ignorant = continuation.continuation(make(arch, bytewise), bytewise, items)
    assert {row["metric"]: row["value"] for row in continuation.rows(ignorant)}["bits_per_word"] > 5


def test_continuation_rows_weigh_words_and_tokens_not_items():
    made = [
        continuation.ContinuationResult("x/0", bits=6.0, stop_bits=1.0, right=1, tokens=4, words=2),
        continuation.ContinuationResult("x/1", bits=4.0, stop_bits=0.0, right=6, tokens=6, words=3),
    ]
    values = {row["metric"]: row["value"] for row in continuation.rows(made)}
    assert values == {"accuracy": 0.7, "bits_per_word": 2.0, "stop_bits_per_word": 0.2}
    assert [one.score for one in made] == [0.25, 1.0]
