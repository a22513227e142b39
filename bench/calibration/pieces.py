"""Texts as the benchmarks of token counts read them: in pieces as long as messages are."""

import gzip
import json
import random
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

PACKAGES = Path(sysconfig.get_paths()["purelib"])
STANDARD = Path(sysconfig.get_paths()["stdlib"])


def pieces(found: Iterable[str], draw: random.Random, size: float) -> Iterator[str]:
    """The texts in `found`, 40 to 8,000 characters at a time, until lengths that add up to `size` were drawn."""
    left = size
    for text in found:
        start = 0
        while start < len(text) and left > 0:
            length = min(8_000, max(40, int(draw.lognormvariate(6.3, 1.0))))
            yield text[start : start + length]
            start, left = start + length, left - length


def rows(file: Path) -> Iterator[dict[str, Any]]:
    """The lines of a packed JSONL file."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def said(row: Mapping[str, Any]) -> str:
    """What an event of a session says: its text, or the arguments of a call."""
    return str(row["text"]) if "text" in row else json.dumps(row["input"])
