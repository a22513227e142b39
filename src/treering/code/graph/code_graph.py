"""The code of one project as a graph in memory: changed a file at a time, asked at any time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from threading import RLock
from typing import TYPE_CHECKING

import numpy as np

from treering.code.graph import cycles as cycling
from treering.code.graph import flows, impact, paths
from treering.code.graph.answers import Cycles, Dependencies, Entries, Entry, Impact, Route, Standing, Ties
from treering.code.graph.contents import Contents, GraphColumns
from treering.code.graph.cycles import Level
from treering.code.graph.entries import all_entries, entries_to
from treering.code.graph.file_graph import FileGraph, file_graph
from treering.code.graph.flows import DataFlow
from treering.code.graph.folders import Folders, is_folder
from treering.code.graph.last_edges import LastEdges, Unread
from treering.code.graph.limits import CAP, FLOW_DEPTH
from treering.code.graph.module_map import ModuleMap, module_map
from treering.code.graph.names import NameIndex
from treering.code.graph.overrides import Overrides
from treering.code.graph.steps import Direction, Served
from treering.code.graph.totals import Totals
from treering.code.graph.traversal import Walked, walk
from treering.core.errors import NotFound
from treering.core.graph import GraphSource

if TYPE_CHECKING:
    from treering.code.facts import Definition, Edge, EntryPoint
    from treering.code.graph.edges import ServedEdge
    from treering.code.graph.kinds import Ints
    from treering.code.graph.matches import Found


class CodeGraph:
    """Nodes are files (`path`) and definitions (`path::qualname`); edges say who uses whom. A folder (`path/`) may be
    asked about as if it were one node: what is below it, together.

    A change costs what the file holds; whatever is derived from the whole graph is made when it is next asked for.
    Several threads may ask and change: one is served at a time.
    """

    def __init__(self) -> None:
        self._contents = Contents()
        self._totals = Totals()
        self._overrides = Overrides()
        self._names = NameIndex()
        self._files: FileGraph | None = None
        self._folders: Folders | None = None
        self._map: ModuleMap | None = None
        self._standing: Standing | None = None
        self._indexing = False
        self._lock = RLock()
        self._unread = Unread()

    @classmethod
    def load(cls, parts: Iterable[GraphColumns]) -> CodeGraph:
        """A graph of stored columns, many times faster than file by file; each part is let go before the next."""
        graph = cls()
        graph._contents.load(parts)
        return graph

    # Changing

    def replace_file(
        self,
        path: str,
        definitions: Sequence[Definition],
        edges: Iterable[Edge],
        further: Mapping[GraphSource, Iterable[Edge]] | None = None,
    ) -> None:
        """The file now says this: `edges` read from its source, `further` ones known from elsewhere."""
        with self._changing():
            self._contents.replace(path, definitions, {GraphSource.AST: edges, **(further or {})})

    def add_edges(self, path: str, edges: Iterable[Edge], source: GraphSource) -> None:
        """More edges that the file owns until it is replaced, stale or removed; not for a file that is not there."""
        with self._changing():
            if path not in self:
                raise NotFound(f"no file {path} is indexed; index it before giving it edges")
            self._contents.add(path, edges, source)

    def remove_file(self, path: str) -> None:
        with self._changing():
            self._contents.remove(path)

    def stale(self, path: str) -> None:
        """The file has changed: none of its edges is served from now on, until it is replaced."""
        with self._changing():
            self._contents.mark_stale(path)

    def indexing(self, going_on: bool) -> None:
        """Whether files are still missing; answers say so."""
        with self._lock:
            if going_on is not self._indexing:
                self._indexing, self._standing, self._map = going_on, None, None

    @contextmanager
    def _changing(self) -> Iterator[None]:
        with self._lock:
            self._unread.look_up()
            self._totals, self._overrides = Totals(), Overrides()
            self._files = self._folders = self._map = self._standing = None
            yield

    # What is there

    def __contains__(self, id: str) -> bool:
        return self._contents.nodes.known(id) is not None

    def __len__(self) -> int:
        return int(self._contents.nodes.exists.sum())

    @property
    def paths(self) -> tuple[str, ...]:
        with self._lock:
            return self._contents.paths

    def definition(self, id: str) -> Definition | None:
        """None for a file, and for what is not there."""
        number = self._contents.nodes.known(id)
        return None if number is None else self._contents.nodes.definition(number)

    def definitions(self, path: str) -> tuple[Definition, ...]:
        with self._lock:
            return self._contents.definitions(path)

    def edges(self) -> tuple[ServedEdge, ...]:
        """Every edge that is served, sorted."""
        with self._lock:
            return tuple(sorted(self._contents.served()))

    def columns(self) -> GraphColumns:
        with self._lock:
            return self._contents.columns()

    # Asking

    def impact(
        self, node: str, *, depth: int | None = None, cap: int | None = CAP, min_confidence: float = 0.0
    ) -> Impact:
        """What breaks if this changes: a folder, a file, a class with its methods, or a function."""
        with self._lock:
            members, served = self._members(node), self._served(min_confidence)
            walked = impact.dependents(served, members, depth=depth, cap=cap)
            listed = self._ties(served, walked, Direction.DEPENDENTS)
            if walked.whole and depth is None:
                total, tests = len(listed), listed.tests_count
            else:
                total, tests = self._totals.of(served, self._contents.nodes.known(node), members)
            importers = self._ids(impact.importers(served, members))
            return Impact(node, self._inside(node, members), listed, total, tests, importers, self._how_it_stands())

    def dependencies(
        self, node: str, *, depth: int | None = None, cap: int | None = CAP, min_confidence: float = 0.0
    ) -> Dependencies:
        """What this rests on, overrides of what it calls included."""
        with self._lock:
            served, members = self._served(min_confidence), self._members(node)
            walked = walk(served, members, Direction.DEPENDENCIES, depth=depth, cap=cap)
            return Dependencies(
                node,
                self._inside(node, members),
                self._ties(served, walked, Direction.DEPENDENCIES),
                not walked.whole,
                self._how_it_stands(),
            )

    def path(self, origin: str, target: str, *, min_confidence: float = 0.0) -> Route:
        """How `origin` comes to depend on `target`, in the fewest steps; in none if it does not."""
        with self._lock:
            ends = self._members(origin), self._members(target)
            found = paths.route(self._served(min_confidence), *ends)
            return Route(*(found or ((), 0.0)), self._how_it_stands())

    def data_flow(self, node: str, *, depth: int = FLOW_DEPTH, cap: int = CAP, min_confidence: float = 0.0) -> DataFlow:
        """Where data of this goes, and where it comes from."""
        with self._lock:
            served, members = self._served(min_confidence), self._members(node)
            out, out_capped = flows.sinks(served, members, depth, cap)
            into, into_capped = flows.sources(served, members, depth, cap)
            return DataFlow(node, into, out, out_capped or into_capped, self._how_it_stands())

    def entry_points(self, node: str | None = None, *, kind: EntryPoint | None = None) -> Entries:
        """Every entry point by name, or those that come to a node, nearest first."""
        with self._lock:
            served = self._served()
            found: Iterator[Entry] = all_entries(served) if node is None else entries_to(served, self._members(node))
            wanted = tuple(entry for entry in found if kind in (None, entry.kind))
            return Entries(wanted, self._how_it_stands())

    def cycles(self, level: Level | str = Level.FILE) -> Cycles:
        """What depends on itself by way of others, the largest first."""
        with self._lock:
            return Cycles(cycling.cycles(self._served(), Level(level)), self._how_it_stands())

    def file_graph(self) -> FileGraph:
        """The graph between files, made when first asked for after a change."""
        with self._lock:
            if self._files is None:
                self._files = file_graph(self._served(), self._contents.paths)
            return self._files

    def module_map(self) -> ModuleMap:
        """The modules that the files form by what they use."""
        with self._lock:
            if self._map is None:
                self._map = module_map(self.file_graph(), self._how_it_stands())
            return self._map

    def find(self, name: str, *, limit: int = 50) -> Found:
        """The nodes that somebody may mean by a name: all that fit equally well."""
        with self._lock:
            found = self._names.find(name, self._contents.nodes, self._folders_now(), limit)
            return replace(found, standing=self._how_it_stands())

    def below(self, folder: str) -> tuple[str, ...]:
        """The files in a folder and in those inside it; its id ends with a slash, and is `./` for the root."""
        with self._lock:
            return tuple(self._folders_now().below(folder))

    def prepare(self) -> None:
        """Count totals now, so that no question pays for the change before it."""
        with self._lock:
            self._totals.prepare(self._served())

    def _served(self, least_confidence: float = 0.0) -> Served:
        return Served(self._contents.nodes, self._contents.edges, self._overrides, least_confidence)

    def _ties(self, served: Served, walked: Walked, direction: Direction) -> Ties:
        last_edges = LastEdges(walked, direction, served.edges, self._lock)
        return Ties(walked, served.nodes, self._unread.add(last_edges))

    def _number(self, node: str) -> int:
        number = self._contents.nodes.known(node)
        if number is None:
            raise NotFound(f"no file or definition {node} is indexed; `find` looks for similar names")
        return number

    def _members(self, node: str) -> Ints:
        """A file or definition with what is inside it, or all files below a folder with what they define."""
        if not is_folder(node):
            return self._contents.members(self._number(node))
        files = self._folders_now().below(node)
        if not files:
            raise NotFound(f"no folder {node} is indexed; `find` looks for similar names")
        return np.concatenate([self._contents.members(self._number(file)) for file in files])

    def _inside(self, node: str, members: Ints) -> tuple[str, ...]:
        """What changes with a node: definitions, or the files of a folder."""
        return self.below(node) if is_folder(node) else self._ids(members[1:].tolist())

    def _folders_now(self) -> Folders:
        if self._folders is None:
            self._folders = Folders(self._contents.paths)
        return self._folders

    def _ids(self, numbers: Iterable[int]) -> tuple[str, ...]:
        return tuple(map(self._contents.nodes.names.__getitem__, numbers))

    @property
    def standing(self) -> Standing:
        with self._lock:
            return self._how_it_stands()

    def _how_it_stands(self) -> Standing:
        if self._standing is None:
            self._standing = Standing(tuple(sorted(self._contents.stale)), self._indexing)
        return self._standing
