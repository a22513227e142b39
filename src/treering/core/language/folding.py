"""Folding of case, accents, widths, digits and invisible characters."""

import re
import unicodedata
from collections.abc import Callable

# й is a letter of its own, whether written as one character or two.
_SHORT_I = (("и\u0306", "й"), ("И\u0306", "Й"))
# Japanese voicing marks change the letter, too.
_VOICING = "\u3099\u309a"
_APOSTROPHES = "\u2018\u2019\u02bc\u2032"
# Soft hyphens, joiners and direction marks occur inside words; the zero-width space (U+200B) separates words.
_INVISIBLE = frozenset(
    "\u00ad\u200c\u200d\u200e\u200f\u2060\ufeff\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
# More characters than any mix of languages uses; the cache is cleared beyond it.
_MAX_CACHED = 65_536


def fold(text: str) -> str:
    """`Ünïﬁed` as `unified`, `１２` and `١٢` as `12`. Idempotent."""
    return text.lower() if text.isascii() else _mapped(text.lower(), _FOLDS)


def bare(text: str) -> str:
    """Folded except for case, which shows where the words of a name begin."""
    return text if text.isascii() else _mapped(text, _BARES)


def lower(text: str) -> str:
    """`text` in lower case; characters that `re.IGNORECASE` equates with an ASCII letter become that letter."""
    return text.translate(_ASCII_CASES).lower()


_ASCII_CASES = str.maketrans("\u0130\u0131\u017f\u212a", "iisk")


class _CharacterMap(dict[int, str]):
    """Translation table for `str.translate`, filled on demand."""

    def __init__(self, answer: Callable[[str], str]) -> None:
        super().__init__()
        self._answer = answer

    def __missing__(self, code: int) -> str:
        mapped = self._answer(chr(code))
        if len(self) >= _MAX_CACHED:
            self.clear()
        self[code] = mapped
        return mapped


def _mapped(text: str, chars: _CharacterMap) -> str:
    # Normalise last: it takes quadratic time for long sequences of combining marks.
    for apart, joined in _SHORT_I:
        text = text.replace(apart, joined)
    # ASCII stays as it is, which `str.translate` would look up character by character.
    return unicodedata.normalize("NFC", _NOT_ASCII.sub(lambda found: found[0].translate(chars), text))


def _bare_char(char: str) -> str:
    if char in _APOSTROPHES:
        return "'"
    parts = char if char in "йЙ" else unicodedata.normalize("NFKD", char)
    return "".join([str(unicodedata.decimal(part, part)) for part in parts if not _is_accent(part)])


def _is_accent(char: str) -> bool:
    if char in _VOICING:
        return False
    return unicodedata.category(char) == "Mn" or unicodedata.combining(char) != 0 or char in _INVISIBLE


def _fold_char(char: str) -> str:
    return "".join(map(_bare_char, _bare_char(char).casefold()))


_BARES = _CharacterMap(_bare_char)
_FOLDS = _CharacterMap(_fold_char)
