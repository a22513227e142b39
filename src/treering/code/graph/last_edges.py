"""The edge by which each node of an answer was reached, with its source and confidence.

A walk compares thousands of edges and stores only what is needed to choose the best. The edge itself is looked up on
access, or just before the graph changes while an answer is still in use.
"""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakSet

import numpy as np

from treering.code.graph.kind_columns import Codes, Flags, Floats, Indices, Ints
from treering.code.graph.kinds import EXPORTS, SOURCES
from treering.code.graph.steps import Direction

if TYPE_CHECKING:
    from treering.code.graph.adjacency import Adjacency
    from treering.code.graph.edges import EdgeTable
    from treering.code.graph.traversal import WalkResult
    from treering.core.graph import GraphSource


class EdgeEvidence(NamedTuple):
    """Source and confidence of an edge."""

    source: GraphSource
    confidence: float


class LastEdges:
    """The last edges of a walk, by index of the reached node."""

    def __init__(self, walked: WalkResult, direction: Direction, edges: EdgeTable, lock: RLock) -> None:
        self._walked, self._direction, self._edges, self._lock = walked, direction, edges, lock
        self._found: tuple[Codes, Floats] | None = None

    def at(self, place: int) -> EdgeEvidence:
        source, confidence = self.look_up()
        return edge_evidence(int(source[place]), float(confidence[place]))

    def look_up(self) -> tuple[Codes, Floats]:
        with self._lock:
            if self._found is None:
                columns, rows = self._edges.columns, last_rows(self._walked, self._direction, self._edges)
                self._found = columns.source.take(rows), columns.confidence.take(rows)
            return self._found


class PendingEdges:
    """Answers whose edges were not looked up yet; weakly referenced."""

    def __init__(self) -> None:
        self._unread: WeakSet[LastEdges] = WeakSet()

    def add(self, edges: LastEdges) -> LastEdges:
        self._unread.add(edges)
        return edges

    def look_up(self) -> None:
        """Look up the edges of every answer still in use, before the graph changes."""
        for each in tuple(self._unread):
            each.look_up()
        self._unread.clear()


def edge_evidence(source: int, confidence: float) -> EdgeEvidence:
    return EdgeEvidence(SOURCES[source], round(confidence, 6))


def last_rows(walked: WalkResult, direction: Direction, edges: EdgeTable) -> Ints:
    """Row of the edge to each node; among several of the best kind the most certain, then the first source."""
    reached, before = walked.node.copy(), walked.before.astype(np.int64)
    dependent, provider = (reached, before) if direction is Direction.DEPENDENTS else (before, reached)
    for place, node in enumerate(walked.node.tolist() if walked.through else ()):
        provider[place] = walked.through.get(node, provider[place])
    found: Ints = np.zeros(len(reached), np.int32)
    exports = walked.kind == EXPORTS
    _find(edges, edges.used, (dependent, provider, walked.kind), ~exports, found)
    _find(edges, edges.exporters, (before, reached, walked.kind), exports, found)
    return found


def _find(
    edges: EdgeTable, adjacency: Adjacency, ends: tuple[Indices, Indices, Codes], chosen: Flags, found: Ints
) -> None:
    """Write the rows of the best edges of a kind between the given ends into `found`."""
    places = chosen.nonzero()[0]
    if not len(places):
        return
    near, far, kind = ends[0].take(places), ends[1].take(places), ends[2].take(places)
    slots, which = adjacency.spread(near)
    rows, columns = adjacency.row.take(slots), edges.columns
    same = (adjacency.neighbour.take(slots) == far.take(which)) & (columns.kind.take(rows) == kind.take(which))
    rows, which = rows[same], which[same]
    best_last = np.lexsort((-columns.source.take(rows).astype(np.int32), columns.confidence.take(rows)))
    found[places.take(which.take(best_last))] = rows.take(best_last)
