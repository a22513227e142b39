"""Stored files as columns of the graph, loaded in parts to limit memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from treering.code.encoding import PackedEdges, unpack_definitions, unpack_edges, unpack_further
from treering.code.graph import CodeGraph, EdgeColumns, GraphColumns
from treering.code.graph.kinds import SOURCE_CODE
from treering.code.graph.memory_release import release_memory
from treering.core.graph import GraphSource

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treering.ports.code import FileContents

N = TypeVar("N", bound=np.generic)

_AT_ONCE = 100
"""Files decoded together: more save no time, and take memory."""


def load(files: Iterable[FileContents]) -> CodeGraph:
    """The graph of these files; files that are not resolved are marked stale."""
    unresolved: list[str] = []

    def parts() -> Iterator[GraphColumns]:
        remaining = iter(files)
        while some := list(islice(remaining, _AT_ONCE)):
            unresolved.extend(file.path for file in some if not file.resolved)
            yield columns_of(some)

    graph = CodeGraph.load(parts())
    release_memory()
    for path in unresolved:
        graph.mark_stale(path)
    return graph


def columns_of(files: Sequence[FileContents]) -> GraphColumns:
    """Columns of several files concatenated, with indices shifted accordingly."""
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


def _joined(parts: Sequence[PackedEdges], name: str, kind: type[N]) -> NDArray[N]:
    return np.frombuffer(b"".join([getattr(packed, name) for packed in parts]), kind)
