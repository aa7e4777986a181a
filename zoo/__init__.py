"""The transformer zoo: GPT, BERT and T5 from one set of blocks.

``zoo.build(arch="gpt", size="tiny")`` makes a model, ``zoo.load("runs/...")`` gives a trained one with its tokenizer.
"""

from zoo.api import Trained, build, load

__all__ = ["Trained", "build", "load"]
