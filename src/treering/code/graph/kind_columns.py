"""Kinds of edges in columns: types of columns, weights, and the direction of dependence.

Apart from `kinds`, because the processes that read code need no numpy.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from treering.code.facts import CallFlow
from treering.code.graph.kinds import EXACT_CALLS, FLOWS_TO, KINDS, WEIGHTS
from treering.core.graph import EdgeKind

Ints = NDArray[np.int32]
Indices = NDArray[np.int64]
Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]
Codes = NDArray[np.uint8]

WEIGHT_OF_CODE: Final = np.array([WEIGHTS[kind] for kind in KINDS], np.float32)
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
