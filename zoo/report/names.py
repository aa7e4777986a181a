"""What keys of configurations and results are called in a text."""

from __future__ import annotations

# What is not called by its key with spaces for underscores.
NAMES = {
    "gpt": "GPT",
    "bert": "BERT",
    "t5": "T5",
    "prefix_lm": "prefix LM",
    "gpt1": "GPT-1",
    "gpt2": "GPT-2",
    "gpt3": "GPT-3",
    "bert_original": "BERT (2019)",
    "roberta": "RoBERTa",
    "albert": "ALBERT",
    "modernbert": "ModernBERT",
    "t5_original": "T5 (2020)",
    "mt5": "mT5",
    "bart": "BART",
    "llama": "Llama",
    "transformer_2017": "Transformer (2017)",
    "causal_lm": "language modelling",
    "masked_lm": "MLM",
    "kneser_ney_5gram_loss": "loss of a Kneser-Ney 5-gram",
    "two_sided_trigram_accuracy": "accuracy of a two-sided trigram",
    "above_diagonal": "from later positions",
    "below_diagonal": "from earlier positions",
    "tokens_per_s": "tokens per second",
    "chrf": "chrF",
    "bleu": "BLEU",
    "f1": "F1",
    "rouge_l": "ROUGE-L",
}


def called(key: str) -> str:
    """``next_sentence_accuracy`` as a reader writes it."""
    return NAMES.get(key, key.replace("_", " "))
