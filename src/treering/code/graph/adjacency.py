"""Neighbours of every node in flat arrays that can be changed in place.

A node's edges stand in one block of slots. An edge that comes takes the slot behind the last, one that goes is replaced
by the last; a block that is full moves to the end with twice the room. So a change costs what it changes, and thousands
of nodes are read by a few array operations, from the first question on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treering.code.graph.kinds import Codes, Floats, Ints, Places

Column = TypeVar("Column", bound=np.generic)

_LEAST_ROOM = 4
_SHORT = 1 << 16
_MOST_WASTE = 0.5


class Slots(NamedTuple):
    """Where edges lead, what they add to a score, of which kind they are, and in which row they are kept."""

    neighbour: Ints
    factor: Floats
    kind: Codes
    row: Ints


class Spread(NamedTuple):
    """The slots of several nodes' blocks, one after the other, and from which of the nodes each comes."""

    slots: Places
    origins: Places
    """Places in the list of nodes that was asked for."""


def sorted_order(keys: Ints | Places) -> Ints:
    """The places of `keys` in the order of their values, equal ones as they stand."""
    if len(keys) and keys.max() < _SHORT:
        # Numbers of two bytes are sorted by counting, which takes a fifth of the time.
        return keys.astype(np.uint16).argsort(kind="stable").astype(np.int32)
    # Sorting whole numbers that hold key and place is ten times as fast as a stable argsort of the keys.
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
    """One direction of the graph: for each node its neighbours, with the edge's row, kind and share of the score."""

    def __init__(self) -> None:
        self.start: Ints = np.zeros(0, np.int32)
        self.length: Ints = np.zeros(0, np.int32)
        self._room: Ints = np.zeros(0, np.int32)
        self.neighbour: Ints = np.zeros(0, np.int32)
        self.factor: Floats = np.zeros(0, np.float32)
        self.kind: Codes = np.zeros(0, np.uint8)
        self.row: Ints = np.zeros(0, np.int32)
        self._used = 0
        self._wasted = 0

    def __len__(self) -> int:
        return int(self.length.sum())

    def fill(self, nodes: int, keys: Ints, edges: Slots, chosen: Ints | None = None) -> None:
        """All edges at once, or those at the chosen places, in the order of their keys and places."""
        if chosen is None:
            order = sorted_order(keys)
        else:
            keys = keys[chosen]
            order = chosen[sorted_order(keys)]
        self.length = np.bincount(keys, minlength=nodes).astype(np.int32)
        self.start = (np.cumsum(self.length) - self.length).astype(np.int32)
        self._room = self.length.copy()
        self.neighbour, self.factor = edges.neighbour[order], edges.factor[order]
        self.kind, self.row = edges.kind[order], edges.row[order]
        self._used, self._wasted = len(order), 0

    def grow(self, nodes: int) -> None:
        """Make room for nodes up to this number."""
        if nodes <= len(self.length):
            return
        size = max(nodes, 2 * len(self.length))
        self.start = resized(self.start, size)
        self.length = resized(self.length, size)
        self._room = resized(self._room, size)

    def add(self, key: int, neighbour: int, factor: float, kind: int, row: int) -> None:
        length = int(self.length[key])
        if length == self._room[key]:
            self._move(key, length)
        slot = int(self.start[key]) + length
        self.neighbour[slot] = neighbour
        self.factor[slot] = factor
        self.kind[slot] = kind
        self.row[slot] = row
        self.length[key] = length + 1

    def discard(self, key: int, row: int) -> None:
        """Take the edge of this row out of the node's block."""
        start, length = int(self.start[key]), int(self.length[key])
        block = slice(start, start + length)
        found = np.flatnonzero(self.row[block] == row)
        if not len(found):
            return
        slot, last = start + int(found[0]), start + length - 1
        for column in (self.neighbour, self.factor, self.kind, self.row):
            column[slot] = column[last]
        self.length[key] = length - 1

    def spread(self, nodes: Ints | Places) -> Spread:
        """Every slot of these nodes."""
        if len(nodes) == 1:
            start, length = int(self.start[nodes[0]]), int(self.length[nodes[0]])
            return Spread(np.arange(start, start + length), np.zeros(length, np.int64))
        counts = self.length.take(nodes)
        # Sums of counts are of the machine's own width.
        ends: Places = counts.cumsum()
        slots: Places = np.arange(int(ends[-1]) if len(ends) else 0)
        slots += (self.start.take(nodes) - (ends - counts)).repeat(counts)
        return Spread(slots, np.arange(len(nodes)).repeat(counts))

    def rows_of(self, node: int) -> Ints:
        start = int(self.start[node])
        return self.row[start : start + int(self.length[node])]

    def neighbours_of(self, node: int) -> Ints:
        start = int(self.start[node])
        return self.neighbour[start : start + int(self.length[node])]

    def _move(self, key: int, length: int) -> None:
        room = max(_LEAST_ROOM, 2 * length)
        if self._used + room > len(self.neighbour):
            self._more_slots(room)
        start = int(self.start[key])
        for column in (self.neighbour, self.factor, self.kind, self.row):
            column[self._used : self._used + length] = column[start : start + length]
        self.start[key] = self._used
        self._wasted += int(self._room[key])
        self._room[key] = room
        self._used += room

    def _more_slots(self, room: int) -> None:
        """Squeeze out what moved blocks left behind, if that is much; otherwise take more memory."""
        if self._wasted > _MOST_WASTE * self._used:
            self._squeeze()
        size = max(self._used + room, len(self.neighbour) * 5 // 4)
        self.neighbour, self.factor = resized(self.neighbour, size), resized(self.factor, size)
        self.kind, self.row = resized(self.kind, size), resized(self.row, size)

    def _squeeze(self) -> None:
        slots = self.spread(np.arange(len(self.length), dtype=np.int32)).slots
        self.neighbour, self.factor = self.neighbour[slots], self.factor[slots]
        self.kind, self.row = self.kind[slots], self.row[slots]
        self.start = (np.cumsum(self.length) - self.length).astype(np.int32)
        self._room = self.length.copy()
        self._used, self._wasted = len(slots), 0
