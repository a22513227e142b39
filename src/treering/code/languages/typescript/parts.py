"""The parts of imports, exports and class heads, as the query of a file's grammar names them."""

from functools import cache

from tree_sitter import Language, Node, QueryCursor

from treering.code.languages.queries import query_of
from treering.code.languages.typescript.parser import SOURCES, grammar_of

QUERIES = {
    "typescript": ("ecmascript", "typescript"),
    "tsx": ("ecmascript", "typescript"),
    "javascript": ("ecmascript", "javascript"),
}

Part = dict[str, list[Node]]
"""Nodes that belong together, by the names the query gives them."""


@cache
def _cursor(grammar: str) -> QueryCursor:
    cursor = QueryCursor(query_of(Language(SOURCES[grammar]()), *QUERIES[grammar]))
    cursor.set_max_start_depth(0)
    return cursor


class PartQuery:
    """Asks the query about one node at a time, never about what stands further down in it."""

    def __init__(self, path: str) -> None:
        self._cursor = _cursor(grammar_of(path))

    def parts(self, node: Node) -> list[Part]:
        """In the order of the text."""
        return [part for _, part in self._cursor.matches(node)]
