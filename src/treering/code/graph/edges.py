"""Every edge as a row of columns, and adjacencies from both of its ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from treering.code.facts import CallFlow, Edge
from treering.code.graph.adjacency import Adjacency, Slots, resized
from treering.code.graph.kind_columns import (
    WEIGHT_OF_CODE,
    Codes,
    Flags,
    Floats,
    Ints,
    dependents_and_providers,
    kinds_of_steps,
)
from treering.code.graph.kinds import EXACT_CALLS, EXPORTS, FLOWS_TO, INHERITS, KIND_CODE, KINDS, SOURCES

if TYPE_CHECKING:
    from treering.core.graph import EdgeKind, GraphSource


class EdgeColumns(NamedTuple):
    """Edges as columns; origins, targets and owners are indices into a list of names."""

    origin: Ints
    target: Ints
    owner: Ints
    kind: Codes
    source: Codes
    flow: Codes
    line: Ints
    confidence: Floats

    def at(self, rows: Ints | Flags) -> EdgeColumns:
        return EdgeColumns(
            self.origin[rows],
            self.target[rows],
            self.owner[rows],
            self.kind[rows],
            self.source[rows],
            self.flow[rows],
            self.line[rows],
            self.confidence[rows],
        )

    def resized(self, size: int) -> EdgeColumns:
        return EdgeColumns(
            resized(self.origin, size),
            resized(self.target, size),
            resized(self.owner, size),
            resized(self.kind, size),
            resized(self.source, size),
            resized(self.flow, size),
            resized(self.line, size),
            resized(self.confidence, size),
        )

    @classmethod
    def empty(cls) -> EdgeColumns:
        number, code = np.zeros(0, np.int32), np.zeros(0, np.uint8)
        return cls(number, number, number, code, code, code, number, np.zeros(0, np.float32))


def joined(parts: list[EdgeColumns]) -> EdgeColumns:
    """Concatenation of the parts. The list is emptied, so that no column is in memory twice."""
    columns = [list(column) for column in zip(EdgeColumns.empty(), *parts, strict=True)]
    parts.clear()
    columns.reverse()
    return EdgeColumns(*(np.concatenate(columns.pop()) for _ in EdgeColumns._fields))


class ServedEdge(NamedTuple):
    """An edge as it is answered: both ends exist, and its file is current."""

    origin: str
    target: str
    kind: EdgeKind
    confidence: float
    source: GraphSource
    line: int
    flow: int
    owner: str


class EdgeTable:
    """The edges by row, with adjacencies in both directions.

    `users` lead from a node to its users, `used` the other way; both hold every edge except exports. `exporters` lead
    from a definition to other files that re-export it. `overridden` and `overriders` follow inheritance.
    """

    def __init__(self) -> None:
        self.columns = EdgeColumns.empty()
        self.rows = 0
        self._free: list[int] = []
        self.users, self.used = Adjacency(), Adjacency()
        self.exporters = Adjacency()
        self.overridden, self.overriders = Adjacency(), Adjacency()
        self._adjacencies = (self.users, self.used, self.exporters, self.overridden, self.overriders)

    def __len__(self) -> int:
        return self.rows - len(self._free)

    def fill(self, nodes: int, columns: EdgeColumns, home: Ints) -> None:
        """Set all edges; `home` is the file of each node."""
        self.columns, self.rows = columns, len(columns.origin)
        rows = np.arange(self.rows, dtype=np.int32)
        factor = WEIGHT_OF_CODE[columns.kind] * columns.confidence
        dependents, providers = dependents_and_providers(columns.origin, columns.target, columns.kind)
        inherits = np.isin(columns.kind, list(INHERITS))
        exports = columns.kind == EXPORTS
        kinds = kinds_of_steps(columns.kind, columns.flow)
        handed_on = exports & (home[columns.target] != columns.origin)
        plans = (
            (self.users, ~exports, providers, dependents),
            (self.used, ~exports, dependents, providers),
            (self.exporters, handed_on, columns.target, columns.origin),
            (self.overridden, inherits, columns.origin, columns.target),
            (self.overriders, inherits, columns.target, columns.origin),
        )
        for adjacency, chosen, keys, neighbours in plans:
            adjacency.fill(nodes, keys, Slots(neighbours, factor, kinds, rows), rows[chosen])

    def grow(self, nodes: int) -> None:
        for adjacency in self._adjacencies:
            adjacency.grow(nodes)

    def add(self, edge: Edge, ends: tuple[int, int], owner: int, source: int, home: Ints) -> int:
        """Add an edge with the given origin and target; returns its row."""
        origin, target = ends
        row = self._row()
        kind = KIND_CODE[edge.kind]
        columns = self.columns
        columns.origin[row], columns.target[row], columns.owner[row] = origin, target, owner
        columns.kind[row], columns.source[row], columns.flow[row] = kind, source, edge.flow
        columns.line[row], columns.confidence[row] = edge.line, edge.confidence
        factor = float(WEIGHT_OF_CODE[kind] * np.float32(edge.confidence))
        step = EXACT_CALLS if edge.flow & CallFlow.EXACT else kind
        for adjacency, key, neighbour in self._ends(kind, origin, target, home):
            adjacency.add(key, neighbour, factor, step, row)
        return row

    def discard(self, rows: Iterable[int], home: Ints) -> None:
        kinds, origins, targets = self.columns.kind, self.columns.origin, self.columns.target
        for row in rows:
            for adjacency, key, _ in self._ends(int(kinds[row]), int(origins[row]), int(targets[row]), home):
                adjacency.discard(key, row)
            self._free.append(row)

    def _ends(self, kind: int, origin: int, target: int, home: Ints) -> Iterator[tuple[Adjacency, int, int]]:
        """The adjacencies that contain an edge, each with its key and neighbour."""
        if kind == EXPORTS:
            if home[target] != origin:
                yield self.exporters, target, origin
            return
        dependent, provider = (target, origin) if kind == FLOWS_TO else (origin, target)
        yield self.users, provider, dependent
        yield self.used, dependent, provider
        if kind in INHERITS:
            yield self.overridden, origin, target
            yield self.overriders, target, origin

    def _row(self) -> int:
        if self._free:
            return self._free.pop()
        if self.rows == len(self.columns.origin):
            size = max(256, self.rows * 5 // 4)
            self.columns = self.columns.resized(size)
        self.rows += 1
        return self.rows - 1

    def served(self, exists: Flags) -> Ints:
        """Rows of every edge with two existing ends."""
        rows = np.ones(self.rows, np.bool_)
        rows[self._free] = False
        columns = self.columns
        return np.flatnonzero(rows & exists[columns.origin[: self.rows]] & exists[columns.target[: self.rows]]).astype(
            np.int32
        )

    def value(self, row: int, names: Sequence[str]) -> ServedEdge:
        columns = self.columns
        return ServedEdge(
            names[columns.origin[row]],
            names[columns.target[row]],
            KINDS[columns.kind[row]],
            round(float(columns.confidence[row]), 6),
            SOURCES[columns.source[row]],
            int(columns.line[row]),
            int(columns.flow[row]),
            names[columns.owner[row]],
        )
