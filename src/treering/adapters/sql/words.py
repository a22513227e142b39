"""The words of a text and of a query, split and folded here: both engines index the same, and no query is syntax."""

import re
import unicodedata

_WORD = re.compile(r"[^\W_]+")
# Scripts that are written without spaces between words, or (Hangul) that join endings to them.
_SPACELESS = (
    "\u0e01-\u0e3a\u0e40-\u0e4e"  # Thai
    "\u0e81-\u0ece"  # Lao
    "\u1000-\u103f\u1050-\u108f"  # Burmese
    "\u1780-\u17d3"  # Khmer
    "\u1100-\u11ff\u3131-\u318e\uac00-\ud7fb"  # Hangul
    "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # Kana
    "\u2e80-\u2fd5\u3005-\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
_HAS_SPACELESS = re.compile(f"[{_SPACELESS}]")
_RUN = re.compile(f"([{_SPACELESS}]+)|[^\\W_{_SPACELESS}]+")
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
    folded = _fold(text)
    if not folded.isascii() and _HAS_SPACELESS.search(folded):
        return [part for run in _RUN.finditer(folded) for part in _parts(run)]
    return [word[:_LONGEST] for word in _WORD.findall(folded)]


def _parts(run: re.Match[str]) -> list[str]:
    """Nothing shows where a word ends in a run without spaces, so it is found by each two characters in a row."""
    text = run[0]
    if run[1] is None or len(text) == 1:
        return [text[:_LONGEST]]
    return [text[start : start + 2] for start in range(len(text) - 1)]


def _fold(text: str) -> str:
    """Without case, accents and compatibility forms: `Ünïﬁed` is found by `unified`."""
    if text.isascii():
        return text.lower()
    bare = (char for char in unicodedata.normalize("NFKD", text).casefold() if unicodedata.category(char) != "Mn")
    return unicodedata.normalize("NFC", "".join(bare))
