"""Kinds of tokens: other vocabularies split tokens of the same kind into about the same number of their own."""

import re
from bisect import bisect

_LETTERS = re.compile(
    r"(?P<lead>[^A-Za-z\s])?(?P<space>\x20)?(?:(?P<lower>[a-z]+)|(?P<upper>[A-Z]+)|(?P<title>[A-Z][a-z]+))"
)

# The first code point of a script, and its name; words of one script behave alike, apart from their length.
_SCRIPTS: tuple[tuple[int, str], ...] = (
    (0x80, "signs"),
    (0xC0, "latin"),
    (0x250, "phonetic"),
    (0x300, "marks"),
    (0x370, "greek"),
    (0x400, "cyrillic"),
    (0x530, "armenian"),
    (0x590, "hebrew"),
    (0x600, "arabic"),
    (0x700, "other"),
    (0x900, "devanagari"),
    (0x980, "bengali"),
    (0xA00, "gurmukhi"),
    (0xA80, "gujarati"),
    (0xB00, "other"),
    (0xB80, "tamil"),
    (0xC00, "telugu"),
    (0xC80, "kannada"),
    (0xD00, "malayalam"),
    (0xD80, "sinhala"),
    (0xE00, "thai"),
    (0xE80, "lao"),
    (0xF00, "other"),
    (0x1000, "myanmar"),
    (0x10A0, "georgian"),
    (0x1100, "other"),
    (0x1780, "khmer"),
    (0x1800, "other"),
    (0x1E00, "latin"),
    (0x1F00, "greek"),
    (0x2000, "dashes"),
    (0x2070, "symbols"),
    (0x2500, "boxes"),
    (0x25A0, "symbols"),
    (0x2C00, "other"),
    (0x3000, "stops"),
    (0x3040, "kana"),
    (0x3100, "han"),
    (0xA000, "other"),
    (0xAC00, "hangul"),
    (0xD7B0, "other"),
    (0xF900, "han"),
    (0xFB00, "other"),
    (0xFE00, "selectors"),
    (0xFE10, "other"),
    (0xFF00, "wide"),
    (0x10000, "other"),
    (0x1F000, "emoji"),
    (0x20000, "other"),
)
_STARTS = tuple(start for start, _ in _SCRIPTS)

_WORD_LENGTHS = (2, 3, 4, 5, 6, 7, 8, 9, 11, 14)
_SCRIPT_LENGTHS = (2, 3, 4, 6, 9)
_MARK_LENGTHS = (2, 3, 4, 6, 12)
_SPACE_LENGTHS = (2, 4, 8, 16, 32)


Kind = tuple[str, int]
"""A group such as `word.lower`, `digits` or `han`, and the length class within it."""


def kind_of(token: bytes) -> Kind:
    """Kind of a token; defined for every sequence of bytes."""
    try:
        text = token.decode()
    except UnicodeDecodeError:
        return "bytes", min(len(token), 4) - 1
    if text.isspace():
        return _space(text)
    if not text.isascii():
        return _script(text)
    if text.isdigit():
        return "digits", len(text) - 1
    if letters := _LETTERS.fullmatch(text):
        return _word(letters)
    return _marks(text)


def _space(text: str) -> Kind:
    name = "line" if "\n" in text or "\r" in text else "tab" if "\t" in text else "space"
    return name, bisect(_SPACE_LENGTHS, len(text))


def _script(text: str) -> Kind:
    bare = text.strip(" ")
    first = next(ord(character) for character in bare if not character.isascii())
    return _SCRIPTS[bisect(_STARTS, first) - 1][1], bisect(_SCRIPT_LENGTHS, len(bare))


def _word(letters: re.Match[str]) -> Kind:
    case = letters.lastgroup or "lower"
    place = "joined" if letters["lead"] else "word" if letters["space"] else "piece"
    return f"{place}.{case}", bisect(_WORD_LENGTHS, len(letters[case]))


def _marks(text: str) -> Kind:
    bare = text.strip()
    if any(character.isalnum() for character in bare):
        return "mixed", bisect(_WORD_LENGTHS, len(bare))
    name = "rule" if len(bare) > 2 and len(set(bare)) == 1 else "ended" if text[-1].isspace() else "marks"
    return name, bisect(_MARK_LENGTHS, len(bare))
