"""A run that is stopped anywhere goes on to the same losses as one that never was."""

import csv
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import torch

from zoo.config import load
from zoo.errors import Interrupted, UserError
from zoo.training import checkpoints
from zoo.training.run import run

ROOT = Path(__file__).parents[2]
ARCHS = ["gpt", "bert", "t5", "prefix_lm"]


def losses(folder):
    with (folder / "metrics.csv").open() as file:
        rows = list(csv.DictReader(file))
    return {
        (int(row["step"]), key): float(row[key])
        for row in rows
        for key in ("train/loss", "val/loss", "train/lr")
        if row.get(key)
    }


def interrupt_after(monkeypatch, updates):
    """SIGTERM while update ``updates`` is under way."""
    from zoo.training.module import Pretraining

    plain, sent = Pretraining.training_step, []

    def step(self, batch, batch_idx):
        if self.trainer.global_step == updates - 1 and not sent:
            sent.append(batch_idx)
            os.kill(os.getpid(), signal.SIGTERM)
        return plain(self, batch, batch_idx)

    monkeypatch.setattr(Pretraining, "training_step", step)


@pytest.mark.parametrize("arch", [*ARCHS, "bert objective=masked_diffusion"])
@pytest.mark.parametrize("more", [[], ["trainer.micro_batches=2", "arch.dropout=0.1", "trainer.log_every=4"]])
def test_interrupted_anywhere_it_reaches_the_same_losses(arch, more, small, tmp_path, monkeypatch):
    config = load(*small, *f"arch={arch}".split(), *more)
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    run(config, whole)
    with monkeypatch.context() as patch:
        interrupt_after(patch, 7)  # mid-epoch, between two log lines and two checkpoints of the plan
        with pytest.raises(Interrupted):
            run(config, broken)
    assert json.loads((broken / "run.json").read_text())["status"] == "interrupted"
    assert checkpoints.read(broken / "checkpoints" / "last.ckpt")["global_step"] == 7
    run(config, broken)
    assert losses(broken) == losses(whole)
    record = json.loads((broken / "run.json").read_text())
    assert record["budget"] == json.loads((whole / "run.json").read_text())["budget"]
    assert record["status"] == "done"
    assert record["sessions"] == 2
    last = [
        checkpoints.read(folder / "checkpoints" / "last.ckpt")["state_dict"] for folder in (whole, broken)
    ]
    assert all(torch.equal(last[0][name], last[1][name]) for name in last[0])


def test_a_second_signal_stops_it_at_once_and_it_still_resumes(small, tmp_path, monkeypatch):
    from zoo.training.module import Pretraining

    config = load(*small, "arch=gpt")
    run(config, tmp_path / "whole")
    plain = Pretraining.training_step

    def step(self, batch, batch_idx):
        if self.trainer.global_step == 7:
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)
        return plain(self, batch, batch_idx)

    with monkeypatch.context() as patch:
        patch.setattr(Pretraining, "training_step", step)
        with pytest.raises(Interrupted):
            run(config, tmp_path / "broken")
    run(config, tmp_path / "broken")
    assert losses(tmp_path / "broken") == losses(tmp_path / "whole")


def test_killed_it_goes_on_from_the_last_checkpoint(small, tmp_path, monkeypatch):
    """SIGKILL leaves no time for a checkpoint: rows past the last one are computed again, none twice."""
    config = load(*small, "arch=gpt")
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    run(config, whole)

    def die(self, *_):
        if self.trainer.global_step == 7:
            raise MemoryError("stands for a kill: nothing is saved")
        return plain(self, *_)

    from zoo.training.module import Pretraining

    plain = Pretraining.training_step
    with monkeypatch.context() as patch:
        patch.setattr(Pretraining, "training_step", die)
        with pytest.raises(MemoryError):
            run(config, broken)
    assert json.loads((broken / "run.json").read_text())["status"] == "failed"
    run(config, broken)
    assert losses(broken) == losses(whole)


def test_a_truncated_checkpoint_is_refused_and_the_one_before_it_used(small, tmp_path, monkeypatch, capsys):
    config = load(*small, "arch=gpt")
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    run(config, whole)
    with monkeypatch.context() as patch:
        interrupt_after(patch, 8)
        with pytest.raises(Interrupted):
            run(config, broken)
    last = broken / "checkpoints" / "last.ckpt"
    last.write_bytes(last.read_bytes()[:1000])
    run(config, broken)
    assert "damaged" in capsys.readouterr().out
    assert losses(broken) == losses(whole)


