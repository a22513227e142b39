"""Replacement of characters that control a terminal or hide text by visible ones."""

import re

_DIRECTION = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_TAGS = range(0xE0000, 0xE0080)
"""Invisible copies of ASCII, which models read and people do not see."""
_REPLACED = (*range(0x7F, 0xA0), *_DIRECTION, *_TAGS)
# Unicode has symbols for control characters.
_VISIBLE = {code: 0x2400 + code for code in range(32) if chr(code) not in "\n\t"} | dict.fromkeys(_REPLACED, 0xFFFD)
_UNSAFE = re.compile(f"[{''.join(re.escape(chr(code)) for code in _VISIBLE)}]")
_UNSAFE_IN_JSON = re.compile(f"[{''.join(map(chr, _REPLACED))}]")


def visible(text: str) -> str:
    """The text with symbols for control characters, and replacement characters for direction marks and tags.

    CR LF becomes LF.
    """
    if text.isprintable() or not _UNSAFE.search(text):
        return text
    return text.replace("\r\n", "\n").translate(_VISIBLE)


def visible_json(document: str) -> str:
    """The JSON document with these characters as escapes."""
    return _UNSAFE_IN_JSON.sub(lambda found: "".join(map(_escape, _units(found[0]))), document)


def _units(character: str) -> list[int]:
    """UTF-16 units, which JSON escapes represent."""
    encoded = character.encode("utf-16-be")
    return [int.from_bytes(encoded[place : place + 2]) for place in range(0, len(encoded), 2)]


def _escape(unit: int) -> str:
    return f"\\u{unit:04x}"
