"""Kept runs: small copies that compare as the runs do."""

import json

import pytest

from zoo.errors import UserError
from zoo.report import compare, keep


def size(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_kept_runs_compare_as_the_runs_do(simulate, thresholds, tmp_path):
    def change(run):
        if run["config"]["seed"] == 2:
            run["record"].update(status="failed", error="out of memory")
        run["samples"] *= 40

    runs = simulate(archs=("gpt", "t5"), seeds=range(3), items=400, change=change)
    kept = tmp_path / "kept" / "table"
    keep([runs], kept)
    whole, small = (compare([place], thresholds) for place in (runs, kept))
    for report in (whole, small):
        del report["places"], report["missing"]  # they name the folders
        for run in report["runs"]:
            del run["path"]
    assert json.dumps(small) == json.dumps(whole)
    assert size(kept) < size(runs) / 2
    text = (kept / "gpt-seed_0-00000000" / "direct_writing.json").read_text()
    assert text.count("wrote this line") == 2


def test_keeping_again_replaces_and_leaves_the_others(simulate, tmp_path):
    runs = simulate(archs=("gpt",), seeds=range(2))
    kept = tmp_path / "kept"
    first = keep([runs], kept)
    (first[0] / "predictions" / "topic.pool.parquet").unlink()
    keep([runs / "table" / first[0].name], kept)
    assert (first[0] / "predictions" / "topic.pool.parquet").exists()
    assert sorted(path.name for path in kept.iterdir()) == sorted(path.name for path in first)


def test_a_damaged_run_is_not_kept(simulate, tmp_path):
    runs = simulate(archs=("gpt",), seeds=range(1))
    (next(runs.rglob("predictions")) / "topic.pool.parquet").unlink()
    with pytest.raises(UserError, match=r"topic\.pool\.parquet is missing"):
        keep([runs], tmp_path / "kept")
    assert not (tmp_path / "kept").exists()
