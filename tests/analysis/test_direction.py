"""Who moves whom: exactly the visible pairs on random models, by how much on one that is known."""

import numpy as np
import pytest
import torch

from zoo.analysis.direction import _holes, _Replacing, direction, matrices, rows
from zoo.blocks.masks import EVERYTHING
from zoo.errors import UserError

TEXTS = ["the cat chases the mouse", "a mouse chases no cat, ever", "too short"]
N = 20


def measured(make, tokenizer, arch, *more, **options):
    return direction(make(arch, tokenizer, *more), tokenizer, TEXTS, length=N, replacements=2, **options)


def seen(one):
    return one.mean > 0


@pytest.mark.parametrize("arch", ["gpt", "gpt2"])
def test_a_decoder_is_moved_by_nothing_above_the_diagonal_and_all_below(make, bytewise, arch):
    (found,) = measured(make, bytewise, arch).values()
    assert found.per_text.shape == (2, N, N)
    assert torch.equal(seen(found), torch.ones(N, N).tril().bool())
    assert found.fractions()["above_diagonal"] == 0.0


@pytest.mark.parametrize("arch", ["bert", "bert_original"])
def test_an_encoder_is_moved_by_everything(make, bytewise, arch):
    (found,) = measured(make, bytewise, arch).values()
    assert seen(found).all()
    assert min(found.fractions().values()) > 0.01


@pytest.mark.parametrize("arch", ["t5", "t5_original", "transformer_2017"])
def test_two_stacks_have_three_directions(make, bytewise, arch):
    found = measured(make, bytewise, arch)
    # 3 of 20 tokens cut out as one span: 17 and a sentinel; a sentinel and 3.
    assert {name: tuple(one.per_text.shape) for name, one in found.items()} == {
        "encoder": (2, 18, 18),
        "decoder": (2, 4, 4),
        "cross": (2, 4, 18),
    }
    assert seen(found["encoder"]).all()
    assert seen(found["cross"]).all()
    assert torch.equal(seen(found["decoder"]), torch.ones(4, 4).tril().bool())
    assert found["decoder"].fractions()["above_diagonal"] == 0.0


