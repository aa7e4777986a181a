"""Weights and configurations of Hugging Face's transformers, in and out."""

from zoo.interop.folder import read_folder, write_folder
from zoo.interop.hugging_face import Imported, from_hugging_face, grown, to_hugging_face

__all__ = ["Imported", "from_hugging_face", "grown", "read_folder", "to_hugging_face", "write_folder"]
