"""The graph between files, and which file reaches which in all."""

from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_

import numpy as np
from numpy.typing import NDArray

from treering.index.graph.components import components, lists
from treering.index.graph.kinds import Ints
from treering.index.graph.steps import Served

Weights = NDArray[np.float64]


@dataclass(frozen=True)
class FileGraph:
    """Edges lead from a file to one that it uses; the weight is the sum over everything it uses there."""

    paths: tuple[str, ...]
    tails: Ints
    heads: Ints
    weights: Weights

    def dependents(self, path: str) -> tuple[str, ...]:
        """Every file that uses this one, directly or not."""
        return self._set(self._closures[0], path)

    def dependencies(self, path: str) -> tuple[str, ...]:
        """Every file that this one uses, directly or not."""
        return self._set(self._closures[1], path)

    def _set(self, closure: list[int], path: str) -> tuple[str, ...]:
        place = self._places.get(path)
        bits = closure[place] & ~(1 << place) if place is not None else 0
        return tuple(self.paths[each] for each in range(bits.bit_length()) if bits >> each & 1)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {path: place for place, path in enumerate(self.paths)}

    @cached_property
    def _closures(self) -> tuple[list[int], list[int]]:
        size = len(self.paths)
        return _closure(size, self.heads, self.tails), _closure(size, self.tails, self.heads)


def file_graph(served: Served, paths: tuple[str, ...]) -> FileGraph:
    """What the definitions of each file, and its own code, use of other files."""
    nodes, edges = served.nodes, served.edges
    place = np.full(len(nodes.exists), -1, np.int64)
    place[[nodes.number(path) for path in paths]] = np.arange(len(paths))
    slots, origins = edges.used.spread(np.arange(len(nodes), dtype=np.int32))
    targets = edges.used.neighbour[slots]
    there = nodes.exists[origins] & nodes.exists[targets]
    tails, heads = place[nodes.home[origins[there]]], place[nodes.home[targets[there]]]
    crossing = tails != heads
    pairs, at = np.unique((tails[crossing] << 32) | heads[crossing], return_inverse=True)
    # Whole millionths, because their sum does not depend on the order, and what is derived from it must not.
    millionths = np.rint(edges.used.factor[slots][there][crossing].astype(np.float64) * 1e6)
    weights: Weights = np.bincount(at, millionths, minlength=len(pairs)).astype(np.float64) / 1e6
    return FileGraph(paths, (pairs >> 32).astype(np.int32), (pairs & 0xFFFFFFFF).astype(np.int32), weights)


def _closure(size: int, tails: Ints, heads: Ints) -> list[int]:
    """For every node the set of nodes that it reaches, itself included, as bits."""
    found = components(size, tails, heads)
    further = lists(found.number, found.of[tails], found.of[heads])
    own = [0] * found.number
    of = found.of.tolist()
    for node, component in enumerate(of):
        own[component] |= 1 << node
    bits: list[int] = []
    for component in range(found.number):
        bits.append(reduce(or_, (bits[each] for each in further[component] if each != component), own[component]))
    return [bits[component] for component in of]
