"""Merge SCIP edges into the graph; they belong to the files they were derived from until those change."""

import json
import os
import stat
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from msgspec import structs

from treering.code.encoding import edges_in, pack_further, unpack_definitions, unpack_edges, unpack_further
from treering.code.facts import CallFlow, Edge
from treering.code.files.source_file import source_with_digest
from treering.code.index.project import IndexedProject
from treering.code.index.report import ScipIndex
from treering.code.scip import ScipEdges, ScipLimits, check_scip, read_scip
from treering.core.errors import InvalidInput, NotFound
from treering.core.graph import GraphSource
from treering.ports.code import FileContents, ListedFile

_FULL_CONFIDENCE = 1.0
_EXACT = int(CallFlow.EXACT)


@dataclass(frozen=True, slots=True)
class ScipFile:
    """The content of an `index.scip` file."""

    path: Path
    data: bytes


def read_scip_files(files: Iterable[Path], max_bytes: int) -> list[ScipFile]:
    """Read the files, of at most `max_bytes` in total.

    Raise `InvalidInput` if one is not a SCIP index or is damaged, or if they are too large; sizes are checked first.
    """
    found, remaining = list[ScipFile](), max_bytes
    for file in files:
        data = _content(file, remaining, max_bytes)
        remaining -= len(data)
        try:
            check_scip(data, ScipLimits(index_bytes=max_bytes))
        except InvalidInput as exc:
            raise InvalidInput(f"{file}: {exc}") from exc
        found.append(ScipFile(file, data))
    return found


def _content(file: Path, remaining: int, max_bytes: int) -> bytes:
    try:
        # Opening a pipe would block until it has a writer.
        with open(os.open(file, os.O_RDONLY | os.O_NONBLOCK), "rb") as content:
            known = os.fstat(content.fileno())
            regular = stat.S_ISREG(known.st_mode)
            data = content.read(remaining + 1) if regular and known.st_size <= remaining else b""
    except (OSError, ValueError) as exc:
        raise InvalidInput(f"{file} cannot be read ({getattr(exc, 'strerror', exc)}); pass an index.scip") from exc
    if not regular:
        raise InvalidInput(f"{file} is not a regular file; pass an index.scip")
    size = max(known.st_size, len(data))
    if size > remaining:
        others = f" and the files before it {max_bytes - remaining:,}" if remaining < max_bytes else ""
        raise InvalidInput(
            f"{file} has {size:,} bytes{others}; at most {max_bytes:,} bytes of SCIP indexes are read. Index fewer "
            "packages, or raise the setting code.scip_bytes"
        )
    return data


def add_scip(project: IndexedProject, files: Sequence[ScipFile]) -> list[str]:
    """Replace the SCIP edges in the graph by those of these indexes and return one summary line per index.

    Raise `InvalidInput` and change nothing if an index describes no indexed file.
    """
    with project.reading() as stored:
        state = stored.state()
        if state is None:
            raise NotFound("a SCIP index needs indexed code, and this project has none; run `treering index` first")
        listed = {each.path: each for each in stored.listed() if not each.skipped}
        contents = {each.path: each for each in stored.contents()}
    read = [_read(project, file, listed, contents) for file in files]
    for file, found in zip(files, read, strict=True):
        _check_matches_project(file, found)
    added = [_counts(file, found, contents) for file, found in zip(files, read, strict=True)]
    further, before = changed_scip_edges(contents.values(), read), json.loads(state.report)
    report = {**before, "scip": [asdict(each) for each in added]}
    if further or report != before:
        with project.writing() as stored:
            generation = stored.describe(
                project.owner,
                seen=state.generation,
                root=state.root,
                version=state.version,
                complete=state.complete,
                report=json.dumps(report),
            )
            stored.add_further(further, generation)
            stored.release_lease(project.owner)
    return [_summary(each, found) for each, found in zip(added, read, strict=True)]


def changed_scip_edges(contents: Iterable[FileContents], read: Sequence[ScipEdges]) -> dict[str, bytes]:
    """Return the additional edges of every file for which they changed; edges from other sources are kept."""
    new_edges = defaultdict[str, dict[Edge, None]](dict)
    for each in read:
        for path, edges in each.edges.items():
            new_edges[path].update(dict.fromkeys(edges))
    changed = {}
    for file in contents:
        before = {source: edges_in(edges) for source, edges in unpack_further(file.further).items()}
        others: dict[GraphSource, list[Edge]] = {
            source: edges for source, edges in before.items() if source is not GraphSource.SCIP
        }
        new = _additional(new_edges.get(file.path, ()), file)
        if new != before.get(GraphSource.SCIP, []):
            changed[file.path] = pack_further(others | {GraphSource.SCIP: new})
    return changed


def _read(
    project: IndexedProject, file: ScipFile, listed: Mapping[str, ListedFile], contents: Mapping[str, FileContents]
) -> ScipEdges:
    def source(path: str) -> bytes | None:
        """Return a file as it was indexed, or None if it changed."""
        known = listed.get(path)
        return (
            None
            if known is None
            else source_with_digest(known.digest, project.root, path, project.settings.largest_file)
        )

    return read_scip(
        file.data,
        lambda path: unpack_definitions(contents[path].definitions) if path in contents else (),
        source,
        folder=_folder(project, file.path),
        limits=ScipLimits(index_bytes=project.settings.scip_bytes),
    )


def _folder(project: IndexedProject, file: Path) -> str:
    """Indexers record the directory they ran in; paths in the index are relative to it."""
    beside = file.resolve().parent
    inside = project.root in beside.parents
    return beside.relative_to(project.root).as_posix() if inside else ""


def _additional(edges: Iterable[Edge], file: FileContents) -> list[Edge]:
    """Return the edges that are not already known from the source with full confidence."""
    surest_last = sorted(edges_in(unpack_edges(file.edges)), key=lambda edge: edge.confidence)
    by_ends = {_ends(edge): edge for edge in surest_last}
    return [
        structs.replace(edge, flow=edge.flow | (known.flow & _EXACT)) if known else edge
        for edge in edges
        if (known := by_ends.get(_ends(edge))) is None or known.confidence < _FULL_CONFIDENCE
    ]


def _ends(edge: Edge) -> tuple[str, str, str]:
    return edge.origin, edge.target, edge.kind.value


def _check_matches_project(file: ScipFile, found: ScipEdges) -> None:
    if not found.edges:
        raise InvalidInput(
            f"{file.path} does not match this project: none of its documents is an indexed file{_rejections(found)}. "
            "Edges added before are kept; rebuild the index in this project, or pass another one"
        )


def _counts(file: ScipFile, found: ScipEdges, contents: Mapping[str, FileContents]) -> ScipIndex:
    confirmed = added = stored = 0
    for path, edges in found.edges.items():
        known = {_ends(edge) for edge in edges_in(unpack_edges(contents[path].edges))}
        described = {_ends(edge) for edge in edges}
        confirmed += len(described & known)
        added += len(described - known)
        stored += len(_additional(edges, contents[path]))
    return ScipIndex(file.path.name, found.made_by or "an unknown tool", confirmed, added, stored)


def _summary(added: ScipIndex, found: ScipEdges) -> str:
    edges = "edge" if added.confirmed == 1 else "edges"
    summary = f"confirms {added.confirmed:,} {edges} known from the source, adds {added.added:,}"
    return f"{added.name} by {added.tool}: {summary}{_rejections(found)}"


def _rejections(found: ScipEdges) -> str:
    return "".join(f"; {number:,} rejected: {why.value}" for why, number in found.rejected.items())
