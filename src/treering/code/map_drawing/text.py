"""Names of files as text in a drawing: whatever they contain, they stay text, and fit."""

import re
from collections.abc import Sequence
from html import escape

# What XML cannot hold, even escaped: control characters, halves of characters, and two that are none.
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Marks that turn the direction of writing could make one name look like another.
_TURNING = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_BREAK = re.compile(r"(?<=[/ ])")
_WIDTH = 0.58
"""Of an average letter, in a sans-serif face, by its height; wide scripts take a whole."""
_WIDE = 1.0
_FIRST_WIDE = 0x1100


def safe(name: str) -> str:
    """The name as it may stand in an element or between quotes."""
    return escape(_UNPRINTABLE.sub("\ufffd", _TURNING.sub("\ufffd", name)), quote=True)


def width(text: str, size: float) -> float:
    return sum(_WIDE if ord(letter) >= _FIRST_WIDE else _WIDTH for letter in text) * size


def shortened(text: str, size: float, room: float) -> str:
    """The text, without its middle where it is too long: names tell most at both ends."""
    if width(text, size) <= room:
        return text
    for kept in range(min(len(text) - 1, int(room / size / _WIDTH) + 1), 2, -1):
        first = kept * 2 // 5
        short = f"{text[:first]}…{text[len(text) - (kept - first) :]}"
        if width(short, size) <= room:
            return short
    return "…"


def in_lines(name: str, size: float, room: float, most: int = 2) -> Sequence[str]:
    """The name in as few lines as it needs, broken between folders; shortened only where so many do not hold it."""
    lines = [""]
    for part in _BREAK.split(name):
        if lines[-1] and width(lines[-1] + part.rstrip(), size) > room:
            lines.append("")
        lines[-1] += part
    kept = [*lines[: most - 1], "".join(lines[most - 1 :])]
    return [shortened(line.strip(), size, room) for line in kept if line.strip()] or [""]
