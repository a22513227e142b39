"""Context windows of models, from a small dated table. For other models, the caller passes the limit."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from datetime import date
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from treering.core.errors import InvalidInput
from treering.render.token_counts.rules import rules_of

NO_OVERRIDES: Mapping[str, Mapping[str, Any]] = MappingProxyType({})

_UNKNOWN_TOKENIZER = "estimate:other"

# Bedrock's model names, such as `us.anthropic.claude-…`.
_VENDOR = re.compile(r"^(?:[a-z]{2,6}\.)?(?:anthropic|openai|meta|mistral|deepseek|qwen|google|xai)\.(?=[a-z])")

# Suffixes of model names: date, version, size, quantisation, tag.
_ENDINGS = re.compile(
    r"(?:[-@]\d{4}-\d{2}-\d{2}|[-@]\d{8}|-\d{3,4}|[-@](?:latest|default|preview|exp|experimental|instruct|chat|it|hf)"
    r"|-v\d+|-\d+(?:\.\d+)?[be]|-a\d+b|-(?:fp8|bf16|awq|gptq|gguf|versatile|instant|turbo)|-preview-\d{2}-\d{2,4}|:[\w.-]+|\[1m\])$"
)


@dataclass(frozen=True)
class ModelWindow:
    """The context window of a model, its maximum output if known, and how its tokens are counted.

    `tokenizer` and `rules` are names. `as_of` is the date of the table, or None if the caller gave the limit.
    """

    model: str
    limit: int
    output: int | None
    tokenizer: str
    rules: str
    as_of: date | None


_CHANGEABLE = frozenset(field.name for field in fields(ModelWindow)) - {"model", "as_of"}


def window_of(
    model: str,
    *,
    limit: int | None = None,
    tokenizer: str | None = None,
    overrides: Mapping[str, Mapping[str, Any]] = NO_OVERRIDES,
) -> ModelWindow:
    """The window of `model`, looked up by its exact name, else without provider prefix, date, size and tag.

    `limit` and `tokenizer` take precedence over `overrides` (by model), and these over the table. An unknown model
    needs a limit; without a tokenizer, its tokens are estimated conservatively. Raises `InvalidInput`.
    """
    names = tuple(_names(model))
    known = next((_table()[name] for name in names if name in _table()), None)
    given = dict(next((overrides[name] for name in (model, *names) if name in overrides), {}))
    given |= {name: value for name, value in (("limit", limit), ("tokenizer", tokenizer)) if value is not None}
    _check(model, given)
    if known is None and "limit" not in given:
        raise InvalidInput(_unknown_model_message(model, names))
    start = known or ModelWindow(model, given["limit"], None, _UNKNOWN_TOKENIZER, "other", None)
    return replace(start, model=model, **given)


def _check(model: str, given: Mapping[str, Any]) -> None:
    if unknown := given.keys() - _CHANGEABLE:
        raise InvalidInput(
            f"{model}: {', '.join(sorted(unknown))} cannot be overridden; use {', '.join(sorted(_CHANGEABLE))}"
        )
    limit = given.get("limit", 1)
    if not isinstance(limit, int) or limit < 1:
        raise InvalidInput(
            f"{model}: limit {limit!r} is not a positive integer; pass the model's context window in tokens"
        )
    if "rules" in given:
        rules_of(given["rules"])


def _names(model: str) -> Iterator[str]:
    """The name, then with prefixes and suffixes removed one by one."""
    name = model.strip().lower()
    yield name
    for part in (name.rpartition("/")[2], _VENDOR.sub("", name.rpartition("/")[2])):
        bare = part
        yield bare
        while (shorter := _ENDINGS.sub("", bare)) != bare:
            bare = shorter
            yield bare


def _unknown_model_message(model: str, names: tuple[str, ...]) -> str:
    near = get_close_matches(names[-1], _table(), n=3, cutoff=0.5)
    hint = f" (nearest known: {', '.join(near)})" if near else ""
    return f"the context window of {model!r} is unknown{hint}; pass its size in tokens as `limit`"


@cache
def _table() -> Mapping[str, ModelWindow]:
    content = tomllib.loads((files(__package__) / "windows.toml").read_text("utf-8"))
    return {
        name: ModelWindow(
            name, limit, output[0] if output else None, group["tokenizer"], group["rules"], content["as_of"]
        )
        for group in content["group"]
        for name, (limit, *output) in group["models"].items()
    }
