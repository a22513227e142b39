"""Line numbers by place in the text."""

from bisect import bisect_right
from io import BytesIO
from itertools import accumulate


class Lines:
    """Tells the line a byte stands in; never ask a syntax node for its points.

    tree-sitter 0.26.0 counts the references of points wrongly, which ends in a crash somewhere else
    (py-tree-sitter issue 472).
    """

    def __init__(self, source: bytes, first: int = 1) -> None:
        """`first` is the number of the first line, for a text that is a part of another."""
        self._first = first
        self._next_lines = list(accumulate(map(len, BytesIO(source + b"\n"))))

    def of(self, place: int) -> int:
        return bisect_right(self._next_lines, place) + self._first
