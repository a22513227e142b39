"""Uses of a definition other than calls: the extension point of every language (docs/decisions/0034-references.md)."""

from collections.abc import Iterable
from typing import NamedTuple

from treering.code.facts import Edge
from treering.code.languages.edges import SURE, EdgeSet
from treering.core.graph import EdgeKind

REFERENCE_KINDS = frozenset(
    {EdgeKind.REFERENCES, EdgeKind.REGISTERS, EdgeKind.ANNOTATES, EdgeKind.RAISES, EdgeKind.CATCHES}
)


class CodeReference(NamedTuple):
    """A use of a definition in a body; both ends are ids, `path::qualname` or the path of a file.

    The origin depends on the target. It is the innermost definition around the use, or the file for code outside any
    definition. For `registers` it is what calls the target later: the registry (a definition, possibly of another
    file), or the file whose import registers it.
    """

    origin: str
    target: str
    kind: EdgeKind
    line: int
    confidence: float = SURE


def add_references(edges: EdgeSet, references: Iterable[CodeReference]) -> None:
    """Add an edge for each reference, except of a definition to itself or to one around it: they change together."""
    for origin, target, kind, line, confidence in references:
        assert kind in REFERENCE_KINDS, f"{kind} is not a kind of reference"
        if origin != target and not origin.startswith(f"{target}."):
            edges.add(Edge(origin, target, kind, confidence, line))
