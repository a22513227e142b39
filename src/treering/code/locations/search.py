"""Search for code locations by words and, if chunks have vectors, by meaning."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple, overload

from treering.code.graph import IndexStatus
from treering.code.index.report import IndexPhase, IndexProgress, ignore_progress
from treering.code.language_choice import partly_read
from treering.code.locations.embedding import ChunkEmbedding, queue_chunk_embedding
from treering.code.locations.unstored_vectors import UnstoredChunkVectors
from treering.core.code_locations import CodeLocation
from treering.core.errors import InvalidInput, ModelUnavailable
from treering.core.privacy import WITHHELD_QUERY, ModelLocation
from treering.core.queries import ALL_CODE, CodeFilter
from treering.core.secrets import redact
from treering.ports.code_chunks import ChunkCoverage

if TYPE_CHECKING:
    from treering.code.index.update import OnProgress
    from treering.code.locations.chunk_search import ChunkMatch, ChunkSearch
    from treering.ports.clock import NewId
    from treering.ports.code import CodeState
    from treering.ports.models import Embedder, Models, Vectors
    from treering.ports.store import Transaction

# Standard deviations above the mean similarity that a chunk without a shared word needs, with the bundled model only:
# unrelated questions reached 4.9 on requests.
MIN_DEVIATIONS = 5.0
# Time a query about code first embeds missing chunks with the bundled model, which reads about 2,000 a second.
EMBED_SECONDS = 5.0
SHOWN_LINES = 3  # first lines of a location in an answer

IsEnough = Callable[[int, int], bool]
"""Whether to stop embedding, given the number of vectors made and the number missing at the start."""

_AT_ONCE = 64
"""Batch size of a hurried search, which checks the time after each batch."""
MAX_LOCATIONS = 100
"""Maximum number of locations in one answer."""


@dataclass(frozen=True, slots=True)
class CodeLocations(Sequence[CodeLocation]):
    """Locations that answer a query, best first, one per definition.

    `missing` names search methods that were not available, with the reason. `embedded` is the number of chunks that
    were embedded first.
    """

    query: str
    locations: tuple[CodeLocation, ...]
    missing: Mapping[str, str] = field(default_factory=dict)
    status: IndexStatus = field(default_factory=IndexStatus)
    embedded: int = 0

    @overload
    def __getitem__(self, index: int) -> CodeLocation: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[CodeLocation, ...]: ...
    def __getitem__(self, index: int | slice) -> CodeLocation | tuple[CodeLocation, ...]:
        return self.locations[index]

    def __iter__(self) -> Iterator[CodeLocation]:
        return iter(self.locations)

    def __len__(self) -> int:
        return len(self.locations)


class IndexSnapshot(NamedTuple):
    """State of a project's index at the time of a query."""

    state: CodeState
    root: Path | None
    """Folder of its files, or None if they may not be read here."""
    changed: Collection[str]
    """Files that changed and were not read again."""
    incomplete: bool
    notes: tuple[str, ...] = ()
    """What else limits the answer."""


class _QueryEmbedding(NamedTuple):
    """Vector of a query, and how many chunks it can be compared with."""

    model: str = ""
    vector: Vectors | None = None
    covered: ChunkCoverage = ChunkCoverage()
    missing: Mapping[str, str] = {}
    made: int = 0
    """Number of vectors made for this query."""
    apart: float = 0.0
    """Minimum distance above the mean, in standard deviations, for chunks without a matching word."""


