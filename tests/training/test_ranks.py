"""What a spawned process has to say reaches the terminal as one sentence."""

import multiprocessing
import os
import signal
import time

import pytest
from torch.multiprocessing import ProcessRaisedException

from zoo.errors import Interrupted, UserError
from zoo.training.ranks import signals_reach_ranks, what_a_rank_said

BEFORE = (
    "\n\n-- Process 1 terminated with the following error:\nTraceback (most recent call last):\n  File ...\n"
)


def said(text):
    with what_a_rank_said():
        raise ProcessRaisedException(BEFORE + text, 1, os.getpid())


def test_a_refusal_of_a_rank_is_raised_as_it_was():
    with pytest.raises(UserError, match=r"^the loss became NaN; lower optim.lr \(now 1\)$"):
        said("zoo.errors.UserError: the loss became NaN; lower optim.lr (now 1)\n")


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_rank_that_was_interrupted_interrupts_the_run(name):
    with pytest.raises(Interrupted) as found:
        said(f"zoo.errors.Interrupted: stopped by {name}\n")
    assert found.value.signum == signal.Signals[name]


def test_a_fault_stays_a_fault():
    with pytest.raises(ProcessRaisedException):
        said("ValueError: zoo.errors.UserError: not at the beginning of a line is not one\n")


def wait(ready):
    signal.signal(signal.SIGTERM, lambda signum, frame: os._exit(7))
    ready.set()
    time.sleep(60)


def test_a_rank_gets_the_signal_that_only_its_parent_was_sent():
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    rank = context.Process(target=wait, args=(ready,), daemon=True)
    before = signal.getsignal(signal.SIGTERM)
    with signals_reach_ranks():
        rank.start()
        assert ready.wait(60)
        os.kill(os.getpid(), signal.SIGTERM)
        rank.join(60)
    assert rank.exitcode == 7
    assert signal.getsignal(signal.SIGTERM) == before


def terminate_oneself():
    with signals_reach_ranks():
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)


def test_without_ranks_a_signal_interrupts():
    with pytest.raises(Interrupted):
        terminate_oneself()
