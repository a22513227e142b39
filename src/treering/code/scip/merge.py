"""SCIP indexes join the graph: their edges belong to the files they were read from, until those change."""

import json
import os
import stat
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from msgspec import structs

from treering.code.encoding import edges_in, pack_further, unpack_definitions, unpack_edges, unpack_further
from treering.code.facts import Edge, Flow
from treering.code.files.source_file import source_with
from treering.code.index.project import IndexedProject
from treering.code.index.report import ScipIndex
from treering.code.scip import ScipEdges, ScipLimits, check_scip, read_scip
from treering.core.errors import InvalidInput, NotFound
from treering.core.graph import GraphSource
from treering.ports.code import FileContents, ListedFile

_SURE = 1.0
_EXACT = int(Flow.EXACT)


@dataclass(frozen=True, slots=True)
class ScipFile:
    """An index that can be read."""

    path: Path
    data: bytes


def opened_scip(files: Iterable[Path], most_bytes: int) -> list[ScipFile]:
    """The files as they are now, of at most `most_bytes` together.

    `InvalidInput` if one is not a SCIP index or is damaged, or if they are too large, before that is read.
    """
    found, room = list[ScipFile](), most_bytes
    for file in files:
        data = _content(file, room, most_bytes)
        room -= len(data)
        try:
            check_scip(data, ScipLimits(index_bytes=most_bytes))
        except InvalidInput as exc:
            raise InvalidInput(f"{file}: {exc}") from exc
        found.append(ScipFile(file, data))
    return found


def _content(file: Path, room: int, most_bytes: int) -> bytes:
    try:
        # Opening a pipe would wait for its writer.
        with open(os.open(file, os.O_RDONLY | os.O_NONBLOCK), "rb") as opened:
            known = os.fstat(opened.fileno())
            if not stat.S_ISREG(known.st_mode):
                raise InvalidInput(f"{file} is not a regular file; name an index.scip")
            data = b"" if known.st_size > room else opened.read(room + 1)
    except (OSError, ValueError) as exc:
        raise InvalidInput(f"{file} cannot be read ({getattr(exc, 'strerror', exc)}); name an index.scip") from exc
    size = max(known.st_size, len(data))
    if size > room:
        others = f", and those named before it {most_bytes - room:,}" if room < most_bytes else ""
        raise InvalidInput(
            f"{file} has {size:,} bytes{others}; at most {most_bytes:,} bytes of SCIP indexes are read. Index fewer "
            "packages, or raise the setting index.scip_bytes"
        )
    return data


def add_scip(project: IndexedProject, files: Sequence[ScipFile]) -> list[str]:
    """Store what the indexes add to the graph, instead of what others added before; what came of each, in words.

    `InvalidInput`, and nothing is changed, where one of them speaks of no file that is indexed.
    """
    with project.reading() as stored:
        state = stored.state()
        if state is None:
            raise NotFound("no code is indexed that a SCIP index could be added to; index it first")
        listed = {each.path: each for each in stored.listed() if not each.skipped}
        contents = {each.path: each for each in stored.contents()}
    read = [_read(project, file, listed, contents) for file in files]
    for file, found in zip(files, read, strict=True):
        _check_it_is_of_this_code(file, found)
    added = [_summed(file, found, contents) for file, found in zip(files, read, strict=True)]
    further, before = with_scip(contents.values(), read), json.loads(state.report)
    told = {**before, "scip": [asdict(each) for each in added]}
    if further or told != before:
        with project.writing() as stored:
            generation = stored.describe(
                project.owner,
                seen=state.generation,
                root=state.root,
                version=state.version,
                complete=state.complete,
                report=json.dumps(told),
            )
            stored.add_further(further, generation)
            stored.release_lease(project.owner)
    return [_told(each, found) for each, found in zip(added, read, strict=True)]


def with_scip(contents: Iterable[FileContents], read: Sequence[ScipEdges]) -> dict[str, bytes]:
    """The further edges of every file where they are others now; what other sources say is kept."""
    told = defaultdict[str, dict[Edge, None]](dict)
    for each in read:
        for path, edges in each.edges.items():
            told[path].update(dict.fromkeys(edges))
    changed = {}
    for file in contents:
        before = {source: edges_in(edges) for source, edges in unpack_further(file.further).items()}
        others: dict[GraphSource, list[Edge]] = {
            source: edges for source, edges in before.items() if source is not GraphSource.SCIP
        }
        new = _beyond(told.get(file.path, ()), file)
        if new != before.get(GraphSource.SCIP, []):
            changed[file.path] = pack_further(others | {GraphSource.SCIP: new})
    return changed


def _read(
    project: IndexedProject, file: ScipFile, listed: Mapping[str, ListedFile], contents: Mapping[str, FileContents]
) -> ScipEdges:
    def source(path: str) -> bytes | None:
        """A file as it was indexed; None where it is not what it was."""
        known = listed.get(path)
        return None if known is None else source_with(known.digest, project.root, path, project.settings.largest_file)

    return read_scip(
        file.data,
        lambda path: unpack_definitions(contents[path].definitions) if path in contents else (),
        source,
        folder=_folder(project, file.path),
        limits=ScipLimits(index_bytes=project.settings.scip_bytes),
    )


def _folder(project: IndexedProject, file: Path) -> str:
    """Indexers write where they were run: the index speaks of paths from there."""
    beside = file.resolve().parent
    inside = project.root in beside.parents
    return beside.relative_to(project.root).as_posix() if inside else ""


def _beyond(edges: Iterable[Edge], file: FileContents) -> list[Edge]:
    """Those that the file's own source does not tell as surely; what it knows of them stays known."""
    surest_last = sorted(edges_in(unpack_edges(file.edges)), key=lambda edge: edge.confidence)
    known = {_ends(edge): edge for edge in surest_last}
    return [
        structs.replace(edge, flow=edge.flow | (told.flow & _EXACT)) if told else edge
        for edge in edges
        if (told := known.get(_ends(edge))) is None or told.confidence < _SURE
    ]


def _ends(edge: Edge) -> tuple[str, str, str]:
    return edge.origin, edge.target, edge.kind.value


def _check_it_is_of_this_code(file: ScipFile, found: ScipEdges) -> None:
    if not found.edges:
        raise InvalidInput(
            f"{file.path} is of other code: none of its documents is a file as it is indexed here{_refused(found)}. "
            "What was added before is kept; make the index again in this project, or name another one"
        )


def _summed(file: ScipFile, found: ScipEdges, contents: Mapping[str, FileContents]) -> ScipIndex:
    confirmed = added = stored = 0
    for path, edges in found.edges.items():
        known = {_ends(edge) for edge in edges_in(unpack_edges(contents[path].edges))}
        told = {_ends(edge) for edge in edges}
        confirmed += len(told & known)
        added += len(told - known)
        stored += len(_beyond(edges, contents[path]))
    return ScipIndex(file.path.name, found.made_by or "an unknown tool", confirmed, added, stored)


def _told(added: ScipIndex, found: ScipEdges) -> str:
    edges = "edge" if added.confirmed == 1 else "edges"
    said = f"confirms {added.confirmed:,} {edges} known from the source, adds {added.added:,}"
    return f"{added.name} by {added.tool}: {said}{_refused(found)}"


def _refused(found: ScipEdges) -> str:
    return "".join(f"; {number:,} refused: {why.value}" for why, number in found.refused.items())
