"""Names of files as escaped, shortened and wrapped text for a drawing."""

import re
from collections.abc import Sequence
from html import escape

# Characters that XML cannot represent, even escaped: control characters, surrogates, U+FFFE and U+FFFF.
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Bidirectional control characters could make one name look like another.
_TURNING = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_BREAK = re.compile(r"(?<=[/ ])")
_WIDTH = 0.58
"""Average width of a letter in a sans-serif font, relative to its height; 1.0 for wide scripts."""
_WIDE = 1.0
_FIRST_WIDE = 0x1100


def safe(name: str) -> str:
    """The name escaped for use in an element or a quoted attribute."""
    return escape(_UNPRINTABLE.sub("\ufffd", _TURNING.sub("\ufffd", name)), quote=True)


def width(text: str, size: float) -> float:
    return sum(_WIDE if ord(letter) >= _FIRST_WIDE else _WIDTH for letter in text) * size


def shortened(text: str, size: float, room: float) -> str:
    """The text, with its middle elided if it is too long: names are most distinctive at both ends."""
    if width(text, size) <= room:
        return text
    for length in range(min(len(text) - 1, int(room / size / _WIDTH) + 1), 2, -1):
        first = length * 2 // 5
        short = f"{text[:first]}…{text[len(text) - (length - first) :]}"
        if width(short, size) <= room:
            return short
    return "…"


def in_lines(name: str, size: float, room: float, max_lines: int = 2) -> Sequence[str]:
    """The name in as few lines as possible, broken between folders; shortened if it needs more than `max_lines`."""
    lines = [""]
    for part in _BREAK.split(name):
        if lines[-1] and width(lines[-1] + part.rstrip(), size) > room:
            lines.append("")
        lines[-1] += part
    shown = [*lines[: max_lines - 1], "".join(lines[max_lines - 1 :])]
    return [shortened(line.strip(), size, room) for line in shown if line.strip()] or [""]
