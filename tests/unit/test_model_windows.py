"""The window of a model is found by its name in any dress; an unknown model needs its limit said."""

from typing import Any

import pytest

from treering.adapters.tokenizers import tokenizer
from treering.core.errors import InvalidInput
from treering.render.model_windows import _table, window_of
from treering.render.token_counts import rules_of

DRESSED = {
    "gpt-4o": "gpt-4o",
    "gpt-4o-2024-08-06": "gpt-4o",
    "openai/gpt-4o-mini": "gpt-4o-mini",
    "azure/gpt-4.1-nano-2025-04-14": "gpt-4.1-nano",
    "chatgpt-4o-latest": "chatgpt-4o",
    "gpt-5-chat-latest": "gpt-5-chat",
    "gpt-4-0613": "gpt-4",
    "gpt-4-turbo-2024-04-09": "gpt-4-turbo",
    "gpt-4-1106-preview": "gpt-4-1106",
    "gpt-3.5-turbo-0125": "gpt-3.5-turbo",
    "gpt-3.5-turbo-0613": "gpt-3.5-turbo-0613",
    "o3-mini-2025-01-31": "o3-mini",
    "claude-sonnet-4-5-20250929": "claude-sonnet-4-5",
    "anthropic/claude-sonnet-4-5": "claude-sonnet-4-5",
    "claude-3-5-sonnet-latest": "claude-3-5-sonnet",
    "us.anthropic.claude-3-5-sonnet-20241022-v2:0": "claude-3-5-sonnet",
    "anthropic.claude-3-haiku-20240307-v1:0": "claude-3-haiku",
    "bedrock/eu.anthropic.claude-opus-4-1-20250805-v1:0": "claude-opus-4-1",
    "claude-opus-4-1@20250805": "claude-opus-4-1",
    "claude-sonnet-4-5[1m]": "claude-sonnet-4-5",
    "models/gemini-2.5-pro": "gemini-2.5-pro",
    "gemini-2.0-flash-001": "gemini-2.0-flash",
    "gemini-2.5-flash-preview-05-20": "gemini-2.5-flash",
    "google/gemini-3-pro-preview": "gemini-3-pro",
    "llama3.1:8b": "llama3.1",
    "ollama/llama3.2:latest": "llama3.2",
    "meta-llama/Llama-3.3-70B-Instruct": "llama-3.3",
    "meta-llama/Meta-Llama-3.1-8B-Instruct": "meta-llama-3.1",
    "us.meta.llama3-1-70b-instruct-v1:0": "llama3-1",
    "meta-llama/Llama-4-Maverick-17B-128E-Instruct": "llama-4-maverick",
    "mistral-large-2411": "mistral-large-2411",
    "mistral-small-latest": "mistral-small",
    "qwen2.5-coder:7b": "qwen2.5-coder",
    "Qwen/Qwen3-30B-A3B": "qwen3",
    "deepseek-ai/DeepSeek-R1": "deepseek-r1",
    "deepseek-chat": "deepseek-chat",
    "x-ai/grok-4-fast:free": "grok-4-fast",
}


@pytest.mark.parametrize(("dressed", "name"), DRESSED.items(), ids=DRESSED)
def test_a_model_is_known_in_any_dress(dressed: str, name: str) -> None:
    window, plain = window_of(dressed), window_of(name)
    assert window.model == dressed
    assert (window.limit, window.output, window.tokenizer, window.rules) == (
        plain.limit,
        plain.output,
        plain.tokenizer,
        plain.rules,
    )
    assert _table()[name].limit == plain.limit


@pytest.mark.parametrize("name", _table())
def test_every_line_of_the_table_holds_together(name: str) -> None:
    window = window_of(name)
    assert window.limit >= (window.output or 1)
    assert window.as_of is not None
    assert tokenizer(window.tokenizer).name == window.tokenizer
    assert rules_of(window.rules).name == window.rules


def test_newer_claude_models_count_by_their_own_tokenizer() -> None:
    assert window_of("claude-opus-4-6").tokenizer == "estimate:claude"
    assert window_of("claude-opus-4-7").tokenizer == window_of("claude-sonnet-5").tokenizer == "estimate:claude-4.7"


@pytest.mark.parametrize("model", ["gpt-4p", "claude-opus-9", "my-own-model", "", "gpt-4o-ultra", "claude-opus-4-9"])
def test_an_unknown_model_asks_for_its_limit(model: str) -> None:
    with pytest.raises(InvalidInput, match="as `limit`"):
        window_of(model)


def test_the_nearest_known_model_is_named() -> None:
    with pytest.raises(InvalidInput, match="gpt-4o-mini"):
        window_of("gpt-4o-minni")


def test_an_unknown_model_with_a_limit_is_estimated() -> None:
    window = window_of("my-own-model", limit=32_000)
    assert (window.limit, window.output, window.tokenizer, window.rules) == (32_000, None, "estimate:other", "other")
    assert window.as_of is None
    assert window_of("my-own-model", limit=32_000, tokenizer="estimate:qwen").tokenizer == "estimate:qwen"


def test_what_the_caller_says_goes_before_the_table() -> None:
    assert window_of("gpt-4o", limit=64_000).limit == 64_000
    assert window_of("gpt-4o", tokenizer="cl100k_base").tokenizer == "cl100k_base"


def test_overrides_stand_between_the_table_and_the_caller() -> None:
    overrides: dict[str, dict[str, Any]] = {
        "gpt-4o": {"limit": 100_000, "output": 1_000},
        "mine": {"limit": 5_000, "rules": "openai"},
    }
    assert window_of("openai/gpt-4o-2024-08-06", overrides=overrides).limit == 100_000
    assert window_of("gpt-4o", overrides=overrides).output == 1_000
    assert window_of("gpt-4o", limit=7, overrides=overrides).limit == 7
    assert window_of("mine", overrides=overrides).rules == "openai"


@pytest.mark.parametrize("said", [{"limit": 0}, {"limit": -5}, {"limit": "8k"}, {"size": 1}, {"rules": "nobody"}])
def test_what_cannot_be_is_refused(said: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        window_of("gpt-4o", overrides={"gpt-4o": said})
