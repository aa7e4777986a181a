"""The one exception whose message is meant for the person at the keyboard."""


class UserError(Exception):
    """A request that cannot be met, said in one sentence that tells what to change."""
