"""Which methods stand for which: inheritance between what can be called, without that between classes.

Every question goes by these few edges many times, so they are picked out of all inheritance once for a state of the
graph, and again when the graph has changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from treering.code.graph.adjacency import Adjacency, Slots

if TYPE_CHECKING:
    from treering.code.graph.edges import Edges
    from treering.code.graph.nodes import Nodes

_MOST_LEVELS = 4


class Overriding(NamedTuple):
    """Each way round; the neighbours of a method are those one step of inheritance away."""

    overridden: Adjacency
    overriders: Adjacency


class Overrides:
    """For one state of the graph, by least confidence; another state begins with new ones."""

    def __init__(self) -> None:
        self._ready: dict[float, Overriding] = {}

    def of(self, nodes: Nodes, edges: Edges, least_confidence: float) -> Overriding:
        ready = self._ready.get(least_confidence)
        if ready is None:
            if len(self._ready) == _MOST_LEVELS:
                self._ready.clear()
            ready = self._ready[least_confidence] = _overriding(nodes, edges, least_confidence)
        return ready


def _overriding(nodes: Nodes, edges: Edges, least_confidence: float) -> Overriding:
    every, callable = edges.overridden, nodes.definitions.callable
    heirs = (callable & (every.length[: len(callable)] > 0)).nonzero()[0]
    slots, places = every.spread(heirs)
    overrider, overridden = heirs.take(places).astype(np.int32), every.neighbour.take(slots)
    sure = edges.columns.confidence.take(every.row.take(slots)) >= np.float32(least_confidence)
    chosen = (callable.take(overridden) & sure).nonzero()[0]
    overrider, overridden, slots = overrider.take(chosen), overridden.take(chosen), slots.take(chosen)
    factor, kind, row = every.factor.take(slots), every.kind.take(slots), every.row.take(slots)
    found = Overriding(Adjacency(), Adjacency())
    found.overridden.fill(len(nodes.exists), overrider, Slots(overridden, factor, kind, row))
    found.overriders.fill(len(nodes.exists), overridden, Slots(overrider, factor, kind, row))
    return found
