"""The files of one project with their definitions and edges, updated a file at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from treering.code.graph.adjacency import sorted_order
from treering.code.graph.edges import EdgeColumns, EdgeTable, ServedEdge, joined
from treering.code.graph.kind_columns import Ints
from treering.code.graph.kinds import SOURCE_CODE
from treering.code.graph.nodes import SEPARATOR, Nodes, id_of

if TYPE_CHECKING:
    from treering.code.facts import Definition, Edge
    from treering.core.graph import GraphSource


class GraphColumns(NamedTuple):
    """A stored graph, or some files of it, as columns: the fastest way to load one."""

    files: Mapping[str, Sequence[Definition]]
    names: Sequence[str]
    """Every id that occurs in the edges; `edges` holds indices into this list."""
    edges: EdgeColumns


class _FileNodes(NamedTuple):
    nodes: Ints
    """Number of the file, then those of its definitions."""
    rows: Ints


_NONE: Ints = np.zeros(0, np.int32)


class GraphContents:
    """Definitions and edges by file. An edge belongs to its file, whether or not its ends exist now."""

    def __init__(self) -> None:
        self.nodes = Nodes()
        self.edges = EdgeTable()
        self.stale: set[str] = set()
        self._files: dict[str, _FileNodes] = {}

    def load(self, parts: Iterable[GraphColumns]) -> None:
        """Fill the empty contents."""
        found = [self._add_part(part) for part in parts]
        edges = joined(found)
        owned = self.nodes.exists[edges.owner]
        if not owned.all():
            edges = edges.at(owned)
        self.edges.fill(len(self.nodes.exists), edges, self.nodes.home)
        order = sorted_order(edges.owner)
        ends = np.cumsum(np.bincount(edges.owner, minlength=len(self.nodes)))
        for path, file in self._files.items():
            number = int(file.nodes[0])
            rows = order[ends[number - 1] if number else 0 : ends[number]]
            self._files[path] = file._replace(rows=rows)

    def _add_part(self, part: GraphColumns) -> EdgeColumns:
        """Define the files of a part; returns their edges with the node numbers of this graph."""
        self._define(part.files)
        numbers, edges = self.nodes.numbers(part.names), part.edges
        return edges._replace(origin=numbers[edges.origin], target=numbers[edges.target], owner=numbers[edges.owner])

    def replace(
        self, path: str, definitions: Sequence[Definition], edges: Mapping[GraphSource, Iterable[Edge]]
    ) -> None:
        """Replace everything that the file contributed."""
        self.remove(path)
        self._define({path: definitions})
        for source, each in edges.items():
            self._add(path, each, source)

    def _add(self, path: str, edges: Iterable[Edge], source: GraphSource) -> None:
        file, code = self._files[path], SOURCE_CODE[source]
        owner, rows = int(file.nodes[0]), file.rows.tolist()
        for edge in edges:
            origin, target = self.nodes.number(edge.origin), self.nodes.number(edge.target)
            self.edges.grow(len(self.nodes.exists))
            rows.append(self.edges.add(edge, (origin, target), owner, code, self.nodes.home))
        self._files[path] = file._replace(rows=np.array(rows, np.int32))

    def remove(self, path: str) -> None:
        """Remove a file with its definitions; edges of other files to it are kept until it returns."""
        self.stale.discard(path)
        file = self._files.pop(path, None)
        if file is not None:
            self.edges.discard(file.rows.tolist(), self.nodes.home)
            self.nodes.remove(file.nodes)

    def mark_stale(self, path: str) -> None:
        """Drop the edges of a changed file; its definitions stay, because other files still refer to them."""
        file = self._files.get(path)
        self.stale.add(path)
        if file is not None:
            self.edges.discard(file.rows.tolist(), self.nodes.home)
            self._files[path] = file._replace(rows=_NONE)

    def _define(self, files: Mapping[str, Sequence[Definition]]) -> None:
        defined: dict[int, Definition] = {}
        for path, definitions in files.items():
            own = self.nodes.number(path)
            numbers = [own]
            for definition in definitions:
                number = self.nodes.number(id_of(path, definition.qualname))
                if number not in defined and not self.nodes.exists[number]:
                    numbers.append(number)
                    defined[number] = definition
            self.nodes.put_file(own, test=any(definition.test for definition in definitions))
            self._files[path] = _FileNodes(np.array(numbers, np.int32), _NONE)
        self.nodes.put(defined)
        self.edges.grow(len(self.nodes.exists))

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(sorted(self._files))

    def definitions(self, path: str) -> tuple[Definition, ...]:
        """The definitions of a file, in source order."""
        file = self._files.get(path)
        there = map(self.nodes.definition, file.nodes[1:].tolist()) if file else ()
        return tuple(definition for definition in there if definition is not None)

    def members(self, number: int) -> Ints:
        """A node and the definitions inside it."""
        name = self.nodes.names[number]
        path, separator, _ = name.partition(SEPARATOR)
        inside = self._files[path].nodes
        if not separator:
            return inside
        prefix, names = f"{name}.", self.nodes.names
        return np.array([number, *(each for each in inside.tolist() if names[each].startswith(prefix))], np.int32)

    def served(self) -> Iterator[ServedEdge]:
        for row in self.edges.served(self.nodes.exists).tolist():
            yield self.edges.value(row, self.nodes.names)

    def columns(self) -> GraphColumns:
        """Everything as columns that can be loaded again, edges without an existing end included."""
        edges = self.edges.columns.at(np.concatenate([_NONE, *(file.rows for file in self._files.values())]))
        return GraphColumns({path: self.definitions(path) for path in self._files}, tuple(self.nodes.names), edges)
