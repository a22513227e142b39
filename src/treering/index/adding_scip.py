"""A SCIP index joins the graph: its edges belong to the files they were read from, until those change."""

from hashlib import blake2b
from pathlib import Path

from treering.core.errors import InvalidInput, NotFound
from treering.core.graph import EdgeKind
from treering.index.desk import Desk
from treering.index.facts import Edge
from treering.index.graph import CodeGraph
from treering.index.packing import pack_further
from treering.index.scip import read_scip
from treering.ports.code import ListedFile


def add_scip(desk: Desk, graph: CodeGraph, file: Path) -> str:
    """Store what the index adds to the graph; what came of it, in words."""
    try:
        data = file.read_bytes()
    except OSError as exc:
        raise InvalidInput(f"{file} cannot be read ({exc.strerror}); name an index.scip") from exc
    with desk.reading() as stored:
        state = stored.state()
        files = {each.path: each for each in stored.listed() if not each.skipped}
    if state is None:
        raise NotFound("no code is indexed that a SCIP index could be added to; index it first")
    told = read_scip(
        data, graph.definitions, lambda path: _source(desk.root, files.get(path)), folder=_folder(desk, file)
    )
    known = {(edge.origin, edge.target, edge.kind) for edge in graph.edges() if edge.confidence == 1.0}
    new = {path: _beyond(edges, known) for path, edges in told.edges.items()}
    with desk.writing() as stored:
        generation = stored.describe(
            desk.owner, seen=state.generation, root=state.root, version=state.version, complete=state.complete
        )
        stored.add_further({path: pack_further({told.source: edges}) for path, edges in new.items()}, generation)
        stored.give_back(desk.owner)
    added, of = sum(map(len, new.values())), sum(map(len, told.edges.values()))
    refused = "".join(f"; {count:,} refused: {why.value}" for why, count in told.refused.items())
    tool = told.made_by or "an unknown tool"
    return f"{file.name} by {tool}: {added:,} edges added, {of - added:,} known before{refused}"


def _folder(desk: Desk, file: Path) -> str:
    """Indexers write where they were run: the index speaks of paths from there."""
    beside = file.resolve().parent
    inside = desk.root in beside.parents
    return beside.relative_to(desk.root).as_posix() if inside else ""


def _source(root: Path, known: ListedFile | None) -> bytes | None:
    """A file as it was indexed; None where it is not what it was."""
    if known is None:
        return None
    try:
        source = (root / known.path).read_bytes()
    except OSError:
        return None
    return source if blake2b(source, digest_size=16).hexdigest() == known.digest else None


def _beyond(edges: tuple[Edge, ...], known: set[tuple[str, str, EdgeKind]]) -> list[Edge]:
    return [edge for edge in edges if (edge.origin, edge.target, edge.kind) not in known]
