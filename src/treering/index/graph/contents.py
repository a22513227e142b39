"""The files of one project with what they define and use, changed a file at a time."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from treering.core.graph import GraphSource
from treering.index.facts import Definition, Edge
from treering.index.graph.adjacency import sorted_order
from treering.index.graph.edges import EdgeColumns, Edges, ServedEdge
from treering.index.graph.kinds import SOURCE_CODE, Ints
from treering.index.graph.nodes import SEPARATOR, Nodes, id_of


class GraphColumns(NamedTuple):
    """A whole graph as it is stored: the fastest way to load one."""

    files: Mapping[str, Sequence[Definition]]
    names: Sequence[str]
    """Every id that the edges speak of; `edges` holds places in this list."""
    edges: EdgeColumns


class _File(NamedTuple):
    nodes: list[int]
    """Its own number first, then those of its definitions."""
    rows: list[int]


class Contents:
    """What the files say. An edge stays with the file that owns it, whether or not its ends are there now."""

    def __init__(self) -> None:
        self.nodes = Nodes()
        self.edges = Edges()
        self.stale: set[str] = set()
        self._files: dict[str, _File] = {}

    def load(self, columns: GraphColumns) -> None:
        """Fill the empty contents."""
        for path, definitions in columns.files.items():
            self._files[path] = self._define(path, definitions)
        numbers = self.nodes.numbers(columns.names)
        edges = columns.edges
        edges = edges._replace(origin=numbers[edges.origin], target=numbers[edges.target], owner=numbers[edges.owner])
        owned = self.nodes.exists[edges.owner]
        if not owned.all():
            edges = edges.at(owned)
        self.edges.fill(len(self.nodes.exists), edges, self.nodes.home)
        order = sorted_order(edges.owner)
        ends = np.cumsum(np.bincount(edges.owner, minlength=len(self.nodes)))
        for file in self._files.values():
            number = file.nodes[0]
            file.rows.extend(order[ends[number - 1] if number else 0 : ends[number]].tolist())

    def replace(
        self, path: str, definitions: Sequence[Definition], edges: Mapping[GraphSource, Iterable[Edge]]
    ) -> None:
        """The file now says this, and nothing of what it said before."""
        self.remove(path)
        self._files[path] = self._define(path, definitions)
        for source, each in edges.items():
            self.add(path, each, source)

    def add(self, path: str, edges: Iterable[Edge], source: GraphSource) -> None:
        """More edges that the file owns."""
        file = self._files[path]
        code = SOURCE_CODE[source]
        for edge in edges:
            origin, target = self.nodes.number(edge.origin), self.nodes.number(edge.target)
            self.edges.grow(len(self.nodes.exists))
            file.rows.append(self.edges.add(edge, (origin, target), file.nodes[0], code, self.nodes.home))

    def remove(self, path: str) -> None:
        """The file is gone, with all it defined; edges of other files to it stay with them, and wait."""
        self.stale.discard(path)
        file = self._files.pop(path, None)
        if file is not None:
            self.edges.discard(file.rows, self.nodes.home)
            self.nodes.take(file.nodes)

    def mark_stale(self, path: str) -> None:
        """The file changed: what it used is not known any more, what it defines is still what others mean."""
        file = self._files.get(path)
        self.stale.add(path)
        if file is not None:
            self.edges.discard(file.rows, self.nodes.home)
            file.rows.clear()

    def _define(self, path: str, definitions: Sequence[Definition]) -> _File:
        own = self.nodes.number(path)
        numbers = [own]
        for definition in definitions:
            number = self.nodes.number(id_of(path, definition.qualname))
            if not self.nodes.exists[number]:
                numbers.append(number)
                self.nodes.put(number, definition, test=definition.test)
        self.nodes.put(own, None, test=any(definition.test for definition in definitions))
        self.edges.grow(len(self.nodes.exists))
        return _File(numbers, [])

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(sorted(self._files))

    def definitions(self, path: str) -> tuple[Definition, ...]:
        """What a file defines, as it stands there."""
        file = self._files.get(path)
        there = (self.nodes.definition[number] for number in file.nodes[1:]) if file else ()
        return tuple(definition for definition in there if definition is not None)

    def members(self, number: int) -> Ints:
        """A node and what is defined inside it."""
        name = self.nodes.names[number]
        path, separator, _ = name.partition(SEPARATOR)
        inside = self._files[path].nodes
        if separator:
            prefix, names = f"{name}.", self.nodes.names
            inside = [number, *(each for each in inside if names[each].startswith(prefix))]
        return np.array(inside, np.int32)

    def served(self) -> Iterator[ServedEdge]:
        for row in self.edges.served(self.nodes.exists).tolist():
            yield self.edges.value(row, self.nodes.names)

    def columns(self) -> GraphColumns:
        """Everything as it can be loaded again, waiting edges included."""
        kept = np.fromiter((row for file in self._files.values() for row in file.rows), np.int32)
        edges = self.edges.columns.at(kept)
        return GraphColumns({path: self.definitions(path) for path in self._files}, tuple(self.nodes.names), edges)
