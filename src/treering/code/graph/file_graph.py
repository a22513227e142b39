"""The graph between files."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from treering.code.graph.adjacency import Adjacency, Slots, sorted_order

if TYPE_CHECKING:
    from treering.code.graph.kind_columns import Ints
    from treering.code.graph.steps import ServedGraph

Weights = NDArray[np.float64]


@dataclass(frozen=True)
class FileGraph:
    """Edges lead from a file to one that it uses; the weight is the sum over all uses."""

    paths: tuple[str, ...]
    tails: Ints
    heads: Ints
    weights: Weights

    def dependents(self, path: str) -> tuple[str, ...]:
        """Every file that uses this one, directly or transitively."""
        return self._reached(self._users, path)

    def dependencies(self, path: str) -> tuple[str, ...]:
        """Every file that this one uses, directly or transitively."""
        return self._reached(self._used, path)

    def _reached(self, adjacency: Adjacency, path: str) -> tuple[str, ...]:
        place = self._places.get(path)
        if place is None:
            return ()
        left = np.ones(len(self.paths), np.bool_)
        frontier = np.array([place])
        while len(frontier):
            left[frontier] = False
            near = np.zeros(len(left), np.bool_)
            near[adjacency.neighbour.take(adjacency.spread(frontier).slots)] = True
            frontier = (near & left).nonzero()[0]
        return tuple(self.paths[each] for each in (~left).nonzero()[0].tolist() if each != place)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {path: place for place, path in enumerate(self.paths)}

    @cached_property
    def _users(self) -> Adjacency:
        return self._adjacency(self.heads, self.tails)

    @cached_property
    def _used(self) -> Adjacency:
        return self._adjacency(self.tails, self.heads)

    def _adjacency(self, keys: Ints, neighbours: Ints) -> Adjacency:
        found, size = Adjacency(), len(keys)
        edges = Slots(
            neighbours, self.weights.astype(np.float32), np.zeros(size, np.uint8), np.arange(size, dtype=np.int32)
        )
        found.fill(len(self.paths), keys, edges)
        return found


def file_graph(served: ServedGraph, paths: tuple[str, ...]) -> FileGraph:
    """The uses between files, of their definitions and of their top-level code."""
    nodes, edges = served.nodes, served.edges
    place = np.full(len(nodes.exists), -1, np.int32)
    place[[nodes.number(path) for path in paths]] = np.arange(len(paths))
    place = place.take(nodes.home)
    slots, origins = edges.used.spread(np.arange(len(nodes)))
    targets = edges.used.neighbour.take(slots)
    tails, heads = place.take(origins), place.take(targets)
    crossing = ((tails != heads) & nodes.exists.take(origins) & nodes.exists.take(targets)).nonzero()[0]
    crossing = crossing.take(sorted_order(heads.take(crossing)))
    crossing = crossing.take(sorted_order(tails.take(crossing)))
    tails, heads = tails.take(crossing), heads.take(crossing)
    differs = np.ones(len(crossing), np.bool_)
    differs[1:] = (tails[1:] != tails[:-1]) | (heads[1:] != heads[:-1])
    first = differs.nonzero()[0]
    # Integral millionths, whose sum does not depend on the order of the edges.
    millionths = np.rint(edges.used.factor.take(slots.take(crossing)).astype(np.float64) * 1e6)
    weights: Weights = (np.add.reduceat(millionths, first) if len(first) else millionths) / 1e6
    return FileGraph(paths, tails.take(first), heads.take(first), weights)
