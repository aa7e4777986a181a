"""The configurations themselves: the trio's difference is the lesson, and the plan needs no torch."""

import difflib
import subprocess
import sys
from itertools import combinations

import pytest

from zoo.config import folder, load

TRIO = ["gpt", "bert", "t5"]


@pytest.mark.parametrize(("one", "other"), combinations(TRIO, 2))
def test_two_of_the_trio_differ_in_at_most_8_lines(one, other):
    one, other = ((folder() / "arch" / f"{name}.yaml").read_text().splitlines() for name in (one, other))
    changes = [line for line in difflib.unified_diff(one, other, lineterm="", n=0) if line[0] in "+-"][2:]
    assert 0 < len(changes) <= 8  # a changed line counts twice, as - and as +


def flat(config, prefix=""):
    if not isinstance(config, dict):
        return {prefix: config}
    return {key: value for name in config for key, value in flat(config[name], f"{prefix}.{name}").items()}


@pytest.mark.parametrize(("one", "other"), combinations(TRIO, 2))
def test_composed_they_differ_in_their_name_stacks_objective_and_chosen_rates_only(one, other):
    one, other = (flat(load(f"arch={name}")) for name in (one, other))
    different = {key for key in one.keys() | other.keys() if one.get(key) != other.get(key)}
    own = (".arch.name", ".arch.encoder", ".arch.decoder", ".objective", ".optim.lr", ".tuning.chosen")
    assert all(key.startswith(own) for key in different)


def test_the_prefix_lm_is_gpt_with_another_rule_and_the_objective_that_goes_with_it():
    gpt, prefix_lm = (flat(load(f"arch={name}")) for name in ("gpt", "prefix_lm"))
    different = {key for key in gpt.keys() | prefix_lm.keys() if gpt.get(key) != prefix_lm.get(key)}
    objective = {key for key in different if key.startswith(".objective.")}
    assert different - objective == {".arch.name", ".arch.decoder.sees"}


@pytest.mark.parametrize("arch", TRIO)
def test_the_command_line_has_the_last_word_on_what_an_architecture_brings(arch):
    config = load("objective=causal_lm", "position=alibi", f"arch={arch}", "norm=post_rmsnorm", "match=flops")
    assert config["objective"]["name"] == "causal_lm"
    assert config["position"]["_target_"].endswith("ALiBi")
    assert config["norm"]["placement"] == "post"
    assert config["match"]["by"] == "flops"


def test_planning_and_refusing_import_no_torch():
    code = (
        "import sys; from zoo.config import load; from zoo.plan import make_plan; from zoo.errors import UserError\n"
        "make_plan(load('arch=t5'))\n"
        "try: make_plan(load('arch=bert', 'objective=causal_lm'))\n"
        "except UserError: pass\n"
        "assert not {'torch', 'lightning', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
