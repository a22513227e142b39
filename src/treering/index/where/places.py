"""Where is …? Places in the code, by their words and, where chunks have vectors, by their meaning."""

import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, overload

from treering.core.errors import InvalidInput, ModelUnavailable, StoreError
from treering.core.places import CodePlace
from treering.core.secrets import redact
from treering.index.graph import Standing
from treering.index.where.embedding import ChunkEmbedding, queue_chunk_embedding
from treering.index.where.texts import chunks_in
from treering.ports.clock import NewId
from treering.ports.code import CodeState
from treering.ports.code_chunks import ChunkCoverage
from treering.ports.models import Embedder, Models, Vectors

if TYPE_CHECKING:
    from treering.index.where.finding import ChunkSearch, Where

MOST = 100
"""Places of one answer."""


@dataclass(frozen=True, slots=True)
class Whereabouts(Sequence[CodePlace]):
    """The places that answer, best first, and how far they can be relied on.

    `missing` says which ways of finding were not available and why.
    """

    query: str
    places: tuple[CodePlace, ...]
    missing: Mapping[str, str] = field(default_factory=dict)
    standing: Standing = field(default_factory=Standing)

    @overload
    def __getitem__(self, place: int) -> CodePlace: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[CodePlace, ...]: ...
    def __getitem__(self, place: int | slice) -> CodePlace | tuple[CodePlace, ...]:
        return self.places[place]

    def __iter__(self) -> Iterator[CodePlace]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)


class Seen(NamedTuple):
    """A project's index as it stands now."""

    state: CodeState
    root: Path | None
    """Where its files are, if they may be read."""
    changed: Collection[str]
    """Files that are not what was read of them."""
    incomplete: bool


class _Meaning(NamedTuple):
    """A query's vector, and how many chunks it can be compared with."""

    model: str = ""
    vector: "Vectors | None" = None
    covered: ChunkCoverage = ChunkCoverage()
    missing: Mapping[str, str] = {}


class Places:
    """One project's chunks, loaded when they are first asked for and again when they changed. For many threads."""

    def __init__(self, work: ChunkEmbedding, models: Models, new_id: NewId) -> None:
        self._work, self._models, self._new_id = work, models, new_id
        self._lock = threading.Lock()
        self._loaded: tuple[object, ChunkSearch] | None = None

    def find(self, query: str, limit: int, seen: Seen) -> Whereabouts:
        """Nothing of a file that changed and was not read again."""
        if not isinstance(query, str):
            raise InvalidInput(f"the question is a {type(query).__name__}; ask in words")
        if type(limit) is not int or not 1 <= limit <= MOST:
            raise InvalidInput(f"limit is {limit}; ask for 1 to {MOST}")
        standing = Standing(tuple(sorted(seen.changed)), seen.incomplete)
        if not query.strip():
            return Whereabouts(query, (), {}, standing)
        meaning = self._meaning(query)
        search = self._search(seen.state, meaning)
        found = search.find(query, meaning.vector, limit=limit, but=frozenset(seen.changed))
        return Whereabouts(query, tuple(self._shown(found, seen.root)), meaning.missing, standing)

    def queue(self) -> bool:
        """Have vectors made of what has none, in the background; whether there is something to do."""
        return queue_chunk_embedding(self._work, self._models, self._new_id)

    def _shown(self, found: "Sequence[Where]", root: Path | None) -> Iterator[CodePlace]:
        settings, texts = self._work.settings.index, dict[str, str]()
        if root is not None and settings.finding.shown_lines:
            with self._work.store.reading(self._work.scope, self._work.clock()) as tx:
                there = chunks_in(root, {each.path for each in found}, tx.code, settings)
            texts = {digest: chunk.text for digest, chunk in there.items()}
        for each in found:
            lines = redact(texts.get(each.digest, "")).text.split("\n")[: settings.finding.shown_lines]
            text = "\n".join(lines).rstrip()
            yield CodePlace(each.path, each.symbol, each.start_line, each.end_line, each.score, text)

    def _meaning(self, query: str) -> _Meaning:
        """New chunks are embedded first where they are few and the model is quick enough for somebody who waits."""
        try:
            with self._work.store.reading(self._work.scope, self._work.clock()) as tx:
                embedder = self._models.embedder(tx.index.models(), hurried=True)
                covered = tx.chunks.coverage(embedder.model)
            covered = self._caught_up(embedder, covered)
            if not covered.vectors:
                return _Meaning(embedder.model, None, covered, _lacking(covered, embedder.model))
            return _Meaning(embedder.model, embedder.query(query), covered, _lacking(covered, embedder.model))
        except ModelUnavailable as exc:
            self._models.failed("embedder", exc)
            return _Meaning(missing={"meaning": f"found by words only: {exc}"})

    def _caught_up(self, embedder: Embedder, covered: ChunkCoverage) -> ChunkCoverage:
        few = 0 < covered.chunks - covered.vectors <= self._work.settings.embedder.inline
        if not few or not embedder.local:
            return covered
        # A store that cannot be written now is searched as it is; what lacks a vector is said in the answer.
        with suppress(StoreError):
            self._work.all(embedder)
        return self._work.coverage(embedder.model)

    def _search(self, state: CodeState, meaning: _Meaning) -> "ChunkSearch":
        from treering.index.where.finding import ChunkSearch

        with self._lock:
            current = (state.generation, meaning.model, meaning.covered)
            if self._loaded is None or self._loaded[0] != current:
                self._loaded = None
                with self._work.store.reading(self._work.scope, self._work.clock()) as tx:
                    vectors = tx.chunks.vectors(meaning.model) if meaning.vector is not None else {}
                    search = ChunkSearch(tx.chunks.every(), vectors, self._work.settings.index.finding)
                self._loaded = current, search
            return self._loaded[1]


def _lacking(covered: ChunkCoverage, model: str) -> Mapping[str, str]:
    lacking = covered.chunks - covered.vectors
    if not lacking:
        return {}
    if not covered.vectors:
        return {"meaning": f"found by words only: no piece of code has a vector of {model}; run `treering embed`"}
    return {"meaning of some": f"{lacking:,} of {covered.chunks:,} have no vector; run `treering embed`"}
