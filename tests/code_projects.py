"""Projects on disk for tests of the code graph, and what a fresh build makes of the same files."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from threading import Event
from typing import NamedTuple

from tests.symbol_table import RecordingLookup, SymbolTable
from treering.adapters.processes import has_ended, this_writer
from treering.code.api import Code
from treering.code.chunks.split import chunks_of
from treering.code.chunks.words import stored_chunks
from treering.code.encoding import edges_in, unpack_definitions, unpack_edges, unpack_unresolved
from treering.code.facts import Facts
from treering.code.files.source_file import chunk_limits, text_of
from treering.code.graph import CodeGraph
from treering.code.history.stored_history import ProjectRepository
from treering.code.index import update
from treering.code.language_choice import language_named, load_language
from treering.code.locations.embedding import ChunkEmbedding
from treering.code.locations.search import LocationSearch
from treering.code.sources import CodeSources
from treering.core.scope import Scope
from treering.core.settings import CodeSettings
from treering.memory import Memory
from treering.ports.code_chunks import StoredChunk
from treering.ports.watcher import Watcher
from treering.search.private_words import query_may_leave

_BATCH_FILES, _MIN_PARALLEL_FILES = update.BATCH_FILES, update.MIN_PARALLEL_FILES


class Kept(NamedTuple):
    """One file's part of a graph, comparable."""

    definitions: tuple[object, ...]
    edges: tuple[object, ...]
    unresolved: tuple[object, ...]
    chunks: tuple[StoredChunk, ...]


def written(root: Path, files: Mapping[str, str | bytes]) -> Path:
    for path, content in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def code_of(
    memory: Memory,
    scope: Scope | None = None,
    watcher: Watcher | None = None,
    *,
    batch: int = _BATCH_FILES,
    many_files: int = _MIN_PARALLEL_FILES,
    **settings: object,
) -> Code:
    """A door of its own, as another process would have it; every question looks at the files."""

    def without_history(root: Path) -> ProjectRepository:
        from treering.core.errors import RepositoryUnavailable

        raise RepositoryUnavailable(f"{root} has no history")

    update.BATCH_FILES, update.MIN_PARALLEL_FILES = batch, many_files  # `conftest` restores them
    ports = memory._parts
    around = CodeSources(
        root=None,
        around=None,
        repository=without_history,
        watcher=watcher or no_watcher,
        owner=str(this_writer(ports.new_id())),
        ended=has_ended,
    )
    chosen = CodeSettings.make(**{"look_seconds": 0, **settings})
    work = ChunkEmbedding(
        scope or memory.scope, memory.store, ports.clock, memory.settings.model_copy(update={"code": chosen})
    )
    search = LocationSearch(work, memory.models, ports.new_id, query_may_leave)
    return Code(
        scope or memory.scope,
        memory.store,
        ports.clock,
        chosen,
        around,
        location_search=search,
        remember=memory.remember,
    )


def no_watcher(root: Path, quiet_ms: int, stop: Event) -> Iterator[frozenset[str]]:
    return iter(())


def stored(memory: Memory, scope: Scope | None = None, *, unresolved: bool = False) -> dict[str, Kept]:
    """What the store holds: of all files, or of those that are resolved where there may be others."""
    with memory.store.reading(scope or memory.scope, memory._parts.clock()) as tx:
        contents = list(tx.code.contents())
        unknown = tx.code.unresolved([file.path for file in contents])
        chunks = {path: tuple(of) for path, of in groupby(tx.chunks.every(), lambda chunk: chunk.path)}
    assert unresolved or all(file.resolved for file in contents)
    kept = {
        file.path: _kept(
            unpack_definitions(file.definitions),
            edges_in(unpack_edges(file.edges)),
            unpack_unresolved(unknown.get(file.path, b"")),
            chunks.get(file.path, ()),
        )
        for file in contents
        if file.resolved
    }
    assert chunks.keys() <= {file.path for file in contents}, "chunks of files that are gone"
    return kept


def fresh(files: Mapping[str, str | bytes]) -> dict[str, Kept]:
    """What comes of the same files when all of them are read and resolved at once, without any store."""
    facts = _facts(files)
    table = SymbolTable()
    for path, (language, read) in facts.items():
        table.put(path, load_language(language).surface(read))
    built = {}
    for path, (language, read) in facts.items():
        resolved = load_language(language).resolve(read, RecordingLookup(table))
        limits = chunk_limits(language, None)
        cut = stored_chunks(chunks_of(path, text_of(_bytes(files[path])), read.definitions, limits))
        built[path] = _kept(read.definitions, resolved.edges, resolved.unresolved, cut)
    return built


def fresh_graph(files: Mapping[str, str | bytes]) -> CodeGraph:
    facts = _facts(files)
    table, graph = SymbolTable(), CodeGraph()
    for path, (language, read) in facts.items():
        table.put(path, load_language(language).surface(read))
    for path, (language, read) in facts.items():
        graph.replace_file(path, read.definitions, load_language(language).resolve(read, RecordingLookup(table)).edges)
    return graph


def _facts(files: Mapping[str, str | bytes]) -> dict[str, tuple[str, Facts]]:
    facts = {}
    for path, content in sorted(files.items()):
        language = language_named(path.rpartition("/")[2])
        if language is not None:
            facts[path] = (language, load_language(language).extract(path, _bytes(content)))
    return facts


def _bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


def _kept(
    definitions: Iterable[object],
    edges: Iterable[object],
    unresolved: Iterable[object],
    chunks: tuple[StoredChunk, ...],
) -> Kept:
    used, unknown = (tuple(sorted(map(_plain, each))) for each in (edges, unresolved))
    return Kept(tuple(definitions), used, unknown, chunks)


def _plain(value: object) -> tuple[object, ...]:
    """Confidence is stored with the seven digits that it is worth."""
    fields = (getattr(value, name) for name in value.__struct_fields__)  # type: ignore[attr-defined]
    return tuple(round(each, 5) if isinstance(each, float) else each for each in fields)
