"""Where is …? Places in the code, by their words and, where chunks have vectors, by their meaning."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple, overload

from treering.code.build.report import Phase, Progress, nobody
from treering.code.graph import Standing
from treering.code.locations.embedding import ChunkEmbedding, queue_chunk_embedding
from treering.code.locations.unstored_vectors import UnstoredVectors
from treering.core.code_locations import CodeLocation
from treering.core.errors import InvalidInput, ModelUnavailable
from treering.core.privacy import WITHHELD_QUERY, ModelLocation
from treering.core.queries import ALL_CODE, CodeFilter
from treering.core.secrets import redact
from treering.ports.code_chunks import ChunkCoverage

if TYPE_CHECKING:
    from treering.code.build.update import Tell
    from treering.code.locations.chunk_search import ChunkSearch, Where
    from treering.ports.clock import NewId
    from treering.ports.code import CodeState
    from treering.ports.models import Embedder, Models, Vectors
    from treering.ports.store import Transaction

Enough = Callable[[int, int], bool]
"""Whether so many vectors are enough for now, of so many that are missing."""

_AT_ONCE = 64
"""Chunks that get their vectors before a hurried search looks at the clock again."""
MOST = 100
"""Places of one answer."""


@dataclass(frozen=True, slots=True)
class Whereabouts(Sequence[CodeLocation]):
    """The places that answer, best first, one for each definition, and how far they can be relied on.

    `missing` says which ways of finding were not available and why. `embedded` pieces of code got their vectors first.
    """

    query: str
    places: tuple[CodeLocation, ...]
    missing: Mapping[str, str] = field(default_factory=dict)
    standing: Standing = field(default_factory=Standing)
    embedded: int = 0

    @overload
    def __getitem__(self, place: int) -> CodeLocation: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[CodeLocation, ...]: ...
    def __getitem__(self, place: int | slice) -> CodeLocation | tuple[CodeLocation, ...]:
        return self.places[place]

    def __iter__(self) -> Iterator[CodeLocation]:
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
    vector: Vectors | None = None
    covered: ChunkCoverage = ChunkCoverage()
    missing: Mapping[str, str] = {}
    made: int = 0
    """Vectors that were made for this question."""
    apart: float = 0.0
    """How far above the rest a chunk must be by its meaning alone."""


class Places:
    """One project's chunks, loaded when they are first asked for and again when they changed. For many threads."""

    def __init__(
        self,
        work: ChunkEmbedding,
        models: Models,
        new_id: NewId,
        may_leave: Callable[[Transaction, str, ModelLocation], bool],
    ) -> None:
        """`may_leave` says whether a model at a location may read a query."""
        self._work, self._models, self._new_id, self._may_leave = work, models, new_id, may_leave
        self._lock = threading.Lock()
        self._loaded: tuple[object, ChunkSearch] | None = None
        self._unstored = UnstoredVectors(work)

    def find(
        self,
        query: str,
        limit: int,
        seen: Seen,
        *,
        where: CodeFilter = ALL_CODE,
        hurried: bool = False,
        private: bool = False,
        tell: Tell = nobody,
    ) -> Whereabouts:
        """Nothing of a file that changed and was not read again. Where vectors are missing some are made first.

        Who is `hurried` waits for few of them. A `private` query is sent to no model on another machine.
        """
        if not isinstance(query, str):
            raise InvalidInput(f"the question is a {type(query).__name__}; ask in words")
        if type(limit) is not int or not 1 <= limit <= MOST:
            raise InvalidInput(f"limit is {limit}; ask for 1 to {MOST}")
        standing = Standing(tuple(sorted(seen.changed)), seen.incomplete)
        if not query.strip():
            return Whereabouts(query, (), {}, standing)
        enough = self._few() if hurried else self._for_some_seconds(tell)
        meaning = self._meaning(query, seen.root, enough, hurried=hurried, private=private)
        missing = dict(meaning.missing)
        if unstored := self._unstored.store():
            missing["stored vectors"] = f"vectors of new code are only in memory: {unstored}"
        search = self._search(seen.state, meaning)
        changed = frozenset(seen.changed)
        found = search.find(query, meaning.vector, limit=limit, but=changed, where=where, apart=meaning.apart)
        shown = tuple(self._shown(found, seen.root))
        return Whereabouts(query, shown, missing, standing, meaning.made)

    def store_vectors(self, seconds: float) -> None:
        """Store the vectors that are kept in memory, unless another writer has to be waited for longer than this."""
        self._unstored.store(seconds)

    def queue(self) -> bool:
        """Have vectors made of what has none, in the background; whether there is something to do."""
        return queue_chunk_embedding(self._work, self._models, self._new_id)

    def _shown(self, found: Sequence[Where], root: Path | None) -> Iterator[CodeLocation]:
        settings, texts = self._work.settings.index, dict[str, str]()
        if root is not None and settings.finding.shown_lines:
            from treering.code.locations.chunk_texts import chunks_in

            with self._work.store.reading(self._work.scope, self._work.clock()) as tx:
                there = chunks_in(root, {each.path for each in found}, tx.code, settings)
            texts = {digest: chunk.text for digest, chunk in there.items()}
        for each in found:
            lines = redact(texts.get(each.digest, "")).text.split("\n")[: settings.finding.shown_lines]
            text = "\n".join(lines).rstrip()
            yield CodeLocation(
                each.path, each.symbol, each.start_line, each.end_line, each.score, text, round(each.relevance, 6)
            )

    def _meaning(self, query: str, root: Path | None, enough: Enough, *, hurried: bool, private: bool) -> _Meaning:
        """Chunks without a vector are embedded first where the model is quick enough for somebody who waits."""
        try:
            with self._work.store.reading(self._work.scope, self._work.clock()) as tx:
                embedder = self._models.embedder(tx.index.models(), hurried=True)
                allowed = self._may_leave(tx, query, embedder.location)
            if not allowed or (private and embedder.location is not ModelLocation.HERE):
                return _Meaning(missing={"meaning": f"found by words only: {WITHHELD_QUERY}"})
            before = self._coverage(embedder.model)
            covered = before if root is None else self._caught_up(embedder, before, enough, hurried)
            return _Meaning(
                embedder.model,
                embedder.query(query) if covered.vectors else None,
                covered,
                _lacking(covered, embedder.model),
                max(0, covered.vectors - before.vectors),
                0.0 if embedder.contextual else self._work.settings.index.finding.apart,
            )
        except ModelUnavailable as exc:
            self._models.failed("embedder", exc)
            return _Meaning(missing={"meaning": f"found by words only: {exc}"})

    def _caught_up(self, embedder: Embedder, covered: ChunkCoverage, enough: Enough, hurried: bool) -> ChunkCoverage:
        lacking = covered.chunks - covered.vectors
        if not embedder.local or not lacking:
            return covered
        # The time that a model takes to load is not that of its vectors.
        embedder.query("")
        if enough(0, lacking):
            return covered
        self._work.all(
            embedder,
            between=lambda made, _last: not enough(made, lacking),
            keep=self._unstored.add,
            known=self._unstored.of(embedder.model),
            batch=min(_AT_ONCE, self._work.settings.embedder.batch) if hurried else None,
        )
        return self._coverage(embedder.model)

    def _coverage(self, model: str) -> ChunkCoverage:
        return self._work.coverage(model, self._unstored.of(model).keys())

    def _few(self) -> Enough:
        settings, until = self._work.settings.embedder, list[float]()

        def enough(made: int, _lacking: int) -> bool:
            if not until:
                until.append(monotonic() + settings.inline_seconds)
            return made >= settings.inline or monotonic() >= until[0]

        return enough

    def _for_some_seconds(self, tell: Tell) -> Enough:
        seconds = self._work.settings.index.finding.embed_seconds
        until, few = monotonic() + seconds, self._few()

        def enough(made: int, lacking: int) -> bool:
            tell(Progress(Phase.VECTORS, made, lacking))
            return made > 0 and monotonic() >= until if seconds else few(made, lacking)

        return enough

    def _search(self, state: CodeState, meaning: _Meaning) -> ChunkSearch:
        from treering.code.locations.chunk_search import ChunkSearch

        with self._lock:
            current = (state.generation, meaning.model, meaning.covered)
            if self._loaded is None or self._loaded[0] != current:
                self._loaded = None
                # Read before the transaction begins: vectors that another thread stores meanwhile are in one of both.
                kept = self._unstored.of(meaning.model)
                with self._work.store.reading(self._work.scope, self._work.clock()) as tx:
                    stored = tx.chunks.vectors(meaning.model) if meaning.vector is not None else {}
                    vectors = {**kept, **stored}
                    search = ChunkSearch(tx.chunks.every(), vectors, self._work.settings.index.finding)
                self._loaded = current, search
            return self._loaded[1]


def _lacking(covered: ChunkCoverage, model: str) -> Mapping[str, str]:
    lacking = covered.chunks - covered.vectors
    if not lacking:
        return {}
    if not covered.vectors:
        return {"meaning": f"found by words only: no piece of code has a vector of {model}; run `treering embed`"}
    return {
        "meaning of some": f"{lacking:,} of {covered.chunks:,} pieces of code have no vector of {model} yet; "
        "`treering embed` makes all of them"
    }
