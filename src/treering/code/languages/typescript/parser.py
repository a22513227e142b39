"""Choice of grammar, and workarounds for syntax that the grammar does not support yet."""

import re
from functools import cache

import tree_sitter_javascript
import tree_sitter_typescript
from tree_sitter import Language, Parser

from treering.code.languages.error_recovery import RecoveredTree, broken_bytes, parse_with_recovery

GRAMMARS = {
    ".ts": "typescript",
    ".mts": "typescript",
    ".cts": "typescript",
    ".tsx": "tsx",
    ".js": "javascript",
    ".jsx": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
}
SOURCES = {
    "typescript": tree_sitter_typescript.language_typescript,
    "tsx": tree_sitter_typescript.language_tsx,
    "javascript": tree_sitter_javascript.language,
}

TYPE_STAR = re.compile(rb"(\bexport\s+)type(\s*\*)")
SIGNATURE = re.compile(rb"^[ \t]+(?=<)", re.MULTILINE)
COMMENT_LINE = re.compile(rb"\s*(?://[^\n]*|/?\*[^\n]*)?")
CONTINUATION = b"{;,(|&=<:?"
"""Line endings after which a `<` on the next line continues the expression or opens a body."""


@cache
def parser(grammar: str) -> Parser:
    return Parser(Language(SOURCES[grammar]()))


def grammar_of(path: str) -> str:
    return GRAMMARS.get(path[path.rfind(".") :], "typescript")


def parse(path: str, source: bytes) -> RecoveredTree:
    """Parse a file; the returned text has the same lines, and is repaired if that leaves fewer errors.

    Nodes do not keep their tree alive: the caller must hold it.
    """
    grammar = grammar_of(path)
    if b"export type *" in source:
        source = TYPE_STAR.sub(rb"\1    \2", source)
    tree = parser(grammar).parse(source)
    if not tree.root_node.has_error:
        return RecoveredTree(tree, source)
    if grammar != "javascript":
        ended = _end_signatures(source)
        if ended != source:
            again = parser(grammar).parse(ended)
            if broken_bytes(again.root_node) < broken_bytes(tree.root_node):
                source = ended
    return parse_with_recovery(parser(grammar), source, grammar)


def _end_signatures(source: bytes) -> bytes:
    """End the previous line: without a semicolon, the grammar parses a generic signature as a comparison."""
    repaired = bytearray(source)
    for found in SIGNATURE.finditer(source):
        before = _last_code(source, found.start())
        if before and before[-1] not in CONTINUATION:
            repaired[found.end() - 1] = ord(";")
    return bytes(repaired)


def _last_code(source: bytes, end: int) -> bytes:
    """Return the last line before `end` that is neither a comment nor empty."""
    while end > 0:
        start = source.rfind(b"\n", 0, end - 1) + 1
        line = source[start:end].rstrip()
        if not COMMENT_LINE.fullmatch(line):
            return line
        end = start
    return b""
