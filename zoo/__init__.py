"""The transformer zoo: GPT, BERT and T5 from one set of blocks."""
