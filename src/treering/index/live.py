"""The graph in memory, kept as the store has it: loaded whole once, then file by file."""

from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from treering.core.graph import GraphSource
from treering.index.graph import CodeGraph, EdgeColumns, GraphColumns
from treering.index.graph.kinds import SOURCE_CODE
from treering.index.packing import PackedEdges, edges_in, unpack_definitions, unpack_edges, unpack_further
from treering.ports.code import CodeIndex, CodeState, FileContents

N = TypeVar("N", bound=np.generic)


class LiveGraph:
    """One project's graph; `refresh` is called by one thread at a time."""

    def __init__(self, in_place: int) -> None:
        self.graph = CodeGraph()
        self._in_place = in_place
        self._generation: int | None = None
        self._seen: dict[str, int] = {}
        self._stale: set[str] = set()

    def refresh(self, index: CodeIndex, state: CodeState) -> None:
        """See what others have stored; a file whose uses are not known has none here either."""
        if state.generation == self._generation:
            return
        now = index.generations()
        changed = [path for path, generation in now.items() if self._seen.get(path) != generation]
        gone = self._seen.keys() - now.keys()
        if self._generation is None or len(changed) + len(gone) > self._in_place:
            self._load(index)
        else:
            for path in sorted(gone):
                self.graph.remove_file(path)
            self._replace(changed, index)
        self._stale -= {*changed, *gone}
        self.indexing(not state.complete)
        self._generation, self._seen = state.generation, dict(now)

    def indexing(self, going_on: bool) -> None:
        """Whether files are still missing. Answers that the graph keeps tell how it stood before: they go."""
        self.graph.indexing(going_on)
        self.graph.remove_file("")

    def below(self, folder: str) -> Iterator[str]:
        """The files that stand in a folder, or below."""
        return (path for path in self._seen if path.startswith(f"{folder}/"))

    def mark(self, changed: Collection[str], index: CodeIndex) -> None:
        """These files are not what was stored: none of their edges is served. All others are."""
        self._replace([path for path in sorted(self._stale.difference(changed)) if path in self._seen], index)
        for path in set(changed) - self._stale:
            self.graph.stale(path)
        self._stale = set(changed)

    def _load(self, index: CodeIndex) -> None:
        files = list(index.contents())
        self.graph, self._stale = CodeGraph.load(columns_of(files)), set()
        for file in files:
            if not file.resolved:
                self.graph.stale(file.path)

    def _replace(self, paths: list[str], index: CodeIndex) -> None:
        found = {file.path: file for file in index.contents(paths)}
        for path in paths:
            file = found.get(path)
            if file is None:
                # Nothing was read of it: it is binary, generated, or not understood.
                self.graph.remove_file(path)
                continue
            further = {source: edges_in(packed) for source, packed in unpack_further(file.further).items()}
            edges = edges_in(unpack_edges(file.edges))
            self.graph.replace_file(path, unpack_definitions(file.definitions), edges, further)
            if not file.resolved:
                self.graph.stale(path)


def columns_of(files: Iterable[FileContents]) -> GraphColumns:
    """All files side by side: names after names, numbers after numbers, moved on by the names before them."""
    definitions = {file.path: unpack_definitions(file.definitions) for file in files}
    parts = list(_parts(files))
    names = [name for _, _, packed in parts for name in packed.names]
    owners = {path: place for place, path in enumerate(definitions, len(names))}
    counts = [len(packed) for _, _, packed in parts]
    before = np.cumsum([0, *(len(packed.names) for _, _, packed in parts)])[:-1].astype(np.int32)
    offset = np.repeat(before, counts)
    owner = np.repeat(np.array([owners[path] for path, _, _ in parts], np.int32), counts)
    source = np.repeat(np.array([SOURCE_CODE[source] for _, source, _ in parts], np.uint8), counts)
    packed_edges = [packed for _, _, packed in parts]
    edges = EdgeColumns(
        _joined(packed_edges, "origin", np.int32) + offset,
        _joined(packed_edges, "target", np.int32) + offset,
        owner,
        _joined(packed_edges, "kind", np.uint8),
        source,
        _joined(packed_edges, "flow", np.uint8),
        _joined(packed_edges, "line", np.int32),
        _joined(packed_edges, "confidence", np.float32),
    )
    return GraphColumns(definitions, [*names, *definitions], edges)


def _parts(files: Iterable[FileContents]) -> Iterator[tuple[str, GraphSource, PackedEdges]]:
    for file in files:
        read = [(GraphSource.AST, unpack_edges(file.edges))] if file.edges else []
        for source, packed in chain(read, unpack_further(file.further).items()):
            yield file.path, source, packed


def _joined(parts: list[PackedEdges], name: str, kind: type[N]) -> NDArray[N]:
    # The graph goes on writing in these columns, which it could not in bytes.
    return np.frombuffer(bytearray().join([getattr(packed, name) for packed in parts]), kind)
