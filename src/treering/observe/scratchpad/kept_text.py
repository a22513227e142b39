"""Texts as the scratchpad keeps them: short, on one line, without control characters and secrets."""

import re
from functools import lru_cache

from treering.core.secrets import redact
from treering.core.values import PATH_BYTES, fitting

MAX_KEPT = 400
_MAX_SOURCE = 120
MAX_READ = 4_096  # characters that are looked at; a longer text is cut before it is cleaned
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_SPACE = re.compile(r"\s+")
_MAY_BE_SECRET = re.compile(r"[=:@\s]|[^\W_]{16}|[^\x00-\x7f]")  # of a path; most have neither


def kept_text(text: str, limit: int = MAX_KEPT) -> str:
    """The beginning of a text on one line, safe to keep."""
    return _kept(text if len(text) <= MAX_READ else text[:MAX_READ], limit, False)


def kept_lines(text: str, limit: int) -> str:
    """The beginning of a text with its lines, safe to keep."""
    return _kept(text if len(text) <= MAX_READ else text[:MAX_READ], limit, True)


def kept_source(source: str) -> str:
    """The label of outside content."""
    return fitting(kept_text(source, _MAX_SOURCE), _MAX_SOURCE) or "unknown"


@lru_cache(maxsize=2_048)  # commands, patterns and sentences repeat
def _kept(text: str, limit: int, lines: bool) -> str:
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    plain = "\n".join(map(_printable, text.split("\n"))) if lines else _printable(text)
    # A secret that the limit would cut in two is recognised before the cut.
    clean = redact(plain.strip()).text
    return clean if len(clean) <= limit else f"{clean[: limit - 1]}…"


def _printable(text: str) -> str:
    """The text without line ends, control characters and lone surrogates."""
    if text.isprintable():
        return text
    line = _SPACE.sub(" ", text)
    return line if line.isprintable() else "".join(filter(str.isprintable, line))


@lru_cache(maxsize=4_096)
def kept_path(path: str) -> str | None:
    """The path, or None if it cannot be the path of a project's file or contains a secret."""
    if not 0 < len(path) <= MAX_KEPT or not path.isprintable() or len(path.encode()) > PATH_BYTES:
        return None
    return None if _MAY_BE_SECRET.search(path) and redact(path).findings else path
