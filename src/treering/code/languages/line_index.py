"""Line numbers by byte offset."""

from bisect import bisect_right
from io import BytesIO
from itertools import accumulate


class LineIndex:
    """Maps byte offsets to line numbers; use it instead of the points of syntax nodes.

    tree-sitter 0.26.0 miscounts the references of points, which later crashes the process (py-tree-sitter issue 472).
    """

    def __init__(self, source: bytes, first: int = 1) -> None:
        """`first` is the number of the first line, for an excerpt of another text."""
        self._first = first
        self._next_lines = list(accumulate(map(len, BytesIO(source + b"\n"))))

    def of(self, place: int) -> int:
        return bisect_right(self._next_lines, place) + self._first
