"""The words of a text and of a query, split and folded here: both engines index the same, and no query is syntax."""

import re
import unicodedata

_WORD = re.compile(r"[^\W_]+")
# A pasted log is a query too; the first words say enough.
_MOST = 64
# FTS5 stems words below 64 bytes, PostgreSQL refuses a query with one above 2,046.
_LONGEST = 60
_TOO_LONG = re.compile(rf"[^ ]{{{_LONGEST + 1}}}")
_BLANKS = "".join(char if char.isalnum() else " " for char in map(chr, range(128)))


def words(query: str) -> tuple[str, ...]:
    """Distinct words in their order."""
    return tuple(dict.fromkeys(_split(query)))[:_MOST]


def terms(text: str) -> str:
    """What the index is given in place of the text."""
    if text.isascii() and not _TOO_LONG.search(plain := text.lower().translate(_BLANKS)):
        return plain
    return " ".join(_split(text))


def _split(text: str) -> list[str]:
    return [word[:_LONGEST] for word in _WORD.findall(_fold(text))]


def _fold(text: str) -> str:
    """Without case, accents and compatibility forms: `Ünïﬁed` is found by `unified`."""
    if text.isascii():
        return text.lower()
    bare = (char for char in unicodedata.normalize("NFKD", text).casefold() if unicodedata.category(char) != "Mn")
    return unicodedata.normalize("NFC", "".join(bare))
