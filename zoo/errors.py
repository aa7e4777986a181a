"""The two ways in which a command ends that are not faults of the program."""

import signal


class UserError(Exception):
    """A request that cannot be met, said in one sentence that tells what to change."""


class Interrupted(Exception):
    """A signal asked the run to stop, and it did after the update under way, with a checkpoint."""

    def __init__(self, signum: int) -> None:
        super().__init__(f"stopped by {signal.Signals(signum).name}")
        self.signum = signum
