"""Overriding between methods: inheritance edges between callables only.

Every query follows these few edges many times, so they are selected once per state of the graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from treering.code.graph.adjacency import Adjacency, Slots

if TYPE_CHECKING:
    from treering.code.graph.edges import EdgeTable
    from treering.code.graph.nodes import Nodes

_MAX_LEVELS = 4


class OverrideEdges(NamedTuple):
    """Adjacencies in both directions; neighbours are one inheritance step away."""

    overridden: Adjacency
    overriders: Adjacency


class Overrides:
    """For one state of the graph, by minimum confidence; a changed graph gets a new instance."""

    def __init__(self) -> None:
        self._ready: dict[float, OverrideEdges] = {}

    def of(self, nodes: Nodes, edges: EdgeTable, min_confidence: float) -> OverrideEdges:
        ready = self._ready.get(min_confidence)
        if ready is None:
            if len(self._ready) == _MAX_LEVELS:
                self._ready.clear()
            ready = self._ready[min_confidence] = _overriding(nodes, edges, min_confidence)
        return ready


def _overriding(nodes: Nodes, edges: EdgeTable, min_confidence: float) -> OverrideEdges:
    every, callable = edges.overridden, nodes.definitions.callable
    heirs = (callable & (every.length[: len(callable)] > 0)).nonzero()[0]
    slots, places = every.spread(heirs)
    overrider, overridden = heirs.take(places).astype(np.int32), every.neighbour.take(slots)
    sure = edges.columns.confidence.take(every.row.take(slots)) >= np.float32(min_confidence)
    chosen = (callable.take(overridden) & sure).nonzero()[0]
    overrider, overridden, slots = overrider.take(chosen), overridden.take(chosen), slots.take(chosen)
    factor, kind, row = every.factor.take(slots), every.kind.take(slots), every.row.take(slots)
    found = OverrideEdges(Adjacency(), Adjacency())
    found.overridden.fill(len(nodes.exists), overrider, Slots(overridden, factor, kind, row))
    found.overriders.fill(len(nodes.exists), overridden, Slots(overrider, factor, kind, row))
    return found
