"""How many tokens lines take, without counting any text more often than need be."""

from collections.abc import Sequence
from itertools import accumulate

from treering.core.tokens import estimate_tokens

_SURELY_MORE = 3
"""Lines counted one by one come to at most about twice of what they are together: estimates of short texts are
careful ones."""


class Sizes:
    """The lines of one file, and what fits into a chunk of it."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._sums = [0, *accumulate(estimate_tokens(line) for line in lines)]

    def fits(self, start: int, end: int, tokens: int) -> bool:
        """Whether the lines from `start` to before `end` take no more than `tokens`."""
        apart = self._sums[end] - self._sums[start]
        if apart <= tokens:
            return True
        if apart > _SURELY_MORE * tokens:
            return False
        return estimate_tokens("".join(self._lines[start:end])) <= tokens
