"""How many bytes lines take."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate


def bytes_of(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


class Sizes:
    """The lines of one file, and what fits into a chunk of it."""

    def __init__(self, lines: Sequence[str]) -> None:
        plain = all(map(str.isascii, lines))
        self._sums = [0, *accumulate(map(len if plain else bytes_of, lines))]

    def of(self, start: int, end: int) -> int:
        """The bytes of the lines from `start` to before `end`."""
        return self._sums[end] - self._sums[start]

    def last_within(self, most: int, start: int) -> int:
        """The line before which those from `start` on take no more than `most`."""
        return bisect_right(self._sums, self._sums[start] + most) - 1
