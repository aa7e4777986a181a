"""Text and tokens: sources, tokenizers, the cached token stream, and n-gram baselines."""
