"""Neighbours of every node in flat arrays that can be changed in place.

The edges of a node occupy one block of slots. A new edge takes the slot after the last; a removed one is replaced by
the last; a full block moves to the end with twice the capacity. So a change costs what it changes, and thousands of
nodes are read by a few array operations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treering.code.graph.kind_columns import Codes, Floats, Indices, Ints

Column = TypeVar("Column", bound=np.generic)

_MIN_CAPACITY = 4
_SHORT = 1 << 16
_MAX_WASTE = 0.5


class Slots(NamedTuple):
    """Columns of edges: neighbour, factor of the score, kind, and row in the edge table."""

    neighbour: Ints
    factor: Floats
    kind: Codes
    row: Ints


class NodeSlots(NamedTuple):
    """The slots of several nodes' blocks, one after the other, and the node that each belongs to."""

    slots: Indices
    origins: Indices
    """Indices into the list of nodes that was given."""


def sorted_order(keys: Ints | Indices) -> Ints:
    """Indices that sort `keys`, stable."""
    if len(keys) and keys.max() < _SHORT:
        # Two-byte integers are sorted by counting, which takes a fifth of the time.
        return keys.astype(np.uint16).argsort(kind="stable").astype(np.int32)
    # Sorting integers that hold key and index is ten times as fast as a stable argsort of the keys.
    both = keys.astype(np.int64)
    both <<= 32
    both |= np.arange(len(keys), dtype=np.int64)
    both.sort()
    both &= 0xFFFFFFFF
    return both.astype(np.int32)


def resized(column: NDArray[Column], size: int) -> NDArray[Column]:
    larger = np.zeros(size, column.dtype)
    larger[: len(column)] = column
    return larger


class Adjacency:
    """One direction of the graph: for each node its neighbours, with each edge's row, kind and factor."""

    def __init__(self) -> None:
        self.start: Ints = np.zeros(0, np.int32)
        self.length: Ints = np.zeros(0, np.int32)
        self._capacity: Ints = np.zeros(0, np.int32)
        self.neighbour: Ints = np.zeros(0, np.int32)
        self.factor: Floats = np.zeros(0, np.float32)
        self.kind: Codes = np.zeros(0, np.uint8)
        self.row: Ints = np.zeros(0, np.int32)
        self._used = 0
        self._wasted = 0

    def __len__(self) -> int:
        return int(self.length.sum())

    def fill(self, nodes: int, keys: Ints, edges: Slots, chosen: Ints | None = None) -> None:
        """Set all edges, or those at the chosen indices, ordered by key and index."""
        if chosen is None:
            order = sorted_order(keys)
        else:
            keys = keys[chosen]
            order = chosen[sorted_order(keys)]
        self.length = np.bincount(keys, minlength=nodes).astype(np.int32)
        self.start = (np.cumsum(self.length) - self.length).astype(np.int32)
        self._capacity = self.length.copy()
        self.neighbour, self.factor = edges.neighbour[order], edges.factor[order]
        self.kind, self.row = edges.kind[order], edges.row[order]
        self._used, self._wasted = len(order), 0

    def grow(self, nodes: int) -> None:
        """Ensure that there is an entry for this many nodes."""
        if nodes <= len(self.length):
            return
        size = max(nodes, 2 * len(self.length))
        self.start = resized(self.start, size)
        self.length = resized(self.length, size)
        self._capacity = resized(self._capacity, size)

    def add(self, key: int, neighbour: int, factor: float, kind: int, row: int) -> None:
        length = int(self.length[key])
        if length == self._capacity[key]:
            self._move(key, length)
        slot = int(self.start[key]) + length
        self.neighbour[slot] = neighbour
        self.factor[slot] = factor
        self.kind[slot] = kind
        self.row[slot] = row
        self.length[key] = length + 1

    def discard(self, key: int, row: int) -> None:
        """Remove the edge with this row from the node's block."""
        start, length = int(self.start[key]), int(self.length[key])
        block = slice(start, start + length)
        found = np.flatnonzero(self.row[block] == row)
        if not len(found):
            return
        slot, last = start + int(found[0]), start + length - 1
        for column in (self.neighbour, self.factor, self.kind, self.row):
            column[slot] = column[last]
        self.length[key] = length - 1

    def spread(self, nodes: Ints | Indices) -> NodeSlots:
        """Every slot of these nodes."""
        if len(nodes) == 1:
            start, length = int(self.start[nodes[0]]), int(self.length[nodes[0]])
            return NodeSlots(np.arange(start, start + length), np.zeros(length, np.int64))
        counts = self.length.take(nodes)
        # NumPy returns sums of counts in the platform's integer width.
        ends: Indices = counts.cumsum()
        slots: Indices = np.arange(int(ends[-1]) if len(ends) else 0)
        slots += (self.start.take(nodes) - (ends - counts)).repeat(counts)
        return NodeSlots(slots, np.arange(len(nodes)).repeat(counts))

    def rows_of(self, node: int) -> Ints:
        start = int(self.start[node])
        return self.row[start : start + int(self.length[node])]

    def neighbours_of(self, node: int) -> Ints:
        start = int(self.start[node])
        return self.neighbour[start : start + int(self.length[node])]

    def _move(self, key: int, length: int) -> None:
        capacity = max(_MIN_CAPACITY, 2 * length)
        if self._used + capacity > len(self.neighbour):
            self._allocate(capacity)
        start = int(self.start[key])
        for column in (self.neighbour, self.factor, self.kind, self.row):
            column[self._used : self._used + length] = column[start : start + length]
        self.start[key] = self._used
        self._wasted += int(self._capacity[key])
        self._capacity[key] = capacity
        self._used += capacity

    def _allocate(self, capacity: int) -> None:
        """Compact the columns if moved blocks left much unused; then allocate more if needed."""
        if self._wasted > _MAX_WASTE * self._used:
            self._compact()
        size = max(self._used + capacity, len(self.neighbour) * 5 // 4)
        self.neighbour, self.factor = resized(self.neighbour, size), resized(self.factor, size)
        self.kind, self.row = resized(self.kind, size), resized(self.row, size)

    def _compact(self) -> None:
        slots = self.spread(np.arange(len(self.length), dtype=np.int32)).slots
        self.neighbour, self.factor = self.neighbour[slots], self.factor[slots]
        self.kind, self.row = self.kind[slots], self.row[slots]
        self.start = (np.cumsum(self.length) - self.length).astype(np.int32)
        self._capacity = self.length.copy()
        self._used, self._wasted = len(slots), 0