def test_a_finished_run_is_left_alone_and_fresh_does_it_again(small, tmp_path):
    config = load(*small, "arch=gpt")
    first = run(config, tmp_path / "run")
    before = (tmp_path / "run" / "metrics.csv").stat().st_mtime_ns
    assert run(config, tmp_path / "run").status == "kept"
    assert (tmp_path / "run" / "metrics.csv").stat().st_mtime_ns == before
    again = run({**config, "fresh": True}, tmp_path / "run")
    assert again.status == "done"
    assert again.results["loss"] == first.results["loss"]


def test_a_fresh_run_never_goes_on_from_the_weights_it_replaces(small, tmp_path, monkeypatch):
    config = load(*small, "arch=gpt", "trainer.checkpoint_every=12")
    run(config, tmp_path / "run")
    whole = losses(tmp_path / "run")
    from zoo.training.module import Pretraining

    def die(self, *_):
        raise MemoryError("before the first checkpoint")

    with monkeypatch.context() as patch:
        patch.setattr(Pretraining, "training_step", die)
        with pytest.raises(MemoryError):
            run({**config, "fresh": True}, tmp_path / "run")
    assert "MemoryError" in (tmp_path / "run" / "error.txt").read_text()
    assert run(config, tmp_path / "run").status == "done"
    assert losses(tmp_path / "run") == whole


def test_a_run_is_not_taken_up_on_other_data(small, tmp_path, text_file):
    config = load(*small, "arch=gpt")
    run(config, tmp_path / "run")
    other = tmp_path / "other.txt"
    other.write_text(text_file.read_text() + "\n\nOne more document of a few words.")
    moved = {**config, "data": {**config["data"], "path": str(other)}}
    with pytest.raises(UserError, match=r"other data than there is now; use fresh=true"):
        run(moved, tmp_path / "run")


def test_broken_gradients_stop_the_run_before_they_reach_the_weights(small, tmp_path, monkeypatch):
    from zoo.training.module import Pretraining

    plain = Pretraining.training_step

    def step(self, batch, batch_idx):
        loss = plain(self, batch, batch_idx)
        return loss if self.trainer.global_step < 7 else loss + (loss - loss.detach()) * float("inf")

    config = load(*small, "arch=gpt")
    with monkeypatch.context() as patch:
        patch.setattr(Pretraining, "training_step", step)
        with pytest.raises(UserError, match="became NaN or infinite at update 7"):
            run(config, tmp_path / "run")
    saved = checkpoints.read(tmp_path / "run" / "checkpoints" / "last.ckpt")
    assert saved["global_step"] == 6
    assert all(torch.isfinite(tensor).all() for tensor in saved["state_dict"].values())


def test_a_checkpoint_with_more_than_tensors_is_refused(tmp_path):
    torch.save({"state_dict": {}, "object": Path}, tmp_path / "last.ckpt")
    with pytest.raises(UserError, match="damaged or no checkpoint of plain tensors"):
        checkpoints.read(tmp_path / "last.ckpt")


def test_a_full_disk_leaves_the_checkpoint_before_it(tmp_path, monkeypatch):
    path = tmp_path / "last.ckpt"
    checkpoints.save({"a": torch.ones(3)}, path)

    def full(value, file):
        file.write(b"half of it")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(torch, "save", full)
    with pytest.raises(UserError, match=r"No space left.*untouched"):
        checkpoints.save({"a": torch.zeros(3)}, path)
    assert torch.equal(checkpoints.read(path)["a"], torch.ones(3))
    assert [item.name for item in tmp_path.iterdir()] == ["last.ckpt"]


@pytest.mark.parametrize(("signum", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_command_stops_in_order_and_resumes_by_name(signum, status, small, tmp_path):
    """As a user would: Ctrl-C or a scheduler's SIGTERM, then resume=<run>."""
    command = [sys.executable, str(ROOT / "train.py")]
    asked = [*small, "arch=gpt", "steps=4000", "trainer.checkpoint_every=1000", f"runs={tmp_path}"]
    with subprocess.Popen(
        [*command, *asked], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=tmp_path
    ) as process:
        watchdog = threading.Timer(100, process.kill)
        watchdog.start()
        printed = []
        for line in process.stdout:
            printed.append(line)
            if line.startswith("update"):
                time.sleep(0.3)
                process.send_signal(signum)
                break
        printed += process.stdout.readlines()
        watchdog.cancel()
    assert process.returncode == status, "".join(printed)
    assert "Traceback" not in "".join(printed)
    (folder,) = (tmp_path / "single").glob("gpt-*")
    record = json.loads((folder / "run.json").read_text())
    assert record["status"] == "interrupted"
    reached = checkpoints.read(folder / "checkpoints" / "last.ckpt")["global_step"]
    assert 0 < reached < 4000
