"""Characters that drive a terminal or hide what a text says, made visible."""

import re

_DIRECTION = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_TAGS = range(0xE0000, 0xE0080)
"""Invisible copies of ASCII: people do not see them, models read them."""
_REPLACED = (*range(0x7F, 0xA0), *_DIRECTION, *_TAGS)
# Control characters have pictures of their own in Unicode.
_VISIBLE = {code: 0x2400 + code for code in range(32) if chr(code) not in "\n\t"} | dict.fromkeys(_REPLACED, 0xFFFD)
_UNSAFE = re.compile(f"[{''.join(re.escape(chr(code)) for code in _VISIBLE)}]")
_UNSAFE_IN_JSON = re.compile(f"[{''.join(map(chr, _REPLACED))}]")


def visible(text: str) -> str:
    """The text with pictures of control characters, and replacement characters for marks of direction and tags.

    Line ends of two characters become one.
    """
    return text.replace("\r\n", "\n").translate(_VISIBLE) if _UNSAFE.search(text) else text


def visible_json(document: str) -> str:
    """The same JSON value, with these characters written as escapes."""
    return _UNSAFE_IN_JSON.sub(lambda found: "".join(map(_escape, _units(found[0]))), document)


def _units(character: str) -> list[int]:
    """UTF-16: JSON has no escape for more."""
    encoded = character.encode("utf-16-be")
    return [int.from_bytes(encoded[place : place + 2]) for place in range(0, len(encoded), 2)]


def _escape(unit: int) -> str:
    return f"\\u{unit:04x}"
