"""The exact number of dependents, computed in the cheapest way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treering.code.graph.memory_release import release_memory
from treering.code.graph.reach import DependentCounts, counts
from treering.code.graph.steps import Direction, ServedGraph
from treering.code.graph.traversal import reached

if TYPE_CHECKING:
    from treering.code.graph.kind_columns import Ints

_SEARCHES = 100
"""Counting for all nodes takes about as long as this many searches. Fewer queries between two edits are searched one by
one, more are counted once; so never more than twice the minimum work is done."""
_MAX_LEVELS = 4


class DependentTotals:
    """Totals for one state of the graph; a changed graph gets a new instance."""

    def __init__(self) -> None:
        self._counts: dict[float, DependentCounts] = {}
        self._searched: dict[float, int] = {}

    def of(self, served: ServedGraph, node: int | None, members: Ints) -> tuple[int, int]:
        """Number of dependents of the node or of definitions inside it, and of tests among them.

        For a folder (None) they are always searched.
        """
        if node is None:
            return self._by_search(served, members)
        level = served.min_confidence
        ready = self._counts.get(level)
        if ready is None and self._searched.get(level, 0) >= _SEARCHES and len(self._counts) < _MAX_LEVELS:
            ready = self.prepare(served)
        if ready is not None:
            return int(ready.total[node]), int(ready.tests[node])
        self._searched[level] = self._searched.get(level, 0) + 1
        return self._by_search(served, members)

    def prepare(self, served: ServedGraph) -> DependentCounts:
        """Count for all nodes now."""
        ready = self._counts.get(served.min_confidence)
        if ready is None:
            ready = self._counts[served.min_confidence] = counts(served)
            release_memory()
        return ready

    @staticmethod
    def _by_search(served: ServedGraph, members: Ints) -> tuple[int, int]:
        flags = reached(served, members, Direction.DEPENDENTS)
        exporters = served.along(served.edges.exporters, members).neighbour
        flags[exporters[served.nodes.exists[exporters]]] = True
        flags[members] = False
        return int(np.count_nonzero(flags)), int(np.count_nonzero(flags & served.nodes.test))
