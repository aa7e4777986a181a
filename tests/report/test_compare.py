"""What is compared with what, and the verdicts on the documents' claims."""

import numpy as np
import pytest

from zoo.errors import UserError
from zoo.report import compare
from zoo.report.text import markdown


def verdict(report, architecture, row, task=None):
    return next(
        claim
        for claim in report["claims"]
        if (claim["architecture"], claim["row"], claim["task"]) == (architecture, row, task)
    )


def test_runs_that_are_as_the_documents_say_reproduce_every_claim(simulate, thresholds):
    report = compare([simulate()], thresholds)
    assert report["warnings"] == []
    assert len(report["claims"]) == 20
    assert {claim["verdict"] for claim in report["claims"]} == {"reproduced"}
    assert all(claim["p"] < 0.05 and claim["margin"]["value"] > 0 for claim in report["claims"])
    words = {
        name: {arch: cell["word"] for arch, cell in one["cells"].items()}
        for name, one in report["abilities"].items()
    }
    assert words["generation"] == {"gpt": "strong", "bert": "weak", "t5": "strong"}
    assert words["understanding"] == {"gpt": "medium", "bert": "strong", "t5": "strong"}


def test_scores_are_what_was_simulated(simulate, thresholds):
    report = compare([simulate()], thresholds)
    for row in report["applications"]:
        true = 0.3 if row["kind"] == "generate" else 0.85
        cell = row["cells"]["bert"]
        assert cell["low"] < true < cell["high"] or abs(cell["value"] - true) < 0.05
        assert cell["seeds"] == 5


def test_a_task_that_nobody_does_better_than_the_baseline_has_no_signal(simulate, thresholds):
    nobody_writes = {"gpt": (0.0, 0.6), "bert": (0.0, 0.85), "t5": (0.0, 0.85)}
    report = compare([simulate(ability=nobody_writes)], thresholds)
    silent = {row["task"] for row in report["applications"] if not row["signal"]}
    assert silent <= set(thresholds["abilities"]["world"]["generation"])
    assert len(silent) >= 4  # an interval may miss the baseline once in a while
    text = markdown(report, "2026-01-01")
    assert "| reply (no signal) |" in text
    assert "| topic |" in text


def test_a_planted_finding_is_printed_as_one(simulate, thresholds):
    """BERT writes as well as the others, GPT understands as well: four claims fall, and none of the rest."""
    report = compare(
        [simulate(ability={"gpt": (0.8, 0.85), "bert": (0.8, 0.85), "t5": (0.8, 0.85)})], thresholds
    )
    fallen = {
        (claim["architecture"], claim["row"])
        for claim in report["claims"]
        if claim["verdict"] == "not reproduced"
    }
    assert fallen == {("bert", "generation"), ("gpt", "understanding")}
    for architecture, row in fallen:
        assert verdict(report, architecture, row)["margin"]["high"] < 0


def test_an_application_clearly_below_the_top_is_not_near_it(simulate, thresholds):
    report = compare(
        [simulate(ability={"gpt": (0.6, 0.6), "bert": (0.3, 0.85), "t5": (0.8, 0.85)})], thresholds
    )
    assert verdict(report, "gpt", "applications", "reply")["verdict"] == "not reproduced"
    assert verdict(report, "t5", "applications", "headline")["verdict"] == "reproduced"


def test_a_difference_at_the_margin_is_undecided(simulate, thresholds):
    report = compare(
        [simulate(ability={"gpt": (0.68, 0.6), "bert": (0.3, 0.85), "t5": (0.8, 0.85)})], thresholds
    )
    assert verdict(report, "gpt", "generation")["verdict"] == "undecided"


def test_one_seed_decides_nothing(simulate, thresholds):
    report = compare([simulate(seeds=[0])], thresholds)
    assert {claim["verdict"] for claim in report["claims"]} == {"undecided"}
    assert any("one seed" in claim["why"] for claim in report["claims"])
    assert any("more than one seed" in row["what"] for row in report["missing"])


