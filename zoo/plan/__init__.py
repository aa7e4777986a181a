"""What a configuration asks for, in plain Python: is it legal, how large is it, what does it cost?

Nothing here imports torch, so that a request that cannot be met is refused in milliseconds.
"""

from zoo.plan.plan import Plan, make_plan

__all__ = ["Plan", "make_plan"]
