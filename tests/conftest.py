"""Shared by all tests: two threads at most, an own cache, a small text that is always there."""

import random

import pytest
import torch
from hypothesis import settings

settings.register_profile("zoo", deadline=None)  # how long an example takes says nothing here
settings.load_profile("zoo")


@pytest.fixture(autouse=True, scope="session")
def _threads():
    torch.set_num_threads(1)


@pytest.fixture(autouse=True, scope="session")
def _cache(tmp_path_factory):
    """No test reads or leaves anything in the user's own cache, and W&B stays offline."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ZOO_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("WANDB_MODE", "offline")
        yield


@pytest.fixture(scope="session")
def text_file(tmp_path_factory):
    """Documents of a few sentences each, separated by blank lines, with something to learn in them."""
    rng = random.Random(0)
    names, verbs = ["Ada", "Ben", "Cleo", "Dan"], ["sees", "likes", "helps", "calls"]
    documents = []
    for _ in range(400):
        who = rng.choice(names)
        lines = [f"{who} {rng.choice(verbs)} {rng.choice(names)} today." for _ in range(rng.randint(2, 6))]
        documents.append(" ".join(lines))
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text("\n\n".join(documents), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def small(text_file):
    """Overrides for a run of seconds on that text."""
    return [
        "data=files", f"data.path={text_file}", "data.documents=blank_lines", "data.validation=0.2", "data.test=0.1",
        "size=nano", "tokenizer.vocab_size=400", "logger=none", "context=32", "batch_size=8", "steps=12",
        "trainer.validate_every=6", "trainer.checkpoint_every=3", "trainer.log_every=1", "trainer.validation_rows=16",
        "samples=0",
    ]  # fmt: skip
