"""The labelled texts that the secret scanner is measured on.

`secret/` holds texts with secrets, `plain/` texts without; a file is a group. In a file, each case follows a line
`%% tune` or `%% held`. A held case was labelled before any tuning and is only ever counted, never looked at.

`formats.txt` holds one bare secret a line, for tests that put each format into random surroundings.

`⟦…⟧` encloses each secret. `{class:count}` stands for `count` random characters of a class, either one named in
`CLASSES` or a range such as `A-Z2-7`, so that no file contains a text that a push protection would take for a key.
"""

import random
import re
import string
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
OPEN, CLOSE = "⟦⟧"
CLASSES = {
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "alnum": string.ascii_letters + string.digits,
    "b64": string.ascii_letters + string.digits + "+/",
    "b64url": string.ascii_letters + string.digits + "-_",
    "base32": string.ascii_uppercase + "234567",
    "digit": string.digits,
    "lower": string.ascii_lowercase + string.digits,
}
BLANK = re.compile(r"\{([A-Za-z0-9_+/=.~-]+):(\d+)\}")


@dataclass(frozen=True, slots=True)
class Case:
    """A text, and where its secrets stand."""

    group: str
    split: str
    text: str
    secrets: tuple[tuple[int, int], ...]


def load(folder: str, seed: int = 20260101) -> list[Case]:
    """The cases of `secret` or `plain`, filled in the same way every time."""
    chance = random.Random(seed)
    return [case for path in sorted((HERE / folder).glob("*.cases")) for case in _cases(path, chance)]


def fill(template: str, chance: random.Random) -> str:
    """`template` with its blanks filled."""
    return BLANK.sub(lambda blank: _random_text(blank[1], int(blank[2]), chance), template)


def formats() -> dict[str, list[str]]:
    """Templates of every format that gives itself away, by kind."""
    templates: dict[str, list[str]] = {}
    for line in (HERE / "formats.txt").read_text(encoding="utf-8").splitlines():
        kind, _, template = line.partition(" ")
        templates.setdefault(kind, []).append(template)
    return templates


def _cases(path: Path, chance: random.Random) -> Iterator[Case]:
    for block in path.read_text(encoding="utf-8").split("%% ")[1:]:
        split, _, template = block.partition("\n")
        text, secrets = _unmarked(fill(template.rstrip("\n"), chance))
        yield Case(path.stem, split, text, secrets)


def _unmarked(marked: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    text = ""
    starts: list[int] = []
    ends: list[int] = []
    for piece in re.split(rf"({OPEN}|{CLOSE})", marked):
        if piece in (OPEN, CLOSE):
            (starts if piece == OPEN else ends).append(len(text))
        else:
            text += piece
    return text, tuple(zip(starts, ends, strict=True))


def _random_text(name: str, count: int, chance: random.Random) -> str:
    if name == "uuid":
        return " ".join(str(uuid.UUID(int=chance.getrandbits(128), version=4)) for _ in range(count))
    letters = CLASSES.get(name) or re.sub(r"(.)-(.)", lambda ends: _between(ends[1], ends[2]), name)
    return "".join(chance.choices(letters, k=count))


def _between(first: str, last: str) -> str:
    return "".join(chr(code) for code in range(ord(first), ord(last) + 1))
