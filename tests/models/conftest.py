from functools import lru_cache

import pytest
import torch
from torch import nn

from zoo.config import load
from zoo.models import build
from zoo.plan import make_plan

SMALL = ("context=16", "size.d_model=16", "size.layers=4", "size.heads=4", "size.d_ff=24", "match=none")
VARIANT = {
    "sliding_window": ("attention.rule.size=3",),
    "strided": ("attention.rule.stride=4",),
    "block_sparse": ("attention.rule.size=3",),
}


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Small tensors are slower on many threads, and other tests run beside these."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


composed = lru_cache(maxsize=None)(load)


@pytest.fixture(scope="session")
def make():
    """make(arch, attention, position, ...): a small model in evaluation, all of its weights random.

    An initial model's zero biases, unit norms and small matrices would hide what is misplaced.
    """

    def make(arch, *more, attention="full", position=None, vocab=50, std=0.3, dtype=torch.float64):
        config = composed(f"arch={arch}", *SMALL, *more)
        variant = composed(f"attention={attention}", *SMALL, *VARIANT.get(attention, ()))["attention"]
        own = config["attention"]["mixer"]
        config = {
            **config,
            "attention": {
                **variant,
                "mixer": {**variant["mixer"], "bias": own["bias"], "scale": own["scale"]},
            },
        }
        if position is not None:
            config["position"] = composed(f"position={position}", *SMALL)["position"]
        model = build(make_plan(config, vocab), seed=0).to(dtype).eval()
        torch.manual_seed(0)
        for parameter in model.parameters():
            nn.init.normal_(parameter, std=std)
        return model

    return make
