"""The edges of a file as its resolution finds them, and how sure they are."""

from treering.code.facts import DefinitionKind, Edge, Facts, Flow
from treering.core.graph import EdgeKind

SURE = 1.0
"""By the rules of the language."""
EVIDENT = 0.9
"""Through a type that the code makes evident."""
ONE_OF_FEW = 0.8
"""One of the few that an evident type leaves."""


_EXACT = int(Flow.EXACT)


def _both(one: int, other: int) -> int:
    """All that flows in either; exact where both are."""
    return ((one | other) & ~_EXACT) | (one & other & _EXACT)


class Edges:
    """One edge for each origin, target and kind: as sure as the surest use, at the first line, with all that flows."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, EdgeKind], Edge] = {}

    def add(self, edge: Edge) -> None:
        key = (edge.origin, edge.target, edge.kind)
        before = self._found.get(key)
        if before is not None:
            confidence, line = max(edge.confidence, before.confidence), min(edge.line, before.line)
            edge = Edge(*key, confidence, line, _both(edge.flow, before.flow))
        self._found[key] = edge

    def all(self) -> tuple[Edge, ...]:
        """In an order that does not depend on the order in which they were found."""
        return tuple([self._found[key] for key in sorted(self._found)])


def add_constructors(edges: Edges, facts: Facts, names: frozenset[str]) -> None:
    """A class rests on the methods that run when it is made: so does, through it, whoever makes or extends it."""
    for definition in facts.definitions:
        owner, _, name = definition.qualname.rpartition(".")
        if name in names and owner and definition.kind is DefinitionKind.METHOD:
            ends = (f"{facts.path}::{owner}", f"{facts.path}::{definition.qualname}")
            edges.add(Edge(*ends, EdgeKind.DEPENDS_LOGICALLY, SURE, definition.line))
