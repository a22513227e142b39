"""Delimiters and marks that need no regular expression: the hook process imports them, and `re` costs 12 ms."""

MEMORY, WORKING, DATA, REMOVED, RECALLED = "memory", "working-memory", "data", "removed", "recalled"

_SHORT = 8  # characters at the end of a generated id: these are random, the first ones are the time
_UUID_HYPHENS = (8, 13, 18, 23)
_HEXADECIMAL = frozenset("0123456789abcdef")
MAX_CITED = 512


def delimited(name: str, text: str) -> str:
    """An already escaped text between delimiters."""
    return f"<{name}>\n{text}\n</{name}>"


def needs_no_escape(text: str) -> bool:
    """Whether the text cannot contain any spelling of a delimiter."""
    return text.isascii() and "<" not in text


def short_id(id: str) -> str:
    """A short name of a record in citations: the end of a generated id, any other id as it is.

    White space, brackets and colons, which would end the citation, are replaced.
    """
    if _is_uuid(id):
        return id[-_SHORT:]
    return "".join("-" if char.isspace() or char in "[]:" else char for char in id)[-MAX_CITED:]


def _is_uuid(id: str) -> bool:
    if len(id) != 36 or any(id[place] != "-" for place in _UUID_HYPHENS):
        return False
    digits = id.replace("-", "")
    return len(digits) == 32 and _HEXADECIMAL.issuperset(digits)
