"""Every decoding a model has writes on from the same prompts, repeatably."""

import pytest

from zoo.analysis.writing import Decoding, decodings, rows, write_directly
from zoo.generation import Sampling, generate

PROMPTS = ["Ada sat", "Ben ran to the", "Cleo"]
WAYS = {
    "gpt": ["write_on"],
    "prefix_lm": ["write_on"],
    "bert": ["mask_predict", "left_to_right", "one_by_one", "diffusion"],
    "t5": ["span_by_span"],
}


@pytest.mark.parametrize("arch", WAYS)
def test_each_way_greedy_and_sampled(make, bytewise, arch):
    model = make(arch, bytewise).train()
    ways = decodings(model)
    assert [way.name for way in ways] == [
        f"{way}_{how}" for way in WAYS[arch] for how in ("greedy", "sampled")
    ]
    made = write_directly(model, bytewise, PROMPTS, max_new_tokens=6, batch=2)
    assert model.training
    model.eval()
    for writing, way in zip(made, ways, strict=True):
        assert writing.decoding == way
        assert writing.prompts == tuple(PROMPTS)
        assert all(text.startswith(prompt) for text, prompt in zip(writing.texts, PROMPTS, strict=True))
        assert writing.seconds > 0
        new = [
            len(bytewise.encode(t)) - len(bytewise.encode(p))
            for t, p in zip(writing.texts, PROMPTS, strict=True)
        ]
        assert writing.tokens == sum(new)
    again = write_directly(model, bytewise, PROMPTS, max_new_tokens=6, batch=2)
    assert [writing.texts for writing in made] == [writing.texts for writing in again]
    assert (
        made[1].texts
        != write_directly(model, bytewise, PROMPTS, ways[1:2], max_new_tokens=6, seed=9)[0].texts
    )


def test_a_way_is_what_generate_is_asked_for(make, bytewise):
    model, way = (
        make("bert", bytewise),
        Decoding("mine", Sampling(0.9, top_k=5), "mask_predict", iterations=3),
    )
    (made,) = write_directly(model, bytewise, PROMPTS, [way], max_new_tokens=5, seed=4)
    expected = generate(
        model,
        bytewise,
        PROMPTS,
        max_new_tokens=5,
        sampling=way.sampling,
        method="mask_predict",
        iterations=3,
        seed=4,
    )
    assert list(made.texts) == expected
    assert way.options == {"temperature": 0.9, "top_k": 5, "iterations": 3}


def test_rows_have_the_figures_and_the_speed(make, bytewise):
    (made, *_) = write_directly(make("gpt", bytewise), bytewise, PROMPTS, max_new_tokens=4)
    found = rows(made, {"distinct_1": 0.5, "copied": float("nan")})
    assert [(row["task"], row["metric"], row["kind"]) for row in found] == [
        ("write_on_greedy", "distinct_1", "direct_writing"),
        ("write_on_greedy", "tokens_per_s", "direct_writing"),
    ]
    assert found[0]["value"] == 0.5
    assert found[0]["options"] == {"temperature": 0.0}
    assert found[1]["value"] == made.tokens / made.seconds
