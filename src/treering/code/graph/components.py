"""Strongly connected components, by Tarjan's algorithm without recursion."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from treering.code.graph.adjacency import sorted_order

if TYPE_CHECKING:
    from treering.code.graph.kind_columns import Ints


class Components(NamedTuple):
    """Edges of a component lead only to components with lower numbers."""

    of: Ints
    """The component of each node."""
    number: int


def components(nodes: int, tails: Ints, heads: Ints) -> Components:
    """The strongly connected components of the graph with these edges."""
    neighbours = NeighbourLists(nodes, tails, heads)
    number = [0] * nodes
    component = [-1] * nodes
    low = [0] * nodes
    stack: list[int] = []
    counter = found = 0
    for root in range(nodes):
        if number[root]:
            continue
        counter += 1
        number[root] = low[root] = counter
        stack.append(root)
        path = [(root, iter(neighbours[root]))]
        while path:
            node, rest = path[-1]
            lowest = low[node]
            for neighbour in rest:
                seen = number[neighbour]
                if not seen:
                    counter += 1
                    number[neighbour] = low[neighbour] = counter
                    stack.append(neighbour)
                    path.append((neighbour, iter(neighbours[neighbour])))
                    break
                if seen < lowest and component[neighbour] < 0:
                    lowest = seen
            else:
                path.pop()
                if path and lowest < low[path[-1][0]]:
                    low[path[-1][0]] = lowest
                if lowest == number[node]:
                    while component[node] < 0:
                        component[stack.pop()] = found
                    found += 1
            low[node] = lowest
    return Components(np.array(component, np.int32), found)


class NeighbourLists:
    """For every node the heads of its edges, converted to a list on access."""

    def __init__(self, nodes: int, tails: Ints, heads: Ints) -> None:
        self._heads = heads[sorted_order(tails)]
        ends = np.cumsum(np.bincount(tails, minlength=nodes))
        self._ends: list[int] = [0, *ends.tolist()]

    def __getitem__(self, node: int) -> list[int]:
        found: list[int] = self._heads[self._ends[node] : self._ends[node + 1]].tolist()
        return found
