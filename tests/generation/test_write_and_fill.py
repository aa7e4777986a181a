"""Writing: cached as uncached, batched as alone, ending at eos.  Filling: what it says."""

from types import SimpleNamespace

import pytest
import torch

import zoo
from zoo.data.vocabularies import Bytes
from zoo.errors import UserError
from zoo.generation import Sampling, generate
from zoo.generation.fill import Blanks, append_one_by_one, fill_left_to_right, mask_predict
from zoo.generation.layout import laid_out_for_writing
from zoo.generation.text import fill_sentinels
from zoo.generation.write import write

VOCAB = 97
PAD, BOS, EOS, MASK, CLS, SEP = 0, 1, 2, 3, 4, 5
POSITIONS = ["none", "sinusoidal", "learned", "rotary", "relative_bias", "alibi"]
WRITERS = ["gpt", "prefix_lm", "t5"]


def model_of(*more, **axes):
    model = zoo.build(
        "context=64", "size.positions=96", *more, size="nano", vocab=VOCAB, seed=3, **axes
    ).eval()
    for parameter in model.parameters():
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, std=0.3)  # peaked enough that greedy choices are no ties
    return model


def prompts(count=5):
    random = torch.Generator().manual_seed(0)
    return [torch.randint(6, VOCAB, (n,), generator=random).tolist() for n in (1, 4, 9, 13, 2)[:count]]


def uncached(model, prompt, steps):
    """Greedy text by running the whole sequence again for every token."""
    row, encoded = list(prompt), None
    if model.encoder is not None:
        encoded, row = model.encode(torch.tensor([prompt])), [BOS]
    start = len(row)
    with torch.no_grad():
        for _ in range(steps):
            states = model.decode(torch.tensor([row]), memory=encoded, prefix=torch.tensor([start]))
            row.append(model.logits(states[:, -1]).argmax(-1).item())
    return row[start:]


@pytest.mark.parametrize("arch", WRITERS)
@pytest.mark.parametrize("position", POSITIONS)
def test_cached_and_batched_text_is_the_uncached_text_of_each_prompt_alone(arch, position):
    model = model_of(arch=arch, position=position)
    found = write(model, prompts(), max_new_tokens=12, stop=(), pad=PAD, bos=BOS)
    assert found == [uncached(model, prompt, 12) for prompt in prompts()]


@pytest.mark.parametrize("attention", ["gqa", "mqa", "qk_norm", "sliding_window", "strided", "block_sparse"])
@pytest.mark.parametrize("arch", WRITERS)
def test_every_attention_variant_writes_the_same_with_a_cache(arch, attention):
    more = {"sliding_window": ["attention.rule.size=4"], "strided": ["attention.rule.stride=3"]}.get(
        attention, []
    )
    heads = ["size.heads=4"] if attention == "gqa" else []
    model = model_of(*more, *heads, arch=arch, attention=attention)
    found = write(model, prompts(1) * 2, max_new_tokens=12, stop=(), pad=PAD, bos=BOS)
    assert found == [uncached(model, prompts(1)[0], 12)] * 2


@pytest.mark.parametrize("arch", WRITERS)
def test_a_text_ends_at_the_stop_token_and_the_others_go_on(arch):
    model = model_of(arch=arch)
    free = write(model, prompts(), max_new_tokens=15, stop=(), pad=PAD, bos=BOS)
    stop = free[0][4]
    found = write(model, prompts(), max_new_tokens=15, stop=[stop], pad=PAD, bos=BOS)
    assert found == [row[: row.index(stop)] if stop in row else row for row in free]


def test_sampling_repeats_with_its_seed_and_differs_without():
    model = model_of(arch="gpt")
    texts = [
        write(model, prompts(), max_new_tokens=10, stop=(), pad=PAD, bos=BOS, sampling=Sampling(2.0),
              generator=torch.Generator().manual_seed(seed))
        for seed in (1, 1, 2)
    ]  # fmt: skip
    assert texts[0] == texts[1] != texts[2]


@pytest.mark.parametrize("arch", ["gpt", "t5"])
def test_writing_leaves_every_weight_where_it_was_even_when_it_fails(arch):
    model = model_of(arch=arch)
    before = [(parameter.data_ptr(), parameter.stride()) for parameter in model.parameters()]
    write(model, prompts(), max_new_tokens=3, stop=(), pad=PAD, bos=BOS)
    with pytest.raises(RuntimeError), laid_out_for_writing(model):
        raise RuntimeError("in the middle of it")
    assert [(parameter.data_ptr(), parameter.stride()) for parameter in model.parameters()] == before