def test_a_decoder_that_sees_ahead_is_not_one_way(simulate, thresholds):
    def change(run):
        for row in run["results"]:
            if row["task"] == "decoder":
                row["value"] = {"above_diagonal": 0.05, "below_diagonal": 0.45, "diagonal": 0.5}[
                    row["metric"]
                ]

    report = compare([simulate(seeds=range(3), change=change)], thresholds)
    assert verdict(report, "gpt", "direction")["verdict"] == "not reproduced"
    assert verdict(report, "bert", "direction")["verdict"] == "reproduced"


def test_a_model_below_its_baseline_has_not_learned_its_task(simulate, thresholds):
    def change(run):
        for row in run["results"]:
            if row["metric"] == "two_sided_trigram_accuracy" and row["task"] == "span_corruption":
                row["value"] = 0.6

    report = compare([simulate(seeds=range(3), change=change)], thresholds)
    assert verdict(report, "t5", "objective")["verdict"] == "not reproduced"
    assert verdict(report, "bert", "objective")["verdict"] == "reproduced"


def test_a_missing_architecture_is_missed_by_name(simulate, thresholds):
    report = compare([simulate(["gpt", "t5"], range(2))], thresholds)
    assert report["columns"]["bert"] is None
    assert any("bert" in row["what"] and "arch=bert" in row["command"] for row in report["missing"])
    assert "no finished run of BERT" in verdict(report, "gpt", "generation")["why"]
    assert verdict(report, "gpt", "direction")["verdict"] == "reproduced"


def test_a_run_that_differs_in_another_key_is_left_out_by_name(simulate, thresholds):
    def change(run):
        if run["config"]["arch"]["name"] == "gpt" and run["config"]["seed"] == 2:
            run["config"]["steps"] = 9000
            run["config"]["data"]["seed"] = 1

    report = compare([simulate(seeds=range(3), change=change)], thresholds)
    warning = "table/gpt-seed_2-00000002: differs in data.seed (1, not 0); steps (9000, not 4400); it is not compared"
    assert warning in report["warnings"]
    assert next(group["seeds"] for group in report["groups"] if group["label"] == "gpt") == [0, 1]


def test_what_cannot_change_a_result_is_no_difference(simulate, thresholds):
    def change(run):
        run["config"] |= {"samples": run["config"]["seed"], "logger": {"wandb": run["config"]["seed"]}}

    assert compare([simulate(seeds=range(3), change=change)], thresholds)["warnings"] == []


def test_the_same_architecture_with_another_objective_is_a_group_of_its_own(simulate, thresholds):
    def change(run):
        run["config"]["objective"] = {
            "_target_": "zoo.objectives.MaskedDiffusion",
            "name": "masked_diffusion",
        }

    runs = simulate(seeds=range(2))
    simulate(["bert"], range(2), name="diffusion", change=change)
    report = compare([runs], thresholds)
    labels = {group["label"] for group in report["groups"]}
    assert labels == {"gpt", "t5", "bert, objective=masked_lm", "bert, objective=masked_diffusion"}
    assert report["columns"]["bert"] == "bert, objective=masked_lm"
    assert report["warnings"] == []


def test_objectives_are_compared_as_an_axis_of_their_own(simulate, thresholds):
    def change(run):
        run["config"]["objective"] = {
            "_target_": "zoo.objectives.MaskedDiffusion",
            "name": "masked_diffusion",
        }

    runs = simulate(["bert"], range(2))
    simulate(["bert"], range(3), name="diffusion", change=change)
    report = compare([runs], {**thresholds, "group_by": "objective", "baseline": "masked_lm"})
    assert [group["label"] for group in report["groups"]] == ["masked_diffusion", "masked_lm"]
    assert report["claims"] == []
    assert {label for row in report["differences"] for label in row["cells"]} == {"masked_diffusion"}
    (seed,) = [one["command"] for one in report["missing"] if "seed 2" in one["what"]]
    assert "objective=masked_lm seed=2" in seed


