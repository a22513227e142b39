"""Bounded cache for a pure function."""

from collections.abc import Callable
from typing import Generic, TypeVar

V = TypeVar("V")

# Chat and code repeat some 20,000 distinct pieces. Clearing the cache beyond the bound is cheaper than an LRU order.
_MAX_ENTRIES = 32_768
# Longer pieces are addresses and pasted data, which are rarely repeated.
_MAX_KEY = 32


class Memo(dict[str, V], Generic[V]):
    """`memo[text]` is `answer(text)`; caches at most 32,768 texts of at most 32 characters."""

    __slots__ = ("_answer",)

    def __init__(self, answer: Callable[[str], V]) -> None:
        super().__init__()
        self._answer = answer

    def __missing__(self, text: str) -> V:
        value = self._answer(text)
        if len(text) <= _MAX_KEY:
            if len(self) >= _MAX_ENTRIES:
                self.clear()
            self[text] = value
        return value
