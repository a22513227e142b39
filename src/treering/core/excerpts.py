"""Excerpts of long texts, cut at the end of a sentence."""

import re
from bisect import bisect_left
from collections.abc import Callable

ELLIPSIS = "…"

# Not after a list number: `2. Run make`.
_SENTENCE_END = re.compile(
    r"(?<=[.!?…])(?<!\s\d\.)(?<!\s\d\d\.)(?=\s)|(?<=[.!?…][\"')\]»”’])(?=\s)|(?<=[。！？؟۔।])|(?=\n)"
)
_WORD_END = re.compile(r"(?<=\S)(?=\s)|(?<=[，、；])")


def shortened(text: str, fits: Callable[[str], bool], enough: Callable[[str], bool] = bool) -> str | None:
    """The longest prefix that `fits` and ends with a sentence or line, else with a word; None if none is `enough`."""
    for ends in (_SENTENCE_END, _WORD_END):
        positions = [found.start() for found in ends.finditer(text) if 0 < found.start() < len(text)]
        # Number of cut positions before the first that does not fit.
        fitting = bisect_left(positions, True, key=lambda position: not fits(_cut(text, position)))
        if fitting and enough(excerpt := _cut(text, positions[fitting - 1])):
            return excerpt
    return None


def _cut(text: str, position: int) -> str:
    return f"{text[:position].rstrip()} {ELLIPSIS}"
