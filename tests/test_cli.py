"""The command as a person meets it: one sentence for every mistake, nothing left behind, sweeps that lose no job."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def command(*arguments, cwd, script="train.py", **environment):
    return subprocess.run(
        [sys.executable, str(ROOT / script), *arguments],
        cwd=cwd, capture_output=True, text=True, timeout=240, env={**os.environ, **environment},
    )  # fmt: skip


ILLEGAL = [
    (
        ["arch=bert", "objective=causal_lm"],
        "use objective=masked_lm or objective=masked_diffusion, or arch=gpt",
    ),
    (["arch=gpt", "objective=masked_diffusion"], "use objective=causal_lm or objective=prefix_lm"),
    (["arch=bert", "objective=span_corruption"], "objective=masked_lm"),
    (["arch=bert", "objective=prefix_lm"], "or arch=prefix_lm"),
    (["arch=gtp"], "arch=gtp does not exist; use one of albert, bart, bert, bert_original, gpt"),
    (["stepz=5"], "there is no key stepz; did you mean steps?"),
    (["size.heads=7"], "7 heads do not divide the width 96"),
    (["steps=many"], "steps=many must be a whole number above 0"),
    (["data=files"], "data.path is needed here: add data.path=... to the command"),
    (["batch_size=9", "trainer.micro_batches=2"], "make it a multiple of 2"),
    (["arch=t5", "size.layers=3"], "use an even number"),
    (["optim.lr=fast"], "optim.lr=fast must be a number above 0"),
    (["trainer.precision=8"], "trainer.precision=8 must be 32-true or bf16-mixed"),
    (["resume=nowhere"], "nowhere is not a run folder"),
    (["resume=nowhere", "steps=9"], "leave out steps=9"),
    (["trainer.devices=2"], "use trainer=ddp"),
    (["trainer=gpu"], "there is no GPU that torch can use here"),
    (["optim.betas=0.9"], "optim.betas=0.9 must be two shares"),
    (["trainer.strategy=foo"], "trainer.strategy=foo must be auto or ddp_spawn"),
]


@pytest.mark.parametrize(
    ("arguments", "sentence"), ILLEGAL, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_an_illegal_request_gets_one_sentence_and_leaves_nothing(arguments, sentence, tmp_path):
    found = command(*arguments, cwd=tmp_path)
    assert found.returncode == 2
    assert sentence in found.stderr
    assert found.stderr.startswith("error: ")
    assert found.stderr.strip().count("\n") == 0
    assert found.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_refusals_come_before_torch_is_imported(tmp_path):
    check = (
        "import sys; from zoo import cli; sys.argv = ['train.py', 'arch=bert', 'objective=causal_lm']\n"
        "try: cli.main()\n"
        "except SystemExit: pass\n"
        "heavy = {'torch', 'lightning', 'datasets', 'wandb', 'tokenizers', 'numpy'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    found = subprocess.run(
        [sys.executable, "-c", check], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert found.returncode == 0, found.stderr


BAD_FILES = {
    "empty.txt": (b"", "empty"),
    "binary.txt": (bytes(range(256)) * 20, "binary|not UTF-8|NUL"),
    "short.txt": (b"Too short to learn from.", "fewer than one row"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_gets_one_sentence_and_no_run_folder(name, tmp_path):
    content, words = BAD_FILES[name]
    path = tmp_path / name
    path.write_bytes(content)
    found = command(
        "data=files",
        f"data.path={path}",
        "data.validation=0.3",
        "data.test=0",
        "tokenizer=bytes",
        cwd=tmp_path,
    )
    assert found.returncode == 2, found.stderr
    assert any(word in found.stderr for word in words.split("|"))
    assert "Traceback" not in found.stderr
    assert not (tmp_path / "runs" / "single").exists() or not [*(tmp_path / "runs" / "single").glob("gpt*")]


def test_a_missing_path_and_an_unreadable_tokenizer_are_named(tmp_path):
    missing = command("data=files", "data.path=nowhere.txt", cwd=tmp_path)
    assert missing.returncode == 2
    assert "nowhere.txt" in missing.stderr
    (tmp_path / "tokenizer.json").write_text("{")
    (tmp_path / "text.txt").write_text("a b c. " * 2000)
    broken = command(
        "data=files",
        "data.path=text.txt",
        "data.split_by=end",
        "tokenizer=file",
        "tokenizer.path=tokenizer.json",
        cwd=tmp_path,
    )
    assert broken.returncode == 2
    assert "tokenizer.json" in broken.stderr
    assert "Traceback" not in missing.stderr + broken.stderr


def test_unknown_characters_are_named(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("plain words and nothing else. " * 300 + "ψ" + " the end." * 40)
    found = command(
        "data=files", "data.path=text.txt", "data.validation=0.1", "data.test=0", "data.split_by=end",
        "tokenizer=characters", "context=16", cwd=tmp_path,
    )  # fmt: skip
    assert found.returncode == 2
    assert "ψ" in found.stderr


def test_a_sweep_makes_a_run_each_goes_on_past_failures_and_says_so(small, tmp_path):
    """One job cannot be (bert with causal LM); the other three finish, and the exit status tells."""
    asked = [item for item in small if not item.startswith("logger")]
    found = command("-m", "arch=gpt,bert,t5", "name=trio", *asked, cwd=tmp_path)
    assert found.returncode == 0, found.stderr
    runs = sorted(path for path in (tmp_path / "runs" / "trio").iterdir() if path.is_dir())
    records = [json.loads((run / "run.json").read_text()) for run in runs]
    assert [run.name.split("-")[0] for run in runs] == ["bert", "gpt", "t5"]
    assert {record["status"] for record in records} == {"done"}
    # One finished W&B run per job, though all ran in one process.
    for run, record in zip(runs, records, strict=True):
        (wandb_run,) = (run / "wandb").glob("offline-run-*")
        assert record["wandb_id"] in wandb_run.name
        assert [*wandb_run.glob("*.wandb")]
    again = command("-m", "arch=gpt,bert", "objective=causal_lm", "name=trio", *asked, cwd=tmp_path)
    assert again.returncode == 1
    assert "bert" in again.stdout
    assert "failed" in again.stdout
    assert "use objective=masked_lm" in again.stderr
    assert "already done" in again.stdout
    assert "Traceback" not in again.stderr


def test_a_job_that_breaks_is_marked_failed_with_its_error(small, tmp_path):
    """A learning rate that makes the loss NaN: a clear message, and what was saved before stays."""
    found = command(
        "-m", "arch=gpt,t5", "name=broken", *small, "optim.lr=1e30,1e-3", "optim.clip=null", cwd=tmp_path
    )
    assert found.returncode == 1
    records = {
        run.name: json.loads((run / "run.json").read_text())
        for run in (tmp_path / "runs" / "broken").glob("*-*")
    }
    assert sorted(record["status"] for record in records.values()) == ["done", "done", "failed", "failed"]
    failed = [record["error"] for record in records.values() if record["status"] == "failed"]
    assert all(
        "the loss became NaN or infinite at update" in error and "lower optim.lr" in error for error in failed
    )


def test_sigterm_ends_the_whole_sweep_and_says_so(small, tmp_path):
    asked = ["-m", "arch=gpt,bert", *small, "steps=4000", "trainer.checkpoint_every=2000", "name=stopped"]
    with subprocess.Popen(
        [sys.executable, str(ROOT / "train.py"), *asked],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        watchdog = threading.Timer(100, process.kill)
        watchdog.start()
        for line in process.stdout:
            if line.startswith("update"):
                process.send_signal(signal.SIGTERM)
                break
        printed = process.stdout.read()
        watchdog.cancel()
    assert process.returncode == 143, printed
    assert "interrupted" in printed
    assert "Traceback" not in printed
    (run,) = (tmp_path / "runs" / "stopped").glob("*-*")
    assert json.loads((run / "run.json").read_text())["status"] == "interrupted"


def test_experiment_smoke_runs_every_architecture(tmp_path):
    arches = "gpt,bert,t5,prefix_lm,gpt2,bert_original,t5_original,transformer_2017"
    found = command("-m", "experiment=smoke", f"arch={arches}", cwd=tmp_path)
    assert found.returncode == 0, found.stdout + found.stderr
    assert len([*(tmp_path / "runs" / "smoke").glob("*/checkpoints/best.ckpt")]) == 8


def test_masked_diffusion_runs_and_says_what_its_loss_is(tmp_path):
    found = command("experiment=smoke", "arch=bert", "objective=masked_diffusion", cwd=tmp_path)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "held-out loss at most" in found.stdout
    (run,) = (tmp_path / "runs" / "smoke").glob("bert-*")
    written = command(
        f"run={run}", "prompt=Once", "method=diffusion", "iterations=5", "max_new_tokens=6",
        script="scripts/generate.py", cwd=tmp_path,
    )  # fmt: skip
    assert written.returncode == 0, written.stderr
    assert written.stdout.startswith("Once")


def test_generate_writes_from_a_run_whatever_is_in_the_prompt(small, tmp_path):
    done = command("-m", *small, "arch=gpt,bert,t5,prefix_lm", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for run in sorted((tmp_path / "runs" / "single").glob("*-*")):
        prompt = 'Ada\'s "dog", {a: [b=c]} \\ ${x} 100%'
        found = command(
            f"run={run}",
            f"prompt={prompt}",
            "max_new_tokens=5",
            "samples=2",
            script="scripts/generate.py",
            cwd=tmp_path,
        )
        assert found.returncode == 0, found.stderr
        assert found.stdout.count(prompt) == 2
    wrong = command(f"run={run}", "temperature=-1", script="scripts/generate.py", cwd=tmp_path)
    assert wrong.returncode == 2
    assert "temperature=-1 must be 0 (greedy) or above" in wrong.stderr


def test_ci_runs_the_readme_s_own_commands():
    readme, script = (ROOT / "README.md").read_text(), (ROOT / ".ci" / "run").read_text()
    line = "pip install -c constraints.txt -e '.[dev]' && pytest"
    assert readme.count(line) == 1
    assert line in script
    assert "pip install -c constraints.txt -e . && python train.py arch=gpt" in readme
    assert "eval" in script
