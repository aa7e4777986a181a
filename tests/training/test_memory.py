"""Memory that was freed once is used again without asking the system for it."""

import subprocess
import sys

import pytest

FAULTS = """
import resource, sys
import numpy as np
from zoo.training.memory import keep_freed_memory

if sys.argv[1] == "kept" and not keep_freed_memory():
    print("no such setting")
    sys.exit()

def work():
    blocks = [np.ones(1_000_000) for _ in range(8)]  # 64 MB, all freed at the end

work()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5):
    work()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(how: str) -> int:
    done = subprocess.run([sys.executable, "-c", FAULTS, how], capture_output=True, text=True, check=True)
    if "no such setting" in done.stdout:
        pytest.skip("not glibc")
    return int(done.stdout)


def test_what_was_freed_is_used_again():
    assert faults("kept") < 100 < 10_000 < faults("given back")
