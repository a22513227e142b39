"""Conversion of a SCIP index into edges of our files."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from treering.code.facts import Definition, Edge
from treering.code.scip.bindings import Bindings
from treering.code.scip.decoder import decode_document, open_index
from treering.code.scip.edges import ScipRejection, edges_of
from treering.code.scip.limits import ScipLimits
from treering.code.scip.occurrences import AlignedDocument, align
from treering.code.scip.scip_pb2 import Document, Index
from treering.core.graph import GraphSource

DefinitionsOf = Callable[[str], Sequence[Definition]]
SourceOf = Callable[[str], bytes | None]


@dataclass(frozen=True, slots=True)
class ScipEdges:
    """The edges of an index by owning file, and the counts of what was rejected."""

    edges: Mapping[str, tuple[Edge, ...]]
    """All have full confidence. Files of the index without edges are included, with an empty tuple."""
    rejected: Mapping[ScipRejection, int]
    problems: tuple[str, ...]
    """Rejected documents with the reason."""
    made_by: str
    source: GraphSource = GraphSource.SCIP


def check_scip(data: bytes, limits: ScipLimits) -> None:
    """Raise `InvalidInput` if the data is not a SCIP index, is too large, or is damaged."""
    for place, packed in enumerate(open_index(data, limits).documents):
        if len(packed) <= limits.document_bytes:
            decode_document(packed, place)


def read_scip(
    data: bytes,
    definitions_of: DefinitionsOf,
    source_of: SourceOf,
    *,
    folder: str = "",
    limits: ScipLimits | None = None,
) -> ScipEdges:
    """Return the edges of an `index.scip`; raise `InvalidInput` if it is invalid or damaged.

    `definitions_of` and `source_of` return the current state of a path in the project, None for a missing file.
    `folder` is the directory in which the index was made, relative to the root of the project.
    """
    limits = limits or ScipLimits()
    index = open_index(data, limits)
    reading, bindings = _ScipDocuments(index, source_of, folder, limits), Bindings()
    for document in reading.first_pass():
        bindings.add(document, definitions_of(document.path))
    edges = defaultdict[str, set[Edge]](set)
    for document in reading.second_pass():
        found = edges_of(document, definitions_of(document.path), bindings, reading.rejected)
        edges[document.path].update(found)
    tool = index.metadata.tool_info
    return ScipEdges(
        {path: tuple(sorted(edges[path], key=_order)) for path in sorted(edges)},
        dict(sorted(reading.rejected.items())),
        tuple(reading.problems),
        f"{tool.name} {tool.version}".strip(),
    )


@dataclass
class _ScipDocuments:
    """Two passes over the documents of an index: definitions must be known before occurrences can be bound."""

    index: Index
    source_of: SourceOf
    folder: str
    limits: ScipLimits
    rejected: Counter[ScipRejection] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    accepted: list[int] = field(default_factory=list)

    def first_pass(self) -> Iterator[AlignedDocument]:
        for place, packed in enumerate(self.index.documents):
            if len(packed) > self.limits.document_bytes:
                self._reject(f"document {place + 1}", ScipRejection.TOO_LARGE)
                continue
            document = decode_document(packed, place)
            path = self._path(document)
            source = None if path is None else self.source_of(path)
            if path is None or source is None:
                self._reject(document.relative_path, ScipRejection.OUTSIDE if path is None else ScipRejection.NOT_HERE)
                continue
            aligned = align(document, path, source, self.limits.min_match)
            if aligned is None:
                self._reject(path, ScipRejection.OTHER_FILE)
                continue
            self.accepted.append(place)
            yield aligned

    def second_pass(self) -> Iterator[AlignedDocument]:
        """Yield the accepted documents again; a file that changed in the meantime is left out."""
        for place in self.accepted:
            document = decode_document(self.index.documents[place], place)
            path = self._path(document)
            source = None if path is None else self.source_of(path)
            if path is not None and source is not None:
                aligned = align(document, path, source, self.limits.min_match)
                if aligned is not None:
                    yield aligned

    def _path(self, document: Document) -> str | None:
        """Return the path in the project, or None if it is outside."""
        path = PurePosixPath(document.relative_path)
        if path.is_absolute() or ".." in path.parts or not path.parts or "\\" in document.relative_path:
            return None
        return str(PurePosixPath(self.folder) / path)

    def _reject(self, what: str, why: ScipRejection) -> None:
        self.rejected[why] += 1
        if len(self.problems) < self.limits.max_named_problems:
            self.problems.append(f"{what[:200]}: {why.value}")


def _order(edge: Edge) -> tuple[str, int, str, str]:
    return edge.origin, edge.line, edge.target, edge.kind.value
