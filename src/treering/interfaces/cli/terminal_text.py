"""Text for a terminal: nothing in it is obeyed, and nothing hides what it says."""

import re

_DIRECTION = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_UNSAFE = (*range(0x7F, 0xA0), *_DIRECTION)
# Control characters drive terminals; their Unicode pictures do not. Direction marks hide what a text says.
_VISIBLE = {code: 0x2400 + code for code in range(32) if chr(code) not in "\n\t"} | dict.fromkeys(_UNSAFE, 0xFFFD)
_UNSAFE_IN_JSON = re.compile(f"[{''.join(map(chr, _UNSAFE))}]")


def safe(text: str) -> str:
    """The text with nothing in it that a terminal would obey."""
    return text.translate(_VISIBLE)


def safe_json(document: str) -> str:
    """The same JSON value, with the characters that a terminal would obey written as escapes."""
    return _UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", document)
