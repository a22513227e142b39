"""Sizes of lines in bytes."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate


def bytes_of(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


class LineSizes:
    """Sizes of the lines of one file."""

    def __init__(self, lines: Sequence[str]) -> None:
        plain = all(map(str.isascii, lines))
        self._sums = [0, *accumulate(map(len if plain else bytes_of, lines))]

    def of(self, start: int, end: int) -> int:
        """Bytes of the lines from `start` to before `end`."""
        return self._sums[end] - self._sums[start]

    def last_within(self, max_bytes: int, start: int) -> int:
        """End of the longest run of lines from `start` that takes at most `max_bytes`."""
        return bisect_right(self._sums, self._sums[start] + max_bytes) - 1
