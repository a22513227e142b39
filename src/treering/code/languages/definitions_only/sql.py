"""Definitions of SQL, read statement by statement.

The dialects differ inside their statements (bodies in dollar quotes, `DELIMITER //`, `IDENTITY(1,1)`), which no grammar
parses all; how they name what they create is the same.
"""

import re
from collections.abc import Iterator

from treering.code.facts import DefinitionKind
from treering.code.languages.definitions_only.found_definitions import FoundDefinition

_OPAQUE = (
    rb"--[^\n]*|(?<![^\n])(?:\\|[ \t]*#(?!\w))[^\n]*|/\*.*?(?:\*/|(?P<open_comment>\Z))"
    rb"|'(?:[^'\\]++|\\.|'')*+(?:'|(?P<open_string>\Z))"
)
_DOLLAR_QUOTED = rb"|(?<![\w$])\$(?P<tag>\w*)\$.*?(?:\$(?P=tag)\$|(?P<open_body>\Z))"
_OPAQUE_PARTS, _OPAQUE_PARTS_OF_MYSQL = (re.compile(_OPAQUE + more, re.DOTALL) for more in (_DOLLAR_QUOTED, b""))
"""Comments, commands of psql, bodies and strings: nothing in them is defined when the file is run.

What is never closed matches up to the end, so that no text is read twice, and is left as it is.
"""
_OPEN = frozenset(("open_comment", "open_string", "open_body"))
_DELIMITER = re.compile(rb"^[ \t]*DELIMITER[ \t]", re.IGNORECASE | re.MULTILINE)
"""Only MySQL sets a delimiter, often `$$`, and it has no dollar quotes."""
_PART = rb'(?:"[^"\n]+"|`[^`\n]+`|\[[^\]\n]+\]|[\w$#@\x80-\xff]+)'
_CREATE = re.compile(
    rb"\bCREATE\s+(?:OR\s+(?:REPLACE|ALTER)\s+)?(?:DEFINER\s*=\s*\S+\s+)?"
    rb"(?:(?:GLOBAL|LOCAL|TEMP|TEMPORARY|UNLOGGED|EXTERNAL|FOREIGN|VIRTUAL|UNIQUE|CLUSTERED|NONCLUSTERED|FULLTEXT|SPATIAL"
    rb"|RECURSIVE|MATERIALIZED|CONSTRAINT|EVENT|EDITIONABLE)\s+)*"
    rb"(?P<what>TABLE|VIEW|FUNCTION|PROCEDURE|PROC|AGGREGATE|PACKAGE|TRIGGER|TYPE|DOMAIN|INDEX|SCHEMA|SEQUENCE)\s+"
    rb"(?:BODY\s+)?(?:CONCURRENTLY\s+)?(?:IF\s+NOT\s+EXISTS\s+)?(?!(?:ON|AUTHORIZATION|IF)\b)"
    rb"(?P<name>" + _PART + rb"(?:\s*\.\s*" + _PART + rb")*)",
    re.IGNORECASE,
)
_END = re.compile(rb";|^(?:GO|DELIMITER|CREATE)\b", re.IGNORECASE | re.MULTILINE)
_BLOCK = re.compile(rb"\bBEGIN\b", re.IGNORECASE)
_NEXT_STATEMENT = re.compile(rb"^(?:CREATE|ALTER|DROP|GO|DELIMITER|GRANT|INSERT|/|\$\$)", re.IGNORECASE | re.MULTILINE)
_KINDS = {
    **dict.fromkeys((b"TABLE", b"VIEW"), DefinitionKind.CLASS),
    **dict.fromkeys((b"FUNCTION", b"PROCEDURE", b"PROC", b"AGGREGATE", b"TRIGGER"), DefinitionKind.FUNCTION),
    **dict.fromkeys((b"TYPE", b"DOMAIN"), DefinitionKind.TYPE),
    **dict.fromkeys((b"INDEX", b"SCHEMA", b"SEQUENCE"), DefinitionKind.CONSTANT),
    b"PACKAGE": DefinitionKind.MODULE,
}
_QUOTES = '"`[]'


def sql_definitions(source: bytes) -> Iterator[FoundDefinition]:
    """Yield what the statements of a file create, but not what the bodies of functions create when they run."""
    opaque = _OPAQUE_PARTS_OF_MYSQL if _DELIMITER.search(source) else _OPAQUE_PARTS
    text = opaque.sub(_blank, source)
    at = 0
    while found := _CREATE.search(text, at):
        kind, name = _KINDS[found["what"].upper()], found["name"]
        has_body = kind in (DefinitionKind.FUNCTION, DefinitionKind.MODULE)
        at = _end_of(text, found.end(), has_body=has_body)
        parts = [part.decode("utf-8", "replace").strip(_QUOTES) for part in re.findall(_PART, name)]
        yield FoundDefinition(found.start(), at, found.start("name"), found.end("name"), kind, ".".join(parts))


def _blank(found: re.Match[bytes]) -> bytes:
    return found[0] if found.lastgroup in _OPEN else re.sub(rb"[^\n]", b" ", found[0])


def _end_of(text: bytes, start: int, *, has_body: bool) -> int:
    """Return the end of a statement: behind its semicolon, or behind the block of a body."""
    end = _END.search(text, start)
    stop = len(text) if end is None else end.end() if end[0] == b";" else end.start()
    if has_body and _BLOCK.search(text, start, stop):
        following = _NEXT_STATEMENT.search(text, stop)
        stop = following.start() if following else len(text)
    while stop > start and text[stop - 1 : stop].isspace():
        stop -= 1
    return stop
