"""Delimiters around untrusted text, which no text inside can close."""

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from treering.core.text_marks import DATA, MEMORY, RECALLED, REMOVED, WORKING, delimited, needs_no_escape
from treering.core.visible_text import visible

__all__ = [
    "DATA",
    "MEMORY",
    "RECALLED",
    "REMOVED",
    "WORKING",
    "delimited",
    "escaped",
    "escaped_values",
    "one_line",
    "without_delimited",
]

_NAMES = "|".join((MEMORY, WORKING, DATA, REMOVED, RECALLED))

_SIGN = re.compile("[<＜﹤]")
_ANY_HYPHEN = r"[\W_]{1,3}"
_NAME = re.compile(rf"\W*(?:{_NAMES.replace('-', _ANY_HYPHEN)})\b", re.IGNORECASE)
_BEFORE_NAME = re.compile(r"\A\W+")
_LOOKAHEAD = 64
_INVISIBLE = frozenset(("Cf", "Mn", "Cc"))


def escaped(text: str) -> str:
    """The text with every opening or closing tag of our delimiters escaped.

    Spellings with white space, invisible characters or full-width letters are escaped too, because some readers accept
    them as equal.
    """
    if needs_no_escape(text):
        return text
    return _SIGN.sub(
        lambda sign: "&lt;" if _is_delimiter(text[sign.end() : sign.end() + _LOOKAHEAD]) else sign[0], text
    )


def escaped_values(value: Any) -> Any:
    """The data with all texts and field names escaped and made visible."""
    if isinstance(value, str):
        return visible(escaped(value))
    if isinstance(value, Mapping):
        return {escaped_values(name): escaped_values(each) for name, each in value.items()}
    return type(value)(map(escaped_values, value)) if type(value) in (list, tuple) else value


def _is_delimiter(following: str) -> bool:
    if _NAME.match(following):
        return True
    if following.isascii() and following.isprintable():
        return len(following) == _LOOKAHEAD and _may_be_incomplete(following)
    visible = "".join(each for each in following if unicodedata.category(each) not in _INVISIBLE)
    plain = unicodedata.normalize("NFKC", visible)
    return _NAME.match(plain) is not None or (len(following) == _LOOKAHEAD and _may_be_incomplete(plain))


def _may_be_incomplete(plain: str) -> bool:
    """Whether the text was cut off before the name was complete."""
    begun = _BEFORE_NAME.sub("", plain, count=1).lower()
    return any(name.startswith(begun) for name in _NAMES.split("|"))


# Our opening tags end their line, unlike a tag mentioned in a sentence. Some transcripts escape them.
_OPENING = re.compile(rf"(?:<|&lt;) ?({_NAMES})(?: [^<>&\n]{{0,80}})? ?(?:>|&gt;)[ \t]{{0,8}}\r?\n", re.IGNORECASE)
# A block that begins with a plain tag ends with one: escaped tags inside it are data.
_CLOSING = {
    (sign, name): re.compile(rf"{sign} ?/ ?{name} ?(?:>|&gt;)", re.IGNORECASE)
    for sign in ("<", "&lt;")
    for name in _NAMES.split("|")
}
_UNOPENED_CLOSING = re.compile(
    rf"^[ \t]{{0,80}}</(?:{MEMORY}|{WORKING}|{RECALLED})>[ \t]{{0,80}}\r?$", re.IGNORECASE | re.MULTILINE
)


def without_delimited(text: str) -> str:
    """The text without our own delimited blocks, which come back in transcripts and are not new statements.

    A block without an end extends to the end of the text, one without a beginning to its start.
    """
    if "<" not in text and "&lt;" not in text:
        return text
    parts, position = list[str](), 0
    while opening := _OPENING.search(text, position):
        parts.append(text[position : opening.start()])
        sign = "<" if opening[0].startswith("<") else "&lt;"
        closing = _CLOSING[sign, opening[1].lower()].search(text, opening.end())
        position = closing.end() if closing else len(text)
    rest = text[position:]
    ends = [found.end() for found in _UNOPENED_CLOSING.finditer(rest)]
    return " ".join((*parts, rest[ends[-1] if ends else 0 :])) if parts or ends else text


def one_line(text: str) -> str:
    return escaped(" ".join(text.split()))
