"""Payloads small enough for a spool line: long texts keep their beginning and end, long lists theirs."""

from treering.core.light_json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

MAX_BYTES = 250 * 1024  # of a payload; the rest of its line is short
_MAX_DEPTH = 24
_LIMITS = ((64 * 1024, 2_000), (16 * 1024, 500), (4 * 1024, 200), (1024, 50), (200, 10))
"""Characters of a text, and items of a list or object: the next pair is tried if the result is too long."""


def trimmed(payload: "Mapping[str, Any]", max_bytes: int = MAX_BYTES) -> "dict[str, Any]":
    """The payload cut until its JSON has at most this size; in the end only its short texts are left."""
    for characters, items in _LIMITS:
        cut = _cut_object(payload, characters, items, _MAX_DEPTH)
        if len(dumps(cut)) <= max_bytes:
            return cut
    short = {name: value for name, value in payload.items() if isinstance(value, str) and len(name) + len(value) < 500}
    return dict(list(_cut_object(short, 500, 20, 1).items())[:20])


def _cut(value: "Any", characters: int, items: int, depth: int) -> "Any":
    if isinstance(value, str):
        return _cut_text(value, characters)
    if isinstance(value, dict):
        return _cut_object(value, characters, items, depth - 1) if depth > 0 else None
    if isinstance(value, list):
        if depth <= 0:
            return None
        kept = value if len(value) <= items else value[: items // 2] + value[-(items // 2) :]
        return [_cut(each, characters, items, depth - 1) for each in kept]
    return value if value is None or isinstance(value, bool | int | float) else None


def _cut_object(value: "Mapping[str, Any]", characters: int, items: int, depth: int) -> "dict[str, Any]":
    fields = list(value.items())[:items]
    return {_cut_text(name, 200): _cut(each, characters, items, depth) for name, each in fields}


def _cut_text(text: str, characters: int) -> str:
    """The text without NULs and lone surrogates, which no database stores; its middle is replaced if it is too long."""
    if len(text) > characters:
        half = characters // 2
        text = f"{text[:half]}\n[… {len(text) - 2 * half} characters …]\n{text[-half:]}"
    return text.replace("\0", "�").encode("utf-8", "replace").decode("utf-8")
