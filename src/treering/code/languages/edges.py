"""The edges that the resolution of a file collects, and their confidence levels."""

from treering.code.facts import CallFlow, DefinitionKind, Edge, Facts
from treering.core.graph import EdgeKind

SURE = 1.0
"""By the rules of the language."""
EVIDENT = 0.9
"""Through a type that is evident from the code."""
ONE_OF_FEW = 0.8
"""One of a few alternatives of an evident type."""


_EXACT = int(CallFlow.EXACT)


def _both(one: int, other: int) -> int:
    """Union of both flows; exact only if both are."""
    return ((one | other) & ~_EXACT) | (one & other & _EXACT)


_FILE_EDGES = frozenset({EdgeKind.IMPORTS, EdgeKind.EXPORTS})


_INITIALIZES = {EdgeKind.CALLS: EdgeKind.DEPENDS_LOGICALLY, EdgeKind.REFERENCES: EdgeKind.REFERENCES}
_MAX_ON_LINE = 4
"""Constants of one line above which it is unknown what initializes each: minified files have thousands."""


class EdgeSet:
    """One edge per origin, target and kind: the highest confidence, the first line and the union of flows.

    A plain reference is left out beside an edge that says more about the same use, such as a call. A constant
    depends on what initializes it, although the code of its file runs the initializer: its users reach it so.
    """

    def __init__(self, facts: Facts | None = None) -> None:
        self._found: dict[tuple[str, str, EdgeKind], Edge] = {}
        self._initialized: dict[tuple[str, int], list[str]] = {}
        """Ids of the constants by the file and line of their initializers."""
        for one in facts.definitions if facts is not None else ():
            if facts is not None and one.kind is DefinitionKind.CONSTANT:
                for line in range(one.line, one.end_line + 1):
                    self._initialized.setdefault((facts.path, line), []).append(f"{facts.path}::{one.qualname}")

    def add(self, edge: Edge) -> None:
        self._put(edge)
        kind = _INITIALIZES.get(edge.kind)
        if kind is not None:
            constants = self._initialized.get((edge.origin, edge.line), ())
            for constant in constants if len(constants) <= _MAX_ON_LINE else ():
                if edge.target != constant:
                    self._put(Edge(constant, edge.target, kind, edge.confidence, edge.line))

    def _put(self, edge: Edge) -> None:
        key = (edge.origin, edge.target, edge.kind)
        before = self._found.get(key)
        if before is not None:
            confidence, line = max(edge.confidence, before.confidence), min(edge.line, before.line)
            edge = Edge(*key, confidence, line, _both(edge.flow, before.flow))
        self._found[key] = edge

    def all(self) -> tuple[Edge, ...]:
        """Return the edges sorted, independent of the order in which they were added."""
        explained = {
            (origin, target)
            for origin, target, kind in self._found
            if kind is not EdgeKind.REFERENCES and kind not in _FILE_EDGES
        }
        return tuple(
            [
                self._found[key]
                for key in sorted(self._found)
                if key[2] is not EdgeKind.REFERENCES or key[:2] not in explained
            ]
        )


def add_constructors(edges: EdgeSet, facts: Facts, names: frozenset[str]) -> None:
    """Add an edge from each class to the methods that run on construction, so that users of the class reach them."""
    for definition in facts.definitions:
        owner, _, name = definition.qualname.rpartition(".")
        if name in names and owner and definition.kind is DefinitionKind.METHOD:
            ends = (f"{facts.path}::{owner}", f"{facts.path}::{definition.qualname}")
            edges.add(Edge(*ends, EdgeKind.DEPENDS_LOGICALLY, SURE, definition.line))
