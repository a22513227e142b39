"""Tokenizers by name: OpenAI's own vocabularies, and estimates for the families of models that publish none."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from treering.adapters.tokenizers.estimates import PREFIX, Estimate, families
from treering.adapters.tokenizers.exact import VOCABULARIES, ExactTokenizer
from treering.core.errors import InvalidInput

if TYPE_CHECKING:
    from treering.ports.tokens import Tokenizer

__all__ = ["tokenizer"]

# Vocabularies of OpenAI that no package carries: their models are estimated.
_ESTIMATED = {"p50k_base": "gpt-3", "p50k_edit": "gpt-3", "r50k_base": "gpt-3", "gpt2": "gpt-3"}


@cache
def tokenizer(name: str) -> Tokenizer:
    """The tokenizer called `name`: `o200k_base`, `cl100k_base`, or `estimate:<family>`. One for all who ask."""
    if name in VOCABULARIES:
        return ExactTokenizer(name)
    family = families().get(_ESTIMATED.get(name, name.removeprefix(PREFIX)))
    if family is None or not (name.startswith(PREFIX) or name in _ESTIMATED):
        known = ", ".join((*VOCABULARIES, *(PREFIX + each for each in families())))
        raise InvalidInput(f"no tokenizer is called {name!r}; use one of {known}")
    return Estimate(family)
