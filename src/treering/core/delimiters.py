"""What we put around text that others wrote, so that it is read as data; nothing inside can close it."""

import re

MEMORY, WORKING, DATA, REMOVED, RECALLED = "memory", "working-memory", "data", "removed", "recalled"

# Also with white space or invisible characters in between, which some readers skip.
_DELIMITER = re.compile(rf"<(?=\W{{0,8}}(?:{'|'.join((MEMORY, WORKING, DATA, REMOVED, RECALLED))})\b)", re.IGNORECASE)


def escaped(text: str) -> str:
    """The text with every opening or closing of our delimiters made harmless."""
    return _DELIMITER.sub("&lt;", text)


_BLOCK = re.compile(
    rf"<({'|'.join((MEMORY, WORKING, DATA, REMOVED, RECALLED))})\b[^>]*>.*?(?:</\1\s*>|\Z)", re.IGNORECASE | re.DOTALL
)


def without_ours(text: str) -> str:
    """The text without what we put into it: blocks of memory that come back in a transcript are not said anew."""
    return _BLOCK.sub(" ", text) if "<" in text else text


def one_line(text: str) -> str:
    return escaped(" ".join(text.split()))


def delimited(name: str, text: str) -> str:
    """A text between delimiters; what is inside must be escaped already."""
    return f"<{name}>\n{text}\n</{name}>"
