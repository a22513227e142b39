"""The beginning of a text that is too long, cut where a sentence ends."""

import re
from bisect import bisect_left
from collections.abc import Callable

ELLIPSIS = "…"

# Not after the number of a step: `2. Run make`.
_SENTENCE_END = re.compile(
    r"(?<=[.!?…])(?<!\s\d\.)(?<!\s\d\d\.)(?=\s)|(?<=[.!?…][\"')\]»”’])(?=\s)|(?<=[。！？؟۔।])|(?=\n)"
)
_WORD_END = re.compile(r"(?<=\S)(?=\s)|(?<=[，、；])")


def shortened(text: str, fits: Callable[[str], bool], enough: Callable[[str], bool] = bool) -> str | None:
    """The longest beginning that `fits` and ends with a sentence or line, else with a word; None if not `enough`."""
    for ends in (_SENTENCE_END, _WORD_END):
        places = [found.start() for found in ends.finditer(text) if 0 < found.start() < len(text)]
        # The places before the first that does not fit.
        fitting = bisect_left(places, True, key=lambda place: not fits(_cut(text, place)))
        if fitting and enough(kept := _cut(text, places[fitting - 1])):
            return kept
    return None


def _cut(text: str, place: int) -> str:
    return f"{text[:place].rstrip()} {ELLIPSIS}"
