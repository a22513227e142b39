"""Exact number of dependents of every node at once.

Nodes that reach each other form a component; a component reaches itself and what its neighbours reach, as a bit set.
The sets of 50,000 nodes would fill hundreds of megabytes, so one block of columns is computed at a time, and only the
counts are kept.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from treering.code.graph.adjacency import sorted_order
from treering.code.graph.components import Components, NeighbourLists, components
from treering.code.graph.kind_columns import DISPATCHED, Ints
from treering.code.graph.nodes import SEPARATOR

if TYPE_CHECKING:
    from treering.code.graph.steps import ServedGraph

_BLOCK = 4_096
"""Columns at a time: 50,000 sets of this many bits take at most 25 MB."""


class DependentCounts(NamedTuple):
    """By node: number of dependents of it or of definitions inside it, and of tests among them."""

    total: Ints
    tests: Ints


def counts(served: ServedGraph) -> DependentCounts:
    """Counts for every existing node; zero for others."""
    nodes = served.nodes
    there = np.flatnonzero(nodes.exists).astype(np.int32)
    place = np.full(len(nodes.exists), -1, np.int32)
    place[there] = np.arange(len(there), dtype=np.int32)
    size, tails, heads = _dependences(served, there, place)
    found = components(size, tails, heads)
    further = _condensed(found, tails, heads)
    del tails, heads
    counted = found.of[: len(there)]
    columns = np.empty(len(there), np.int32)
    columns[sorted_order(counted)] = np.arange(len(there), dtype=np.int32)
    groups = _Groups(served, there, place, columns)
    of = counted.tolist()
    for begin in range(0, len(there), _BLOCK):
        own = _own_bits(counted, columns, begin)
        first = min(own)
        bits: list[int] = [0] * first
        read = bits.__getitem__
        for component in range(first, found.number):
            bits.append(reduce(or_, map(read, further[component]), own.get(component, 0)))
        groups.count(begin, bits, of)
    return groups.counts(len(nodes.exists))


def _dependences(served: ServedGraph, there: Ints, place: Ints) -> tuple[int, Ints, Ints]:
    """Number of nodes to reach, and the edges from what is used to its users.

    After the real nodes comes, for each overridden method, a node for calls of it that may be dispatched to an
    override: overrides lead to it, and it leads to the callers. It has no column, so that it is never counted.
    """
    dependents, providers, kinds = served.dependences()
    dependents, providers = place[dependents], place[providers]
    above = served.along(served.overriding().overridden, there)
    overridden = np.unique(place[above.neighbour])
    stand_in = np.full(len(there), -1, np.int32)
    stand_in[overridden] = np.arange(len(there), len(there) + len(overridden), dtype=np.int32)
    again = above.at(stand_in[above.place] >= 0)
    calls = (DISPATCHED.take(kinds) & (stand_in[providers] >= 0)).nonzero()[0]
    ends = (
        (providers, dependents),
        (above.place.astype(np.int32), stand_in[place[above.neighbour]]),
        (stand_in[again.place], stand_in[place[again.neighbour]]),
        (stand_in[providers[calls]], dependents[calls]),
    )
    tails = np.concatenate([tail for tail, _ in ends])
    return len(there) + len(overridden), *_distinct(tails, np.concatenate([head for _, head in ends]))


def _condensed(found: Components, tails: Ints, heads: Ints) -> NeighbourLists:
    """For every component the other components that its edges lead to."""
    tails, heads = found.of[tails], found.of[heads]
    crossing = tails != heads
    return NeighbourLists(found.number, *_distinct(tails[crossing], heads[crossing]))


def _distinct(tails: Ints, heads: Ints) -> tuple[Ints, Ints]:
    pairs = tails.astype(np.int64)
    pairs <<= 32
    pairs |= heads
    # Sorting takes a tenth of the time of `np.unique`, and no extra memory.
    pairs.sort()
    first = np.ones(len(pairs), np.bool_)
    first[1:] = pairs[1:] != pairs[:-1]
    pairs = pairs[first]
    return (pairs >> 32).astype(np.int32), (pairs & 0xFFFFFFFF).astype(np.int32)


def _own_bits(of: Ints, columns: Ints, begin: int) -> dict[int, int]:
    inside = np.flatnonzero((columns >= begin) & (columns < begin + _BLOCK))
    own: defaultdict[int, int] = defaultdict(int)
    for component, column in zip(of[inside].tolist(), columns[inside].tolist(), strict=True):
        own[component] |= 1 << (column - begin)
    return own


class _Groups:
    """A node and all definitions inside it, which change together."""

    def __init__(self, served: ServedGraph, there: Ints, place: Ints, columns: Ints) -> None:
        self._there, self._columns = there, columns
        self._tests = served.nodes.test[there]
        self._inside_out = list(_inside_out(served, place))
        self._exporters = _exporters(served, there, place, columns)
        self._total, self._test_total = [0] * len(there), [0] * len(there)

    def count(self, begin: int, bits: Sequence[int], of: Sequence[int]) -> None:
        """Add what each group reaches in one block of columns."""
        tests = sum(1 << int(column) for column in self._in_block(self._columns[self._tests], begin))
        inner: defaultdict[int, int] = defaultdict(int)
        for node, outer in self._inside_out:
            reached = bits[of[node]] | inner.pop(node, 0)
            for column in self._exporters.get(node, ()):
                if begin <= column < begin + _BLOCK:
                    reached |= 1 << (column - begin)
            if reached:
                self._total[node] += reached.bit_count()
                self._test_total[node] += (reached & tests).bit_count()
                if outer >= 0:
                    inner[outer] |= reached

    def counts(self, size: int) -> DependentCounts:
        """Counts by node number, without the members of the groups themselves."""
        members, tests = [0] * len(self._there), [0] * len(self._there)
        is_test = self._tests.tolist()
        for node, outer in self._inside_out:
            members[node] += 1
            tests[node] += is_test[node]
            if outer >= 0:
                members[outer] += members[node]
                tests[outer] += tests[node]
        total, test_total = np.zeros(size, np.int32), np.zeros(size, np.int32)
        total[self._there] = np.array(self._total, np.int32) - np.array(members, np.int32)
        test_total[self._there] = np.array(self._test_total, np.int32) - np.array(tests, np.int32)
        return DependentCounts(total, test_total)

    @staticmethod
    def _in_block(columns: Ints, begin: int) -> Ints:
        return columns[(columns >= begin) & (columns < begin + _BLOCK)] - begin


def _inside_out(served: ServedGraph, place: Ints) -> Iterator[tuple[int, int]]:
    """Every existing node with its enclosing node (-1 for none), inner ones first."""
    names, known = served.nodes.names, served.nodes.known
    for number in reversed(served.nodes.ordered):
        if place[number] < 0:
            continue
        path, separator, qualname = names[number].partition(SEPARATOR)
        outer = None
        while separator and outer is None:
            qualname, dot, _ = qualname.rpartition(".")
            outer = known(f"{path}{SEPARATOR}{qualname}" if dot else path)
            separator = dot
        yield int(place[number]), -1 if outer is None else int(place[outer])


def _exporters(served: ServedGraph, there: Ints, place: Ints, columns: Ints) -> dict[int, list[int]]:
    """Columns of the other files that re-export each definition."""
    exporters: defaultdict[int, list[int]] = defaultdict(list)
    steps = served.along(served.edges.exporters, there)
    files = place[steps.neighbour]
    for node, file in zip(steps.place[files >= 0].tolist(), files[files >= 0].tolist(), strict=True):
        exporters[node].append(int(columns[file]))
    return exporters
