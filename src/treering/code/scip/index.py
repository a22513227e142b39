"""Conversion of a SCIP index into edges of our files."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from treering.code.facts import Definition, Edge
from treering.code.scip.bindings import Bindings
from treering.code.scip.decoder import decoded, opened
from treering.code.scip.edges import Refused, edges_of
from treering.code.scip.limits import ScipLimits
from treering.code.scip.occurrences import Laid, laid_over
from treering.code.scip.scip_pb2 import Document, Index
from treering.core.graph import GraphSource

DefinitionsOf = Callable[[str], Sequence[Definition]]
SourceOf = Callable[[str], bytes | None]


@dataclass(frozen=True, slots=True)
class ScipEdges:
    """The edges of an index by owning file, and the counts of what was rejected."""

    edges: Mapping[str, tuple[Edge, ...]]
    """All have full confidence. Files of the index without edges are included, with an empty tuple."""
    refused: Mapping[Refused, int]
    problems: tuple[str, ...]
    """Rejected documents with the reason."""
    made_by: str
    source: GraphSource = GraphSource.SCIP


def check_scip(data: bytes, limits: ScipLimits) -> None:
    """Raise `InvalidInput` if the data is not a SCIP index, is too large, or is damaged."""
    for place, packed in enumerate(opened(data, limits).documents):
        if len(packed) <= limits.document_bytes:
            decoded(packed, place)


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
    index = opened(data, limits)
    reading, bindings = _Reading(index, source_of, folder, limits), Bindings()
    for document in reading.first():
        bindings.add(document, definitions_of(document.path))
    edges = defaultdict[str, set[Edge]](set)
    for document in reading.again():
        found = edges_of(document, definitions_of(document.path), bindings, reading.refused)
        edges[document.path].update(found)
    tool = index.metadata.tool_info
    return ScipEdges(
        {path: tuple(sorted(edges[path], key=_order)) for path in sorted(edges)},
        dict(sorted(reading.refused.items())),
        tuple(reading.problems),
        f"{tool.name} {tool.version}".strip(),
    )


@dataclass
class _Reading:
    """Two passes over the documents of an index: definitions must be known before occurrences can be bound."""

    index: Index
    source_of: SourceOf
    folder: str
    limits: ScipLimits
    refused: Counter[Refused] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    believed: list[int] = field(default_factory=list)

    def first(self) -> Iterator[Laid]:
        for place, packed in enumerate(self.index.documents):
            if len(packed) > self.limits.document_bytes:
                self._refuse(f"document {place + 1}", Refused.TOO_LARGE)
                continue
            document = decoded(packed, place)
            path = self._path(document)
            source = None if path is None else self.source_of(path)
            if path is None or source is None:
                self._refuse(document.relative_path, Refused.OUTSIDE if path is None else Refused.NOT_HERE)
                continue
            laid = laid_over(document, path, source, self.limits.fitting)
            if laid is None:
                self._refuse(path, Refused.OTHER_FILE)
                continue
            self.believed.append(place)
            yield laid

    def again(self) -> Iterator[Laid]:
        """Yield the accepted documents again; a file that changed in the meantime is left out."""
        for place in self.believed:
            document = decoded(self.index.documents[place], place)
            path = self._path(document)
            source = None if path is None else self.source_of(path)
            if path is not None and source is not None:
                laid = laid_over(document, path, source, self.limits.fitting)
                if laid is not None:
                    yield laid

    def _path(self, document: Document) -> str | None:
        """Return the path in the project, or None if it is outside."""
        path = PurePosixPath(document.relative_path)
        if path.is_absolute() or ".." in path.parts or not path.parts or "\\" in document.relative_path:
            return None
        return str(PurePosixPath(self.folder) / path)

    def _refuse(self, what: str, why: Refused) -> None:
        self.refused[why] += 1
        if len(self.problems) < self.limits.told_problems:
            self.problems.append(f"{what[:200]}: {why.value}")


def _order(edge: Edge) -> tuple[str, int, str, str]:
    return edge.origin, edge.line, edge.target, edge.kind.value
