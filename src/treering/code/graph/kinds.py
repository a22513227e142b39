"""Kinds of edges as small numbers, and their weights."""

from typing import Final

from treering.core.graph import EdgeKind, GraphSource

WEIGHTS: Final = {
    EdgeKind.IMPORTS: 0.9,
    EdgeKind.CALLS: 0.8,
    EdgeKind.IS_ENTRYPOINT_FOR: 0.8,
    EdgeKind.IMPLEMENTS: 0.7,
    EdgeKind.EXTENDS: 0.7,
    EdgeKind.EXPORTS: 0.6,
    EdgeKind.FLOWS_TO: 0.6,
    EdgeKind.DEPENDS_LOGICALLY: 0.5,
    EdgeKind.HANDLES_ERRORS_FROM: 0.4,
    EdgeKind.APPLIES_PATTERN: 0.3,
    EdgeKind.REGISTERS: 0.7,
    EdgeKind.REFERENCES: 0.6,
    EdgeKind.RAISES: 0.5,
    EdgeKind.ANNOTATES: 0.4,
    EdgeKind.CATCHES: 0.4,
}
"""How likely a change propagates along an edge of each kind (requirement KG2; references: decision 0034)."""

KINDS: Final = tuple(EdgeKind)
KIND_CODE: Final = {kind: code for code, kind in enumerate(KINDS)}

SOURCES: Final = tuple(GraphSource)
SOURCE_CODE: Final = {source: code for code, source in enumerate(SOURCES)}

CALLS: Final = KIND_CODE[EdgeKind.CALLS]
IMPORTS: Final = KIND_CODE[EdgeKind.IMPORTS]
EXPORTS: Final = KIND_CODE[EdgeKind.EXPORTS]
FLOWS_TO: Final = KIND_CODE[EdgeKind.FLOWS_TO]
RAISES: Final = KIND_CODE[EdgeKind.RAISES]
CATCHES: Final = KIND_CODE[EdgeKind.CATCHES]
INHERITS: Final = frozenset({KIND_CODE[EdgeKind.IMPLEMENTS], KIND_CODE[EdgeKind.EXTENDS]})
EXACT_CALLS: Final = len(KINDS)
"""Kind of steps in a walk: calls that cannot be dispatched to an override."""
