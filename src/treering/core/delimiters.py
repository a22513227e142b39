"""What we put around text that others wrote, so that it is read as data; nothing inside can close it."""

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from treering.core.visible_text import visible

MEMORY, WORKING, DATA, REMOVED, RECALLED = "memory", "working-memory", "data", "removed", "recalled"
_NAMES = "|".join((MEMORY, WORKING, DATA, REMOVED, RECALLED))

_SIGN = re.compile("[<＜﹤]")
_ANY_HYPHEN = r"[\W_]{1,3}"
_NAME = re.compile(rf"\W*(?:{_NAMES.replace('-', _ANY_HYPHEN)})\b", re.IGNORECASE)
_BEFORE_NAME = re.compile(r"\A\W+")
_REACH = 64
_INVISIBLE = frozenset(("Cf", "Mn", "Cc"))


def escaped(text: str) -> str:
    """The text with every opening or closing of our delimiters made harmless.

    That includes spellings with white space or invisible characters in between, or in wide letters: some readers take
    them for the same.
    """
    return _SIGN.sub(lambda sign: "&lt;" if _is_delimiter(text[sign.end() : sign.end() + _REACH]) else sign[0], text)


def escaped_values(value: Any) -> Any:
    """The same data with every text in it escaped and visible, names of fields included."""
    if isinstance(value, str):
        return visible(escaped(value))
    if isinstance(value, Mapping):
        return {escaped_values(name): escaped_values(each) for name, each in value.items()}
    return type(value)(map(escaped_values, value)) if type(value) in (list, tuple) else value


def _is_delimiter(behind: str) -> bool:
    if _NAME.match(behind):
        return True
    if behind.isascii() and behind.isprintable():
        return len(behind) == _REACH and _may_go_on(behind)
    visible = "".join(each for each in behind if unicodedata.category(each) not in _INVISIBLE)
    plain = unicodedata.normalize("NFKC", visible)
    return _NAME.match(plain) is not None or (len(behind) == _REACH and _may_go_on(plain))


def _may_go_on(plain: str) -> bool:
    """Whether the text was cut before it could tell: white space or invisible characters only put the name off."""
    begun = _BEFORE_NAME.sub("", plain, count=1).lower()
    return any(name.startswith(begun) for name in _NAMES.split("|"))


# Ours end their line; whoever mentions such a tag in a sentence does not. Some transcripts escape them.
_OPENING = re.compile(rf"(?:<|&lt;) ?({_NAMES})(?: [^<>&\n]{{0,80}})? ?(?:>|&gt;)[ \t]{{0,8}}\r?\n", re.IGNORECASE)
_CLOSING = {name: re.compile(rf"(?:<|&lt;) ?/ ?{name} ?(?:>|&gt;)", re.IGNORECASE) for name in _NAMES.split("|")}
_LOST_ITS_BEGINNING = re.compile(
    rf"^[ \t]{{0,80}}</(?:{MEMORY}|{WORKING}|{RECALLED})>[ \t]{{0,80}}\r?$", re.IGNORECASE | re.MULTILINE
)


def without_ours(text: str) -> str:
    """The text without what we put into it: blocks of memory that come back in a transcript are not said anew.

    A block that was cut off ends with the text; one that lost its beginning begins with it.
    """
    if "<" not in text and "&lt;" not in text:
        return text
    kept, place = list[str](), 0
    while opening := _OPENING.search(text, place):
        kept.append(text[place : opening.start()])
        closing = _CLOSING[opening[1].lower()].search(text, opening.end())
        place = closing.end() if closing else len(text)
    rest = text[place:]
    ends = [found.end() for found in _LOST_ITS_BEGINNING.finditer(rest)]
    return " ".join((*kept, rest[ends[-1] if ends else 0 :])) if kept or ends else text


def one_line(text: str) -> str:
    return escaped(" ".join(text.split()))


def delimited(name: str, text: str) -> str:
    """A text between delimiters; what is inside must be escaped already."""
    return f"<{name}>\n{text}\n</{name}>"
