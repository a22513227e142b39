"""By which edge each node of an answer was reached: who told it, and how sure it is.

A walk compares thousands of edges and remembers no more of the best than decides between them. The edge itself is
looked up when somebody asks for it, or right before the graph changes under an answer that is still held.
"""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakSet

import numpy as np

from treering.code.graph.kinds import EXPORTS, SOURCES, Codes, Flags, Floats, Ints, Places
from treering.code.graph.steps import Direction

if TYPE_CHECKING:
    from treering.code.graph.adjacency import Adjacency
    from treering.code.graph.edges import Edges
    from treering.code.graph.traversal import Walked
    from treering.core.graph import GraphSource


class Told(NamedTuple):
    """What an edge says of itself."""

    source: GraphSource
    confidence: float


class LastEdges:
    """The last edges of a walk, by the places of what it met."""

    def __init__(self, walked: Walked, direction: Direction, edges: Edges, lock: RLock) -> None:
        self._walked, self._direction, self._edges, self._lock = walked, direction, edges, lock
        self._found: tuple[Codes, Floats] | None = None

    def at(self, place: int) -> Told:
        source, confidence = self.look_up()
        return told(int(source[place]), float(confidence[place]))

    def look_up(self) -> tuple[Codes, Floats]:
        with self._lock:
            if self._found is None:
                columns, rows = self._edges.columns, last_rows(self._walked, self._direction, self._edges)
                self._found = columns.source.take(rows), columns.confidence.take(rows)
            return self._found


class Unread:
    """Answers whose edges nobody has asked for yet; they go as the answers do."""

    def __init__(self) -> None:
        self._unread: WeakSet[LastEdges] = WeakSet()

    def add(self, edges: LastEdges) -> LastEdges:
        self._unread.add(edges)
        return edges

    def look_up(self) -> None:
        """What is still held is read now, and stays as it is."""
        for each in tuple(self._unread):
            each.look_up()
        self._unread.clear()


def told(source: int, confidence: float) -> Told:
    return Told(SOURCES[source], round(confidence, 6))


def last_rows(walked: Walked, direction: Direction, edges: Edges) -> Ints:
    """The row of the edge by which each was met; of several of a kind the surest, between equals by source."""
    reached, before = walked.node.copy(), walked.before.astype(np.int64)
    dependent, provider = (reached, before) if direction is Direction.DEPENDENTS else (before, reached)
    for place, node in enumerate(walked.node.tolist() if walked.through else ()):
        provider[place] = walked.through.get(node, provider[place])
    found: Ints = np.zeros(len(reached), np.int32)
    exports = walked.kind == EXPORTS
    _find(edges, edges.used, (dependent, provider, walked.kind), ~exports, found)
    _find(edges, edges.exporters, (before, reached, walked.kind), exports, found)
    return found


def _find(edges: Edges, adjacency: Adjacency, ends: tuple[Places, Places, Codes], chosen: Flags, found: Ints) -> None:
    """Write the rows of the best edges of a kind from one end to the other, as they stand in an adjacency."""
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
