"""Tokenizers by name: OpenAI's vocabularies, and estimates for model families without a published one."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from treering.adapters.tokenizers.estimates import PREFIX, EstimatingTokenizer, families
from treering.adapters.tokenizers.exact import VOCABULARIES, ExactTokenizer
from treering.core.errors import InvalidInput

if TYPE_CHECKING:
    from treering.ports.tokens import Tokenizer

__all__ = ["tokenizer"]

# Vocabularies of OpenAI that no package contains: their models are estimated.
_ESTIMATED = {"p50k_base": "gpt-3", "p50k_edit": "gpt-3", "r50k_base": "gpt-3", "gpt2": "gpt-3"}


@cache
def tokenizer(name: str) -> Tokenizer:
    """The tokenizer `name`: `o200k_base`, `cl100k_base`, or `estimate:<family>`. One shared instance per name."""
    if name in VOCABULARIES:
        return ExactTokenizer(name)
    family = families().get(_ESTIMATED.get(name, name.removeprefix(PREFIX)))
    if family is None or not (name.startswith(PREFIX) or name in _ESTIMATED):
        known = ", ".join((*VOCABULARIES, *(PREFIX + each for each in families())))
        raise InvalidInput(f"unknown tokenizer {name!r}; use one of {known}")
    return EstimatingTokenizer(family)
