"""How much a model can take, from a small dated table; a model that is not in it needs its limit said."""

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

# `us.anthropic.claude-…`, as Bedrock names models.
_VENDOR = re.compile(r"^(?:[a-z]{2,6}\.)?(?:anthropic|openai|meta|mistral|deepseek|qwen|google|xai)\.(?=[a-z])")

# What follows a model's name: a date, a version, a size, a quantisation, a tag.
_ENDINGS = re.compile(
    r"(?:[-@]\d{4}-\d{2}-\d{2}|[-@]\d{8}|-\d{3,4}|[-@](?:latest|default|preview|exp|experimental|instruct|chat|it|hf)"
    r"|-v\d+|-\d+(?:\.\d+)?[be]|-a\d+b|-(?:fp8|bf16|awq|gptq|gguf|versatile|instant|turbo)|-preview-\d{2}-\d{2,4}|:[\w.-]+|\[1m\])$"
)


@dataclass(frozen=True)
class ModelWindow:
    """What a model takes at most, what of it may be output where that is known, and how its tokens are counted.

    `tokenizer` and `rules` are names; `as_of` says when the table was right, and is None where the caller said it.
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
    """The window of `model`: by its exact name, else without provider prefix, date, size and tag.

    `limit` and `tokenizer` go before `overrides` (by model), and these before the table. A model that is nowhere known
    needs a limit; it is counted with a careful estimate unless a tokenizer is named.
    """
    names = tuple(_names(model))
    known = next((_table()[name] for name in names if name in _table()), None)
    said = dict(next((overrides[name] for name in (model, *names) if name in overrides), {}))
    said |= {name: value for name, value in (("limit", limit), ("tokenizer", tokenizer)) if value is not None}
    _check(model, said)
    if known is None and "limit" not in said:
        raise InvalidInput(_unknown(model, names))
    start = known or ModelWindow(model, said["limit"], None, _UNKNOWN_TOKENIZER, "other", None)
    return replace(start, model=model, **said)


def _check(model: str, said: Mapping[str, Any]) -> None:
    if strange := said.keys() - _CHANGEABLE:
        raise InvalidInput(f"{model}: {', '.join(sorted(strange))} cannot be set; use {', '.join(sorted(_CHANGEABLE))}")
    limit = said.get("limit", 1)
    if not isinstance(limit, int) or limit < 1:
        raise InvalidInput(f"{model}: the limit is {limit!r}; give the model's context window in tokens")
    if "rules" in said:
        rules_of(said["rules"])


def _names(model: str) -> Iterator[str]:
    """The name itself, then with less and less around it."""
    name = model.strip().lower()
    yield name
    for part in (name.rpartition("/")[2], _VENDOR.sub("", name.rpartition("/")[2])):
        bare = part
        yield bare
        while (shorter := _ENDINGS.sub("", bare)) != bare:
            bare = shorter
            yield bare


def _unknown(model: str, names: tuple[str, ...]) -> str:
    near = get_close_matches(names[-1], _table(), n=3, cutoff=0.5)
    hint = f" (nearest known: {', '.join(near)})" if near else ""
    return f"how much {model!r} takes is not known{hint}; pass limit= with its context window in tokens"


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
