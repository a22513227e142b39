"""Kinds of edges as small numbers, their weights, and their direction of dependence."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from treering.code.facts import CallFlow
from treering.core.graph import EdgeKind, GraphSource

Ints = NDArray[np.int32]
Indices = NDArray[np.int64]
Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]
Codes = NDArray[np.uint8]

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
WEIGHT_OF_CODE: Final = np.array([WEIGHTS[kind] for kind in KINDS], np.float32)

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
_DISPATCHED: Final = frozenset({EdgeKind.CALLS, EdgeKind.REFERENCES, EdgeKind.REGISTERS, EdgeKind.DEPENDS_LOGICALLY})
DISPATCHED: Final = np.array([*(kind in _DISPATCHED for kind in KINDS), False], np.bool_)
"""By kind of step: whether the target may be called through the edge, and so an override of it instead."""


def kinds_of_steps(kind: Codes, flow: Codes) -> Codes:
    """The kinds as walks distinguish them."""
    exact = ((flow & np.uint8(CallFlow.EXACT)) != 0).nonzero()[0]
    if not len(exact):
        return kind
    kinds = kind.copy()
    kinds[exact] = EXACT_CALLS
    return kinds


def dependents_and_providers(origin: Ints, target: Ints, kind: Codes) -> tuple[Ints, Ints]:
    """Dependents and what they depend on: the origin uses the target, except for data flow, where it is reversed."""
    flows = kind == FLOWS_TO
    if not flows.any():
        return origin, target
    return np.where(flows, target, origin), np.where(flows, origin, target)
