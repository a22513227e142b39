"""The edges of a file as its resolution finds them, and how sure they are."""

from treering.core.graph import EdgeKind
from treering.index.facts import Edge

SURE = 1.0
"""By the rules of the language."""
EVIDENT = 0.9
"""Through a type that the code makes evident."""


class Edges:
    """One edge for each origin, target and kind: as sure as the surest use, at the first line, with all that flows."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, EdgeKind], Edge] = {}

    def add(self, edge: Edge) -> None:
        key = (edge.origin, edge.target, edge.kind)
        before = self._found.get(key)
        if before is not None:
            confidence, line = max(edge.confidence, before.confidence), min(edge.line, before.line)
            edge = Edge(*key, confidence, line, edge.flow | before.flow)
        self._found[key] = edge

    def all(self) -> tuple[Edge, ...]:
        """In an order that does not depend on the order in which they were found."""
        return tuple([self._found[key] for key in sorted(self._found)])