def test_learned_positions_end_with_a_sentence_not_an_index_error():
    model = model_of(arch="gpt2")
    with pytest.raises(UserError, match=r"learned 96 positions; ask for fewer new tokens"):
        write(model, prompts(), max_new_tokens=90, stop=(), pad=PAD, bos=BOS)


class Watched:
    """A stand-in encoder that wants token (position + 10) everywhere, surer the further left, and logs its inputs."""

    def __init__(self):
        self.seen = []

    def __call__(self, tokens, **_):
        self.seen.append(tokens.clone())
        length = tokens.shape[1]
        wanted = torch.arange(length) + 10
        logits = torch.zeros(len(tokens), length, VOCAB)
        logits[:, torch.arange(length), wanted] = 20.0 - torch.arange(length).float()
        return logits

    def logits(self, states):
        return states

    embedding = SimpleNamespace(tokens=SimpleNamespace(weight=torch.zeros(1)))


BLANKS = Blanks(MASK, PAD, torch.zeros(VOCAB, dtype=torch.bool))


def test_mask_predict_hides_the_least_certain_again_in_equal_shares():
    model, tokens = Watched(), torch.tensor([[50, MASK, MASK, 51, MASK, MASK, 52]])
    filled = mask_predict(model, tokens, BLANKS, iterations=4)
    assert filled.tolist() == [[50, 11, 12, 51, 14, 15, 52]]
    assert [(seen == MASK).sum().item() for seen in model.seen] == [4, 3, 2, 1]
    assert [(seen == MASK)[0].nonzero().squeeze(1).tolist()[-1] for seen in model.seen] == [5, 5, 5, 5]


def test_left_to_right_fills_one_mask_at_a_time_from_the_left():
    model, tokens = Watched(), torch.tensor([[MASK, 50, MASK, MASK], [51, MASK, 52, 53]])
    filled = fill_left_to_right(model, tokens, BLANKS)
    assert filled.tolist() == [[10, 50, 12, 13], [51, 11, 52, 53]]
    assert [seen.tolist()[0].count(MASK) for seen in model.seen] == [3, 2, 1]


def test_one_by_one_shows_the_model_a_single_mask_at_the_end():
    model = Watched()
    rows = append_one_by_one(model, [[50, 51], [52]], BLANKS, max_new_tokens=3, cls=CLS, sep=SEP)
    assert rows == [[13, 14, 15], [12, 13, 14]]
    assert all((seen == MASK).sum(1).tolist() == [1] * len(seen) for seen in model.seen)
    assert model.seen[0].tolist() == [[CLS, 50, 51, MASK, SEP], [CLS, 52, MASK, SEP, PAD]]


def test_banned_tokens_are_never_filled_in():
    model = model_of(arch="bert")
    banned = torch.rand(VOCAB, generator=torch.Generator().manual_seed(0)) < 0.5
    tokens = torch.full((3, 10), MASK)
    for fill in (mask_predict, fill_left_to_right):
        filled = fill(model, tokens, Blanks(MASK, PAD, banned), sampling=Sampling(3.0))
        assert not banned[filled].any()


def test_spans_go_where_their_sentinels_stand():
    assert fill_sentinels([7, 90, 8, 91], [91, 1, 2, 90, 3], {90, 91}) == [7, 3, 8, 1, 2]
    assert fill_sentinels([7, 90], [91, 5], {90, 91}) == [7]


@pytest.mark.parametrize("arch", ["bert", *WRITERS])
def test_every_architecture_makes_text_of_any_prompt(arch):
    tokenizer = Bytes(vocab_size=326, sentinels=64).fit([])
    model = zoo.build("context=64", arch=arch, size="nano", vocab=tokenizer.vocab_size)
    asked = ["", "ab <mask> cd <extra_id_0> é", "日本"]
    for sampling in (Sampling(0.0), Sampling(1.0, top_k=5)):
        texts = generate(model, tokenizer, asked, max_new_tokens=9, sampling=sampling)
        assert len(texts) == 3
        assert all("<" not in text or text.startswith("ab <") for text in texts)
        assert texts[2].startswith("日本")
    if arch == "bert":
        for method in ("mask_predict", "left_to_right", "one_by_one", "diffusion"):
            assert len(generate(model, tokenizer, ["ab"], max_new_tokens=4, method=method)[0]) >= 3
    else:
        with pytest.raises(UserError, match="this model has one way"):
            generate(model, tokenizer, ["ab"], method="mask_predict")
