"""The code of one project as a graph in memory, updated a file at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from threading import RLock
from typing import TYPE_CHECKING

import numpy as np

from treering.code.graph import cycles as cycling
from treering.code.graph import flows, impact, paths
from treering.code.graph.answers import (
    CodeEntries,
    CodeEntry,
    Cycles,
    Dependencies,
    DependencyPath,
    Impact,
    IndexStatus,
    ReachedNodes,
)
from treering.code.graph.contents import GraphColumns, GraphContents
from treering.code.graph.cycles import CycleLevel
from treering.code.graph.entries import all_entries, entries_to
from treering.code.graph.file_graph import FileGraph, file_graph
from treering.code.graph.flows import DataFlow
from treering.code.graph.folders import CodeFolders, is_folder
from treering.code.graph.last_edges import LastEdges, PendingEdges
from treering.code.graph.limits import CAP, FLOW_DEPTH
from treering.code.graph.module_map import ModuleMap, module_map
from treering.code.graph.names import NameIndex
from treering.code.graph.overrides import Overrides
from treering.code.graph.steps import Direction, ServedGraph
from treering.code.graph.totals import DependentTotals
from treering.code.graph.traversal import WalkResult, walk
from treering.core.errors import NotFound
from treering.core.graph import GraphSource

if TYPE_CHECKING:
    from treering.code.facts import Definition, Edge, EntryPoint
    from treering.code.graph.edges import ServedEdge
    from treering.code.graph.kind_columns import Ints
    from treering.code.graph.matches import NameMatches


class CodeGraph:
    """Nodes are files (`path`) and definitions (`path::qualname`); edges lead from users to what they use. A folder
    (`path/`) may be queried as if it were one node.

    An update costs as much as the file holds; whatever is derived from the whole graph is computed on the next query.
    Thread-safe; one thread is served at a time.
    """

    def __init__(self) -> None:
        self._contents = GraphContents()
        self._totals = DependentTotals()
        self._overrides = Overrides()
        self._names = NameIndex()
        self._files: FileGraph | None = None
        self._folders: CodeFolders | None = None
        self._map: ModuleMap | None = None
        self._status: IndexStatus | None = None
        self._indexing = False
        self._notes: tuple[str, ...] = ()
        self._lock = RLock()
        self._unread = PendingEdges()

    @classmethod
    def load(cls, parts: Iterable[GraphColumns]) -> CodeGraph:
        """Build a graph from stored columns, much faster than file by file; each part is released before the next."""
        graph = cls()
        graph._contents.load(parts)
        return graph

    # Updates

    def replace_file(
        self,
        path: str,
        definitions: Sequence[Definition],
        edges: Iterable[Edge],
        further: Mapping[GraphSource, Iterable[Edge]] | None = None,
    ) -> None:
        """Replace what a file contributes: `edges` from its source, `further` edges from other sources."""
        with self._changing():
            self._contents.replace(path, definitions, {GraphSource.AST: edges, **(further or {})})

    def remove_file(self, path: str) -> None:
        with self._changing():
            self._contents.remove(path)

    def mark_stale(self, path: str) -> None:
        """Mark a file as changed: none of its edges is served until it is replaced."""
        with self._changing():
            self._contents.mark_stale(path)

    def set_indexing(self, going_on: bool) -> None:
        """Set whether files are still missing, which answers report."""
        with self._lock:
            if going_on is not self._indexing:
                self._indexing, self._status, self._map = going_on, None, None

    def set_notes(self, notes: tuple[str, ...]) -> None:
        """Set what else limits every answer."""
        with self._lock:
            if notes != self._notes:
                self._notes, self._status, self._map = notes, None, None

    @contextmanager
    def _changing(self) -> Iterator[None]:
        with self._lock:
            self._unread.look_up()
            self._totals, self._overrides = DependentTotals(), Overrides()
            self._files = self._folders = self._map = self._status = None
            yield

    # Contents

    def __contains__(self, id: str) -> bool:
        return self._contents.nodes.known(id) is not None

    def __len__(self) -> int:
        return int(self._contents.nodes.exists.sum())

    @property
    def paths(self) -> tuple[str, ...]:
        with self._lock:
            return self._contents.paths

    def definition(self, id: str) -> Definition | None:
        """None for a file, and for unknown ids."""
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

    # Queries

    def impact(
        self, node: str, *, depth: int | None = None, cap: int | None = CAP, min_confidence: float = 0.0
    ) -> Impact:
        """What breaks if a folder, file, class (with its methods) or function changes."""
        with self._lock:
            members, served = self._members(node), self._served(min_confidence)
            walked = impact.dependents(served, members, depth=depth, cap=cap)
            listed = self._reached_nodes(served, walked, Direction.DEPENDENTS)
            if walked.complete and depth is None:
                total, tests = len(listed), listed.tests_count
            else:
                total, tests = self._totals.of(served, self._contents.nodes.known(node), members)
            importers = self._ids(impact.importers(served, members))
            handlers = self._ids(impact.error_handlers(served, members))
            return Impact(
                node,
                self._inside(node, members),
                listed,
                total,
                tests,
                importers,
                self._index_status(),
                handlers=handlers,
                namesakes=impact.namesakes(served, node),
            )

    def dependencies(
        self, node: str, *, depth: int | None = None, cap: int | None = CAP, min_confidence: float = 0.0
    ) -> Dependencies:
        """What a node depends on, overrides of what it calls included."""
        with self._lock:
            served, members = self._served(min_confidence), self._members(node)
            walked = walk(served, members, Direction.DEPENDENCIES, depth=depth, cap=cap)
            return Dependencies(
                node,
                self._inside(node, members),
                self._reached_nodes(served, walked, Direction.DEPENDENCIES),
                not walked.complete,
                self._index_status(),
            )

    def path(self, origin: str, target: str, *, min_confidence: float = 0.0) -> DependencyPath:
        """A shortest dependency path from `origin` to `target`; without steps if there is none."""
        with self._lock:
            ends = self._members(origin), self._members(target)
            found = paths.route(self._served(min_confidence), *ends)
            return DependencyPath(*(found or ((), 0.0)), self._index_status())

    def data_flow(self, node: str, *, depth: int = FLOW_DEPTH, cap: int = CAP, min_confidence: float = 0.0) -> DataFlow:
        """Where the data of a node goes, and where it comes from."""
        with self._lock:
            served, members = self._served(min_confidence), self._members(node)
            out, out_capped = flows.sinks(served, members, depth, cap)
            into, into_capped = flows.sources(served, members, depth, cap)
            return DataFlow(node, into, out, out_capped or into_capped, self._index_status())

    def entry_points(self, node: str | None = None, *, kind: EntryPoint | None = None) -> CodeEntries:
        """Every entry point by name, or those that lead to a node, nearest first."""
        with self._lock:
            served = self._served()
            found: Iterator[CodeEntry] = (
                all_entries(served) if node is None else entries_to(served, self._members(node))
            )
            wanted = tuple(entry for entry in found if kind in (None, entry.kind))
            return CodeEntries(wanted, self._index_status())

    def cycles(self, level: CycleLevel | str = CycleLevel.FILE) -> Cycles:
        """Nodes that depend on each other, largest cycle first."""
        with self._lock:
            return Cycles(cycling.cycles(self._served(), CycleLevel(level)), self._index_status())

    def file_graph(self) -> FileGraph:
        """The graph between files, cached until the next change."""
        with self._lock:
            if self._files is None:
                self._files = file_graph(self._served(), self._contents.paths)
            return self._files

    def module_map(self) -> ModuleMap:
        """The modules that the files form by their uses, cached until the next change."""
        with self._lock:
            if self._map is None:
                self._map = module_map(self.file_graph(), self._index_status())
            return self._map

    def find(self, name: str, *, limit: int = 50) -> NameMatches:
        """Nodes that a name may refer to; all that match equally well."""
        with self._lock:
            found = self._names.find(name, self._contents.nodes, self._current_folders(), limit)
            return replace(found, status=self._index_status())

    def below(self, folder: str) -> tuple[str, ...]:
        """Files in a folder and its subfolders; the id of a folder ends with a slash, that of the root is `./`."""
        with self._lock:
            return tuple(self._current_folders().below(folder))

    def prepare(self) -> None:
        """Compute totals now, so that the next query does not have to."""
        with self._lock:
            self._totals.prepare(self._served())

    def _served(self, min_confidence: float = 0.0) -> ServedGraph:
        return ServedGraph(self._contents.nodes, self._contents.edges, self._overrides, min_confidence)

    def _reached_nodes(self, served: ServedGraph, walked: WalkResult, direction: Direction) -> ReachedNodes:
        last_edges = LastEdges(walked, direction, served.edges, self._lock)
        return ReachedNodes(walked, served.nodes, self._unread.add(last_edges))

    def _number(self, node: str) -> int:
        number = self._contents.nodes.known(node)
        if number is None:
            raise NotFound(f"no file or definition {node} is indexed; use `find` to look for similar names")
        return number

    def _members(self, node: str) -> Ints:
        """A file or definition with its contents, or all files below a folder with their definitions."""
        if not is_folder(node):
            return self._contents.members(self._number(node))
        files = self._current_folders().below(node)
        if not files:
            raise NotFound(f"no folder {node} is indexed; use `find` to look for similar names")
        return np.concatenate([self._contents.members(self._number(file)) for file in files])

    def _inside(self, node: str, members: Ints) -> tuple[str, ...]:
        """What changes with a node: its definitions, or the files of a folder."""
        return self.below(node) if is_folder(node) else self._ids(members[1:].tolist())

    def _current_folders(self) -> CodeFolders:
        if self._folders is None:
            self._folders = CodeFolders(self._contents.paths)
        return self._folders

    def _ids(self, numbers: Iterable[int]) -> tuple[str, ...]:
        return tuple(map(self._contents.nodes.names.__getitem__, numbers))

    @property
    def status(self) -> IndexStatus:
        with self._lock:
            return self._index_status()

    def _index_status(self) -> IndexStatus:
        if self._status is None:
            self._status = IndexStatus(tuple(sorted(self._contents.stale)), self._indexing, notes=self._notes)
        return self._status