def test_a_control_that_lacks_a_seed_is_asked_for_by_a_command_that_makes_it(simulate, thresholds):
    def change(run):
        run["config"]["objective"] = {
            "_target_": "zoo.objectives.MaskedDiffusion",
            "name": "masked_diffusion",
        }

    runs = simulate(["bert"], range(2))
    simulate(["bert"], [0], name="diffusion", change=change)
    missing = compare([runs], thresholds)["missing"]
    assert any(
        one["command"].startswith("python train.py arch=bert objective=masked_diffusion seed=1")
        for one in missing
    )


def test_rates_tried_on_one_architecture_are_never_averaged(simulate, thresholds):
    runs = simulate(["gpt"], range(2))
    simulate(["gpt"], range(2), name="grid", change=lambda run: run["config"]["optim"].update(lr=0.01))
    report = compare([runs], thresholds)
    assert [group["label"] for group in report["groups"]] == ["gpt, optim.lr=0.0014", "gpt, optim.lr=0.01"]


def test_another_axis_and_a_baseline(simulate, thresholds):
    rng = np.random.default_rng(0)

    def alibi(run):
        run["config"]["position"] = {"_target_": "zoo.blocks.ALiBi", "_partial_": True}
        for row in run["results"]:
            if row["metric"] == "loss":
                row["value"] += 0.1 + 0.001 * rng.random()

    runs = simulate(["gpt"], range(3))
    simulate(["gpt"], range(3), name="alibi", change=alibi)
    report = compare([runs], thresholds | {"group_by": "position", "baseline": "rope"})
    assert [group["label"] for group in report["groups"]] == ["alibi", "rotary"]
    assert report["claims"] == []
    rows = {row["task"]: row["cells"]["alibi"] for row in report["differences"]}
    assert rows["topic"]["value"] == pytest.approx(0, abs=1e-9)
    assert rows["causal_lm loss"]["low"] < 0.1005 < rows["causal_lm loss"]["high"]
    with pytest.raises(UserError, match="use one of alibi, rotary"):
        compare([runs], thresholds | {"group_by": "position", "baseline": "learned"})
    with pytest.raises(UserError, match="no run has that key"):
        compare([runs], thresholds | {"group_by": "nonsense"})
    # By architecture, the two positions are not to be mixed.
    warnings = compare([runs], thresholds)["warnings"]
    assert any("differs in position._target_ (zoo.blocks." in warning for warning in warnings)


def test_kinds_that_are_tuned_for_longer_have_a_budget_of_their_own(simulate, thresholds):
    def longer(run):
        run["config"]["tuning"]["longer"] = {"generate": 2}
        for row in run["results"]:
            if row["kind"] == "generate" and isinstance(row["updates"], int):
                row["updates"] *= 2

    def words(runs):
        return [
            (row["updates"], ability, name, cell["value"], cell["word"])
            for row in compare([runs], thresholds)["words"]
            for ability, cells in row["abilities"].items()
            for name, cell in cells.items()
        ]

    plain = words(simulate(seeds=range(2), name="plain") / "plain")
    assert {updates for updates, *_ in plain} == {100, 400}
    assert words(simulate(seeds=range(2), name="longer", change=longer) / "longer") == plain


def test_other_tuning_budgets_give_the_words_and_nothing_else(simulate, thresholds):
    def four(run):
        run["config"]["tuning"] |= {"updates": 1600, "measure": [0.0625, 0.25, 1.0]}
        for row in run["results"]:
            if row["updates"] == 400:
                row["updates"] = 1600
                if row["split"] == "validation" and row["kind"] == "generate":
                    row["value"] = 0.8 * 0.95

    runs = simulate(seeds=range(3))
    before = compare([runs], thresholds)
    simulate(seeds=range(2), name="four", change=four)
    report = compare([runs], thresholds)
    assert report["applications"] == before["applications"]
    assert report["warnings"] == []
    words = {
        row["factor"]: {name: cell["word"] for name, cell in row["abilities"]["generation"].items()}
        for row in report["words"]
    }
    assert words[0.25] == words[1] == {"gpt": "strong", "bert": "weak", "t5": "strong"}
    assert words[4] == {"gpt": "strong", "bert": "strong", "t5": "strong"}
    values = [row["abilities"]["generation"]["gpt"]["value"] for row in report["words"]]
    assert values[:2] == pytest.approx([0.8 * 0.8, 0.8])  # no point of the curve beyond the budget counts
    assert not any("tuning budget" in row["what"] for row in report["missing"])


