"""The families of transformers that have a twin here, by their ``model_type``."""

from zoo.interop.families.bart import BART
from zoo.interop.families.bert import ALBERT, BERT, ROBERTA
from zoo.interop.families.family import Family
from zoo.interop.families.gpt import GPT1, GPT2
from zoo.interop.families.llama import LLAMA
from zoo.interop.families.modernbert import MODERNBERT
from zoo.interop.families.t5 import MT5, T5

FAMILIES: dict[str, Family] = {
    one.model_type: one for one in (GPT1, GPT2, LLAMA, BERT, ROBERTA, ALBERT, MODERNBERT, T5, MT5, BART)
}
