"""File names and identifiers in a text, which later steps are likely to need again."""

import re
from functools import lru_cache

_MAX_CHARACTERS = 40_000
"""Characters read of one text: the beginning of a long text shows its subject."""

_TOKEN = re.compile(r"[\w/.@+-]{3,200}")
_FILE = re.compile(r"[\w+-]+(?:\.[\w+-]+)*\.(?:[a-z]{1,5}|[a-z]+\d)")
_IDENTIFIER = re.compile(r"[A-Za-z]\w*_\w+|_\w*[a-z]\w*|[a-z]+[A-Z]\w*|(?:[A-Z]+[a-z0-9]+){2,}\w*")
_MIN_LENGTH, _MAX_LENGTH = 3, 80


def names_in(text: str) -> frozenset[str]:
    """The names in `text`; a file is named by the last component of its path."""
    return frozenset(name for token in set(_TOKEN.findall(text, 0, _MAX_CHARACTERS)) for name in _names_of(token))


@lru_cache(maxsize=16_384)
def _names_of(token: str) -> tuple[str, ...]:
    last = token.rsplit("/", 1)[-1].strip(".-+@")
    if not _MIN_LENGTH <= len(last) <= _MAX_LENGTH:
        return ()
    if "/" in token and last.isidentifier():
        return (last,)
    if _FILE.fullmatch(last):
        return (last, *(part for part in last.split(".")[1:-1] if _IDENTIFIER.fullmatch(part)))
    return tuple(part for part in last.split(".") if len(part) >= _MIN_LENGTH and _IDENTIFIER.fullmatch(part))