def test_marked_items_are_in_no_score(simulate, thresholds):
    """Their scores set to 0 move the marked part and nothing else."""

    def change(run):
        for name in ("entities.per_token", "questions.span"):
            columns = run["predictions"][name]
            columns["score"] = [
                0.0 if mark else score
                for score, mark in zip(columns["score"], columns["marked"], strict=True)
            ]
        for row in run["results"]:
            if row["split"] == "test_marked":
                row["value"] = 0.0

    before = {row["task"]: row for row in compare([simulate(seeds=range(2))], thresholds)["applications"]}
    report = compare([simulate(seeds=range(2), name="again", change=change)], thresholds)
    after = {row["task"]: row for row in report["applications"]}
    assert after["entities"]["cells"]["gpt"]["value"] == before["entities"]["cells"]["gpt"]["value"]
    assert after["entities"]["marked"]["gpt"]["value"] == 0


def test_runs_twice_under_the_same_seed_are_counted_once(simulate, thresholds):
    runs = simulate(["gpt"], range(2))
    simulate(["gpt"], range(2), name="again")
    report = compare([runs], thresholds)
    assert report["groups"][0]["seeds"] == [0, 1]
    assert sum("is the same run as" in warning for warning in report["warnings"]) == 2


def test_a_control_is_shown_beside_and_is_nobody_s_best(simulate, thresholds):
    """A prefix LM that beats all: the words of the three are as without it."""

    def prefix(run):
        run["config"]["arch"]["name"] = "prefix_lm"

    runs = simulate(seeds=range(3))
    before = compare([runs], thresholds)["abilities"]
    simulate(["gpt"], range(3), name="controls", ability={"gpt": (0.95, 0.95)}, change=prefix)
    after = compare([runs], thresholds)["abilities"]
    for name in ("generation", "understanding"):
        assert after[name]["cells"] == before[name]["cells"]
        assert after[name]["controls"]["prefix_lm"]["ratio"] > 1


def test_runs_of_one_budget_measured_at_other_points_are_not_mixed(simulate, thresholds):
    def change(run):
        if run["config"]["seed"] == 1 and run["config"]["arch"]["name"] == "gpt":
            run["config"]["tuning"]["measure"] = [1.0]

    warnings = compare([simulate(seeds=range(3), change=change)], thresholds)["warnings"]
    assert any(
        "gpt-seed_1" in one and "differs in tuning.measure ([1.0], not absent)" in one for one in warnings
    )


def test_another_suite_has_abilities_of_its_own(simulate, thresholds):
    names = {
        "reply": "next_line",
        "writing": "docstring",
        "topic": "package",
        "entities": "roles",
        "questions": "default_value",
    }

    def change(run):
        run["results"] = [
            row | {"task": names.get(row["task"], row["task"])}
            for row in run["results"]
            if row["task"] in names or row["kind"] not in ("classify", "tag", "extract", "generate")
        ]
        run["predictions"] = {
            f"{names[task]}.{reading}": columns
            for (task, _, reading), columns in (
                (name.partition("."), columns) for name, columns in run["predictions"].items()
            )
            if task in names
        } | {name: run["predictions"][name] for name in ("cloze", "continuation")}

    report = compare([simulate(seeds=range(3), change=change)], thresholds)
    assert report["abilities"]["understanding"]["tasks"] == ["package", "roles", "default_value"]
    assert verdict(report, "gpt", "understanding")["verdict"] == "reproduced"
    assert verdict(report, "gpt", "applications", "reply")["verdict"] == "undecided"
    assert report["warnings"] == []
