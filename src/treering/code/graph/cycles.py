"""Cycles of files or of definitions."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from treering.code.graph.answers import Cycle
from treering.code.graph.components import NeighbourLists, components
from treering.code.graph.kind_columns import Ints
from treering.code.graph.kinds import IMPORTS

if TYPE_CHECKING:
    from treering.code.graph.steps import ServedGraph


class CycleLevel(StrEnum):
    FILE = "file"
    SYMBOL = "symbol"


def cycles(served: ServedGraph, level: CycleLevel) -> tuple[Cycle, ...]:
    """Cycles, largest first: of files by imports, of symbols by all other edges. Recursion alone does not count."""
    nodes = served.nodes
    there = np.flatnonzero(nodes.exists).astype(np.int32)
    there = there[np.argsort(nodes.rank[there])]
    place = np.full(len(nodes.exists), -1, np.int32)
    place[there] = np.arange(len(there), dtype=np.int32)
    dependents, providers, kinds = served.dependences()
    chosen = (kinds == IMPORTS) == (level is CycleLevel.FILE)
    tails, heads = place[dependents[chosen]], place[providers[chosen]]
    names = [nodes.names[number] for number in there.tolist()]
    found = (Cycle(tuple(members), tuple(example)) for members, example in _loops(names, tails, heads))
    return tuple(sorted(found, key=lambda cycle: (-len(cycle.members), cycle.members)))


def _loops(names: Sequence[str], tails: Ints, heads: Ints) -> Iterator[tuple[list[str], list[str]]]:
    found = components(len(names), tails, heads)
    sizes = np.bincount(found.of, minlength=found.number)
    inside = found.of[tails] == found.of[heads]
    neighbours = NeighbourLists(len(names), tails[inside], heads[inside])
    members: dict[int, list[int]] = {}
    for node in np.flatnonzero(sizes[found.of] > 1).tolist():
        members.setdefault(int(found.of[node]), []).append(node)
    for group in members.values():
        yield [names[node] for node in group], [names[node] for node in _round_trip(group[0], neighbours)]


def _round_trip(start: int, neighbours: NeighbourLists) -> list[int]:
    """A shortest path from a node back to itself through other nodes."""
    before: dict[int, int] = {}
    waiting = deque([start])
    while waiting:
        node = waiting.popleft()
        for neighbour in sorted(set(neighbours[node]) - {node}):
            if neighbour == start:
                way = [start, node]
                while way[-1] != start:
                    way.append(before[way[-1]])
                return way[::-1]
            if neighbour not in before:
                before[neighbour] = node
                waiting.append(neighbour)
    return [start]
