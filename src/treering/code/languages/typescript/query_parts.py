"""Parts of imports, exports and class headers, named by the captures of the query."""

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
"""Related nodes by capture name."""


@cache
def _cursor(grammar: str) -> QueryCursor:
    cursor = QueryCursor(query_of(Language(SOURCES[grammar]()), *QUERIES[grammar]))
    cursor.set_max_start_depth(0)
    return cursor


class PartQuery:
    """Runs the query on one node at a time, not on its descendants."""

    def __init__(self, path: str) -> None:
        self._cursor = _cursor(grammar_of(path))

    def parts(self, node: Node) -> list[Part]:
        """Return the parts in source order."""
        return [part for _, part in self._cursor.matches(node)]
