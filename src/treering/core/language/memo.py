"""Answers of a pure function, remembered within bounds."""

from collections.abc import Callable
from typing import Generic, TypeVar

V = TypeVar("V")

# Chat and code repeat some 20,000 distinct pieces; past the bound we start over, which costs less than an order of use.
_MOST = 32_768
# Longer pieces are addresses and pasted data: they seldom come again.
_LONGEST_KEY = 32


class Memo(dict[str, V], Generic[V]):
    """`memo[text]` is `answer(text)`. At most 32,768 texts of at most 32 characters stay."""

    __slots__ = ("_answer",)

    def __init__(self, answer: Callable[[str], V]) -> None:
        super().__init__()
        self._answer = answer

    def __missing__(self, text: str) -> V:
        value = self._answer(text)
        if len(text) <= _LONGEST_KEY:
            if len(self) >= _MOST:
                self.clear()
            self[text] = value
        return value
