"""The exact number of dependents, at the price of the cheapest way there is just now."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treering.code.graph.memory_release import give_back
from treering.code.graph.reach import Counts, counts
from treering.code.graph.steps import Direction, Served
from treering.code.graph.traversal import reached

if TYPE_CHECKING:
    from treering.code.graph.kinds import Ints

_SEARCHES = 100
"""Counting for all nodes takes about as long as so many searches: what is asked less often between two edits is
searched for one by one, what is asked more often is counted once, and never is more than twice the least work done."""
_MOST_LEVELS = 4


class Totals:
    """Counts for one state of the graph; another state begins with new totals."""

    def __init__(self) -> None:
        self._counts: dict[float, Counts] = {}
        self._searched: dict[float, int] = {}

    def of(self, served: Served, node: int | None, members: Ints) -> tuple[int, int]:
        """How many depend on the node or on what is inside it, and how many tests are among them.

        A folder, which is None, is always searched for.
        """
        if node is None:
            return self._by_search(served, members)
        level = served.least_confidence
        ready = self._counts.get(level)
        if ready is None and self._searched.get(level, 0) >= _SEARCHES and len(self._counts) < _MOST_LEVELS:
            ready = self.prepare(served)
        if ready is not None:
            return int(ready.total[node]), int(ready.tests[node])
        self._searched[level] = self._searched.get(level, 0) + 1
        return self._by_search(served, members)

    def prepare(self, served: Served) -> Counts:
        """Count now, so that no question has to."""
        ready = self._counts.get(served.least_confidence)
        if ready is None:
            ready = self._counts[served.least_confidence] = counts(served)
            give_back()
        return ready

    @staticmethod
    def _by_search(served: Served, members: Ints) -> tuple[int, int]:
        flags = reached(served, members, Direction.DEPENDENTS)
        exporters = served.along(served.edges.exporters, members).neighbour
        flags[exporters[served.nodes.exists[exporters]]] = True
        flags[members] = False
        return int(np.count_nonzero(flags)), int(np.count_nonzero(flags & served.nodes.test))