def test_a_prefix_lm_is_moved_by_all_of_what_it_is_given_and_by_nothing_to_come(make, bytewise):
    """The first half of the text is given."""
    (found,) = measured(make, bytewise, "prefix_lm").values()
    both_ways = torch.ones(N, N).tril().bool()
    both_ways[: N // 2, : N // 2] = True
    assert torch.equal(seen(found), both_ways)
    assert min(found.fractions().values()) > 0.01


def test_a_window_reaches_as_far_as_its_layers_carry_it(make, bytewise):
    (found,) = measured(make, bytewise, "bert", "attention=sliding_window", "attention.rule.size=3").values()
    reach = 2 * make("bert", bytewise, "attention=sliding_window", "attention.rule.size=3").encoder.layers
    slots = torch.arange(N)
    assert torch.equal(seen(found), (slots - slots[:, None]).abs() <= reach)


def test_a_decoder_that_peeks_is_caught(make, bytewise):
    model = make("gpt", bytewise)
    honest, model.decoder.sees = model.decoder.sees, EVERYTHING
    try:
        assert measured(make, bytewise, "gpt")["decoder"].fractions()["above_diagonal"] > 0.01
    finally:
        model.decoder.sees = honest


def test_rows_and_fractions_sum_to_one_and_repeat_with_the_seed(make, bytewise):
    first, again, other = (measured(make, bytewise, "t5", seed=seed) for seed in (1, 1, 2))
    for name, one in first.items():
        torch.testing.assert_close(one.mean.sum(-1), torch.ones(one.mean.shape[0], dtype=torch.float64))
        assert sum(one.fractions().values()) == pytest.approx(1)
        assert torch.equal(one.per_text, again[name].per_text)
        assert not torch.equal(one.per_text, other[name].per_text)


def test_the_size_of_influence_is_the_relative_change_of_the_state():
    """States that are sums of the tokens' numbers by known weights: a change of j moves i by its weight."""
    weights = torch.rand(4, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    replacing = _Replacing(np.array([1, 3]), 5, np.random.default_rng(0))  # a 1 becomes a 3, a 3 a 1
    tokens = torch.tensor([7, 1, 3, 3, 1, 7])
    slots = torch.arange(1, 5)

    def read(rows):
        return [(rows[:, slots].double() @ weights.T)[..., None].expand(-1, -1, 3)]

    (found,) = replacing.influence(read, tokens, slots)
    size = weights @ tokens[slots].double()
    torch.testing.assert_close(found, 2 * weights / size[:, None])


def moved(read, row, j):
    """By how much the states change, in shares of their size, when token j becomes the next one."""
    changed = list(row)
    changed[j] += 1
    with torch.no_grad():
        before, after = (read(torch.tensor([ids]))[0].double() for ids in (row, changed))
    return (after - before).norm(dim=-1) / before.norm(dim=-1)


@pytest.mark.parametrize("arch", ["gpt", "prefix_lm", "bert", "t5"])
def test_what_is_changed_and_watched_is_the_text_without_its_frame(make, bytewise, monkeypatch, arch):
    monkeypatch.setattr(_Replacing, "draw", lambda self, tokens: np.stack([tokens + 1] * self.count))
    model, text = make(arch, bytewise), bytewise.encode(TEXTS[0])[:N]
    directions = measured(make, bytewise, arch)
    found = {name: one.per_text[0] for name, one in directions.items()}
    if arch != "t5":
        before, after = ([bytewise.cls], [bytewise.sep]) if arch == "bert" else ([bytewise.eos], [])
        row, given = [*before, *text, *after], torch.tensor([1 + N // 2])
        expected = {
            next(iter(found)): [
                moved(lambda row: model(row, prefix=given), row, 1 + j)[1 : N + 1] for j in range(N)
            ]
        }
    else:
        start, hole = int(directions["cross"].places[0]), bytewise.sentinels[0]
        asked = [*text[:start], hole, *text[start + 3 :], bytewise.eos]
        written = [bytewise.bos, hole, *text[start : start + 3]]
        with torch.no_grad():
            memory = model.encode(torch.tensor([asked]))
        expected = {
            "encoder": [moved(model.encode, asked, j)[:18] for j in range(18)],
            "cross": [
                moved(lambda row: model(row, torch.tensor([written])), asked, j)[1:] for j in range(18)
            ],
            "decoder": [
                moved(lambda row: model.decode(row, memory=memory), written, j)[1:] for j in range(1, 5)
            ],
        }
    assert found.keys() == expected.keys()
    for name, columns in expected.items():
        torch.testing.assert_close(found[name], torch.stack(columns).T, atol=1e-4, rtol=1e-3)


def test_a_replacement_is_never_what_was_there():
    pool = np.array([1, 1, 1, 1, 1, 2])
    drawn = _Replacing(pool, 50, np.random.default_rng(0)).draw(np.array([1, 2, 3]))
    assert drawn.shape == (50, 3)
    assert (drawn[:, 0] == 2).all()
    assert (drawn[:, 1] == 1).all()
    assert set(drawn[:, 2]) == {1, 2}


def test_the_diagonal_of_cross_attention_is_the_hole_that_is_being_written():
    inputs, written = np.array([5, 90, 6, 7, 91, 2]), np.array([1, 90, 8, 8, 91, 9])
    assert _holes(inputs, written, np.array([90, 91]))[1:].tolist() == [1, 1, 1, 4, 4]


def test_the_hole_is_where_the_encoder_reads_its_sentinel(make, bytewise):
    model, read = make("t5", bytewise), []
    watching = model.embedding.register_forward_hook(lambda module, given, out: read.append(given[0]))
    found = measured(make, bytewise, "t5")
    watching.remove()
    (hole,) = (read[0][0] == bytewise.sentinels[0]).nonzero().squeeze(1).tolist()
    assert found["cross"].places.tolist() == [hole] * 4
    mean, parts = found["cross"].mean, found["cross"].fractions()
    assert parts["diagonal"] == pytest.approx(mean[:, hole].mean().item())
    assert parts["below_diagonal"] == pytest.approx(mean[:, :hole].sum(1).mean().item())
    assert [found[name].places.tolist() for name in ("encoder", "decoder")] == [
        list(range(18)),
        list(range(4)),
    ]


def test_matrices_and_rows_are_those_of_a_run_folder(make, bytewise):
    found = measured(make, bytewise, "t5")
    assert [len(line) for line in matrices(found)["cross"]] == [18] * 4
    made = rows(found)
    assert len(made) == 9
    assert {(row["kind"], row["split"], row["count"]) for row in made} == {("direction", "test", 2)}
    assert {row["task"] for row in made} == {"encoder", "decoder", "cross"}


@pytest.mark.parametrize("arch", ["gpt", "bert", "t5"])
def test_a_model_in_training_is_measured_without_dropout_and_stays_in_training(make, bytewise, arch):
    model = make(arch, bytewise, "arch.dropout=0.5").train()
    try:
        first, again = (measured(make, bytewise, arch, "arch.dropout=0.5") for _ in range(2))
        assert all(torch.equal(one.per_text, again[name].per_text) for name, one in first.items())
        assert model.training
    finally:
        model.eval()


def test_texts_that_say_nothing_are_refused(make, bytewise):
    model = make("gpt", bytewise)
    with pytest.raises(UserError, match="no text has 99 tokens"):
        direction(model, bytewise, TEXTS, length=99)
    with pytest.raises(UserError, match="two different tokens"):
        direction(model, bytewise, ["aaaaaa"], length=4)