class LocationSearch:
    """Search over one project's chunks, which are loaded on first use and after changes. Thread-safe."""

    def __init__(
        self,
        work: ChunkEmbedding,
        models: Models,
        new_id: NewId,
        may_leave: Callable[[Transaction, str, ModelLocation], bool],
    ) -> None:
        """`may_leave` decides whether a model at a location may read a query."""
        self._work, self._models, self._new_id, self._may_leave = work, models, new_id, may_leave
        self._lock = threading.Lock()
        self._loaded: tuple[object, ChunkSearch] | None = None
        self._unstored = UnstoredChunkVectors(work)
        self._complete: tuple[tuple[int, str], ChunkCoverage] | None = None
        """Generation and model for which every chunk had a vector, and how many."""

    def find(
        self,
        query: str,
        limit: int,
        snapshot: IndexSnapshot,
        *,
        where: CodeFilter = ALL_CODE,
        hurried: bool = False,
        private: bool = False,
        on_progress: OnProgress = ignore_progress,
    ) -> CodeLocations:
        """Search the chunks, without files that changed and were not read again; missing vectors are made first.

        A `hurried` search makes only a few. A `private` query is never sent to a model on another machine.
        """
        if not isinstance(query, str):
            raise InvalidInput(f"query is a {type(query).__name__}; give a string")
        if type(limit) is not int or not 1 <= limit <= MAX_LOCATIONS:
            raise InvalidInput(f"limit is {limit}; give a number from 1 to {MAX_LOCATIONS}")
        status = IndexStatus(tuple(sorted(snapshot.changed)), snapshot.incomplete, notes=snapshot.notes)
        if not query.strip():
            return CodeLocations(query, (), {}, status)
        enough = self._until_few() if hurried else self._until_deadline(on_progress)
        meaning = self._embed_query(query, snapshot, enough, hurried=hurried, private=private)
        missing = dict(meaning.missing)
        if unstored := self._unstored.store():
            missing["stored vectors"] = (
                f"vectors of new code are only in memory, because they could not be stored: {unstored}"
            )
        search = self._search(snapshot.state, meaning)
        changed = frozenset(snapshot.changed)
        missing |= _other_dimension(search, meaning)
        found = search.find(query, meaning.vector, limit=limit, excluded=changed, where=where, apart=meaning.apart)
        shown = tuple(self._with_text(found, snapshot.root))
        status = replace(status, definitions_only=partly_read(each.path for each in shown))
        return CodeLocations(query, shown, missing, status, meaning.made)

    def store_vectors(self, seconds: float) -> None:
        """Store the vectors held in memory, waiting at most `seconds` for another writer."""
        self._unstored.store(seconds)

    def queue(self) -> bool:
        """Queue the embedding of chunks without a vector; returns whether any job was queued."""
        return queue_chunk_embedding(self._work, self._models, self._new_id)

    def _with_text(self, found: Sequence[ChunkMatch], root: Path | None) -> Iterator[CodeLocation]:
        settings, texts = self._work.settings.code, dict[str, str]()
        if root is not None and SHOWN_LINES:
            from treering.code.locations.chunk_texts import chunks_in

            with self._work.store.reading(self._work.scope, self._work.clock()) as tx:
                there = chunks_in(root, {each.path for each in found}, tx.code, settings)
            texts = {digest: chunk.text for digest, chunk in there.items()}
        for each in found:
            lines = redact(texts.get(each.digest, "")).text.split("\n")[:SHOWN_LINES]
            text = "\n".join(lines).rstrip()
            yield CodeLocation(
                each.path, each.symbol, each.start_line, each.end_line, each.score, text, round(each.relevance, 6)
            )

    def _embed_query(
        self, query: str, snapshot: IndexSnapshot, enough: IsEnough, *, hurried: bool, private: bool
    ) -> _QueryEmbedding:
        """The query's vector, after embedding missing chunks if the model is fast enough."""
        try:
            with self._work.store.reading(self._work.scope, self._work.clock()) as tx:
                embedder = self._models.embedder(tx.index.models(), hurried=True)
                allowed = self._may_leave(tx, query, embedder.location)
            if not allowed or (private and embedder.location is not ModelLocation.HERE):
                return _QueryEmbedding(missing={"meaning": f"found by words only: {WITHHELD_QUERY}"})
            before = self._coverage_at(snapshot.state.generation, embedder.model)
            covered = before if snapshot.root is None else self._embed_missing(embedder, before, enough, hurried)
            return _QueryEmbedding(
                embedder.model,
                embedder.query(query) if covered.vectors else None,
                covered,
                _missing_vectors(covered, embedder.model),
                max(0, covered.vectors - before.vectors),
                0.0 if embedder.contextual else MIN_DEVIATIONS,
            )
        except ModelUnavailable as exc:
            self._models.failed("embedder", exc)
            return _QueryEmbedding(missing={"meaning": f"found by words only: {exc}"})

    def _embed_missing(
        self, embedder: Embedder, covered: ChunkCoverage, enough: IsEnough, hurried: bool
    ) -> ChunkCoverage:
        lacking = covered.chunks - covered.vectors
        if not embedder.local or not lacking:
            return covered
        # Load the model first, so that loading is not counted as embedding time.
        embedder.query("")
        if enough(0, lacking):
            return covered
        self._work.embed_all(
            embedder,
            between=lambda made, _last: not enough(made, lacking),
            keep=self._unstored.add,
            known=self._unstored.of(embedder.model),
            batch=min(_AT_ONCE, self._work.settings.embedder.batch) if hurried else None,
        )
        return self._coverage(embedder.model)

    def _coverage_at(self, generation: int, model: str) -> ChunkCoverage:
        """Coverage at a generation, counted until every chunk has a vector: no later change is without a new one."""
        if self._complete is not None and self._complete[0] == (generation, model):
            return self._complete[1]
        covered = self._coverage(model)
        self._complete = ((generation, model), covered) if 0 < covered.chunks == covered.vectors else None
        return covered

    def _coverage(self, model: str) -> ChunkCoverage:
        return self._work.coverage(model, self._unstored.of(model).keys())

    def _until_few(self) -> IsEnough:
        from treering.search.embedding import INLINE_SECONDS

        settings, until = self._work.settings.embedder, list[float]()

        def enough(made: int, _missing_vectors: int) -> bool:
            if not until:
                until.append(monotonic() + INLINE_SECONDS)
            return made >= settings.inline or monotonic() >= until[0]

        return enough

    def _until_deadline(self, on_progress: OnProgress) -> IsEnough:
        seconds = EMBED_SECONDS
        until, few = monotonic() + seconds, self._until_few()

        def enough(made: int, lacking: int) -> bool:
            on_progress(IndexProgress(IndexPhase.VECTORS, made, lacking))
            return made > 0 and monotonic() >= until if seconds else few(made, lacking)

        return enough

    def _search(self, state: CodeState, meaning: _QueryEmbedding) -> ChunkSearch:
        from treering.code.locations.chunk_search import ChunkSearch

        with self._lock:
            current = (state.generation, meaning.model, meaning.covered)
            if self._loaded is None or self._loaded[0] != current:
                self._loaded = None
                # Read before the transaction begins, so that vectors stored meanwhile are in at least one of the two.
                unstored = self._unstored.of(meaning.model)
                with self._work.store.reading(self._work.scope, self._work.clock()) as tx:
                    stored = tx.chunks.vectors(meaning.model) if meaning.vector is not None else {}
                    vectors = {**unstored, **stored}
                    search = ChunkSearch(tx.chunks.every(), vectors)
                self._loaded = current, search
            return self._loaded[1]


def _other_dimension(search: ChunkSearch, meaning: _QueryEmbedding) -> Mapping[str, str]:
    """The reason if the query's vector cannot be compared with those of the chunks: the server has another model."""
    if meaning.vector is None or search.dimension in (0, meaning.vector.size):
        return {}
    return {
        "meaning": f"found by words only: {meaning.model} returned a vector of {meaning.vector.size} numbers, but "
        f"those of the chunks have {search.dimension}; give the model another name and run `treering embed`"
    }


def _missing_vectors(covered: ChunkCoverage, model: str) -> Mapping[str, str]:
    lacking = covered.chunks - covered.vectors
    if not lacking:
        return {}
    if not covered.vectors:
        return {"meaning": f"found by words only: no chunk has a vector of {model}; run `treering embed`"}
    return {
        "meaning of some": f"{lacking:,} of {covered.chunks:,} chunks have no vector of {model} yet; "
        "run `treering embed` to make all of them"
    }
