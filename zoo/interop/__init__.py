"""Weights of other projects."""

from zoo.interop.hugging_face import load_bert, load_gpt2, load_t5

__all__ = ["load_bert", "load_gpt2", "load_t5"]
