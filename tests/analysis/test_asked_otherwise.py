"""Models that were trained otherwise than their like: asked as they were trained, they say what they were taught, and
what is measured is what a slow loop computes."""

import math

import pytest
import torch

from zoo.analysis import cloze, direction
from zoo.analysis.items import Gap, cloze_items, gaps
from zoo.analysis.scoring import score
from zoo.analysis.writing import decodings
from zoo.errors import UserError
from zoo.generation import generate
from zoo.generation.asking import question

STORIES = {"a": "Ada lost the lamp in Rome and Ben found the rope", "b": "Cleo sold her drum to Dan"}
ASKED = [
    ("gpt", "spans"), ("gpt", "whole"), ("prefix_lm", "spans"), ("t5", "on"), ("t5", "whole"), ("bart", "whole"),
]  # fmt: skip


@pytest.fixture(scope="module")
def items():
    return cloze_items(STORIES, per_text=2)


@pytest.mark.parametrize(("arch", "way"), ASKED)
def test_who_was_taught_the_answers_says_them_when_asked_the_same_way(
    teach, make, bytewise, items, arch, way
):
    model = teach(arch, bytewise, gaps(bytewise, items), way=way)
    found = cloze.cloze(model, bytewise, items, way=way)
    assert [one.prediction for one in found] == [item.hidden for item in items]
    assert all(one.bits < 1.5 for one in found)
    ignorant = cloze.cloze(make(arch, bytewise), bytewise, items, way=way)
    assert not any(one.right for one in ignorant)


@pytest.mark.parametrize(("arch", "way"), ASKED)
def test_scores_are_those_of_a_slow_loop(make, letters, arch, way):
    model, gap = make(arch, letters), Gap([8, 9, 8], [10, 8], [9, 9, 8])
    hole, *others = letters.sentinels
    start = [] if (arch, way) == ("t5", "on") else [letters.bos]
    given, begun, after = {
        "on": ([letters.eos, *gap.left], [letters.bos], []),
        "spans": ([*gap.left, hole, *gap.right, letters.eos], [*start, hole], [[letters.eos, *others]]),
        "whole": (
            [*gap.left, letters.mask, *gap.right, letters.eos], [*start, *gap.left],
            [[token] for token in (*gap.right, letters.eos)],
        ),
    }[way]  # fmt: skip
    costs, written = [], list(begun)
    with torch.no_grad():
        for choices in [*[[token] for token in gap.answer], *after]:
            if model.encoder is None:
                states = model(
                    torch.tensor([[*given, *written]]), prefix=torch.tensor([len(given) + len(begun)])
                )
            else:
                states = model(torch.tensor([given]), torch.tensor([written]))
            p = model.logits(states[0, -1]).double().softmax(-1)[choices].sum().item()
            costs.append(-math.log2(p))
            written.append(choices[0])
    (found,) = score(model, letters, [gap], way=way)
    assert found.bits == pytest.approx(sum(costs), abs=1e-3)
    assert found.stop_bits == pytest.approx(sum(costs[len(gap.answer) :]), abs=1e-3)


@pytest.mark.parametrize(("arch", "way"), ASKED)
def test_generation_and_direction_ask_the_same_way(teach, bytewise, items, arch, way):
    model = teach(arch, bytewise, gaps(bytewise, items), way=way)
    text, item = STORIES["a"], items[0]
    if way == "on":
        said = generate(model, bytewise, [text[: item.start]], max_new_tokens=4, way=way)
        assert said[0].startswith(text[: item.start])
    else:
        hole = bytewise.token(bytewise.mask if way == "whole" else bytewise.sentinels[0])
        asked = text[: item.start] + hole + text[item.end :]
        if way == "whole":  # it was taught to go on from the left side, not to begin it
            asked = text[: item.start]
        said = generate(model, bytewise, [asked], max_new_tokens=8, way=way)
        assert said[0].startswith(text[: item.start])
    names = {one.name.rpartition("_")[0] for one in decodings(model, way)}
    assert names == {{"on": "write_on", "spans": "span_by_span", "whole": "whole_text"}[way]}
    found = direction.direction(model, bytewise, list(STORIES.values()), way=way, length=16)
    parts = found["decoder"].fractions()
    assert parts["above_diagonal"] < 1e-6 or arch == "prefix_lm"
    if "cross" in found:
        assert found["cross"].per_text.shape[1] == len(found["cross"].places)
        assert sum(found["cross"].fractions().values()) == pytest.approx(1)


def test_a_text_with_a_mask_is_written_again_whole(teach, bytewise):
    text = "the rope broke"
    model = teach("t5", bytewise, [Gap([], bytewise.encode(text), [])], way="whole")
    asked = bytewise.token(bytewise.mask)
    assert generate(model, bytewise, [asked], way="whole") == [text]


def test_spans_need_a_sentinel():
    import zoo
    from zoo.data.vocabularies import Characters

    bare = Characters(sentinels=0).fit(["ab "])
    model = zoo.build(arch="gpt", size="nano", vocab=bare.vocab_size)
    with pytest.raises(UserError, match=r"tokenizer\.sentinels"):
        question(model, bare, [7], [8], "spans")
