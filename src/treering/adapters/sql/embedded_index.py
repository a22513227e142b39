"""The index of the embedded engine: words and sign bits of a project in memory, updated by each reader.

The file is the source of truth: results count only once the file confirms them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from treering.adapters.sql.index_base import SqlIndex
from treering.adapters.sql.unstored_vectors import MadeVector, PendingVectors
from treering.adapters.vectors.signs import (
    SAMPLE,
    STORED,
    QuantizedVectors,
    SignBits,
    centred,
    first_sampled,
    in_common,
)
from treering.adapters.words.postings import Words, WordScores, score
from treering.adapters.words.segments import DocumentColumns, Segments
from treering.core.embedded_text import part_of, spaces_of
from treering.core.ranking import BM25
from treering.ports.index import DOCUMENT_KINDS, Candidates, Coverage, IndexQuery

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treering.adapters.sql.context import TransactionContext
    from treering.core.settings import RecallSettings

_EPISODE = "episode"
_KIND = {name: place for place, name in enumerate(DOCUMENT_KINDS)}
# The unary plus keeps SQLite from using an index that would read the whole project to find new rows.
_DOCUMENTS = (
    "SELECT number, kind, owner, at, speaker, marks, length, thread, place, language, codes, counts FROM documents "
    "WHERE number > ? AND +tenant = ? AND +project = ? ORDER BY number"
)
_VECTORS = (
    "SELECT number, vector FROM vectors WHERE tenant = ? AND project = ? AND +model = ? AND number > ? ORDER BY number"
)
_ARRIVED = "SELECT count(*) FROM vectors WHERE tenant = ? AND project = ? AND +model = ? AND number > ?"
_FOLLOWING = (
    "SELECT model FROM vectors INDEXED BY vectors_by_model WHERE tenant = ? AND project = ? AND model > ? "
    "ORDER BY model LIMIT 1"
)
_NEWEST = "SELECT coalesce(max(number), 0) FROM vectors WHERE tenant = ? AND project = ? AND model = ?"
_FOLLOWING_DOCUMENTS = (
    "SELECT number FROM documents WHERE number > ? AND number <= ? AND +tenant = ? AND +project = ? "
    "AND (? = '' OR kind = ?) ORDER BY number"
)
_NUMBERS = "SELECT number FROM vectors WHERE tenant = ? AND project = ? AND model = ? ORDER BY number"
_CHOSEN = (
    "SELECT number, vector FROM vectors WHERE tenant = ? AND project = ? AND model = ? "
    "AND number IN (SELECT value FROM json_each(?))"
)
# Rows converted to arrays at a time: enough to be cheap, few enough to keep the peak memory low.
_AT_ONCE = 20_000
# Of very many vectors, at least one in this many is rescored.
_RESCORED_OF = 150


@dataclass(frozen=True)
class VectorSpace:
    """The centred vectors of one model: their sign bits, and the quantized numbers."""

    signs: SignBits
    rounded: QuantizedVectors

    def rows_of(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Rows of these numbers; −1 for those without a vector."""
        known = self.signs.numbers
        if not len(known):
            return np.full(len(numbers), -1, np.int64)
        place = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
        return np.where(known[place] == numbers, place, -1)


@dataclass(frozen=True)
class IndexState:
    """What has been read of a project so far."""

    segments: Segments = field(default_factory=Segments.empty)
    spaces: dict[str, VectorSpace] = field(default_factory=dict)
    languages: Counter[str] = field(default_factory=Counter)
    speakers: Counter[int] = field(default_factory=Counter)
    threads: dict[str, int] = field(default_factory=dict)
    owners: dict[str, int] = field(default_factory=lambda: {"": 0})


class ProjectIndex:
    """The state of one project in this process, shared by its threads."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.state = IndexState()
        self.unstored = PendingVectors()

    def forget_spaces(self, *, but: Collection[str]) -> None:
        with self.lock:
            spaces = {name: space for name, space in self.state.spaces.items() if name in but}
            self.state = replace(self.state, spaces=spaces)


class EmbeddedIndex(SqlIndex):
    """The documents of one project, as one transaction sees them."""

    def __init__(self, context: TransactionContext, loaded: ProjectIndex) -> None:
        super().__init__(context, loaded.unstored)
        self._loaded = loaded
        self._settings: RecallSettings = context.settings.recall
        self._read: IndexState | None = None
        self._models_read: set[str] = set()
        self._scored: tuple[IndexQuery, WordScores] | None = None

    def load(self, model: str) -> None:
        self._state(model)

    def languages(self) -> Sequence[str]:
        found = self._state().languages
        least = found.total() * self._settings.language_share
        return [language for language, count in found.most_common() if language and count >= least]

    def _stored_models(self) -> Sequence[str]:
        found: list[str] = [""]
        while following := self._context.connection.exec_driver_sql(_FOLLOWING, (*self._here, found[-1])).scalar():
            found.append(following)
        return found[1:]

    def speakers(self) -> Collection[int]:
        return {speaker for speaker, count in self._state().speakers.items() if speaker and count > 1}

    def candidates(
        self, wanted: IndexQuery, kinds: Sequence[str], *, limit: int, among: NDArray[np.int64] | None = None
    ) -> Candidates:
        state = self._state(wanted.model)
        allowed = self._allowed(state, kinds, among)
        scored = self._score(wanted)
        by_words = scored.rows if allowed is None else scored.rows[allowed[scored.rows]]
        if len(by_words) > limit:
            by_words = by_words[np.argpartition(-scored.scores[by_words], limit)[:limit]]
        return self._columns(wanted, np.union1d(by_words, self._nearest(state, wanted, limit, allowed)))

    def columns_of(self, wanted: IndexQuery, numbers: NDArray[np.int64]) -> Candidates:
        return self._columns(wanted, self._state(wanted.model).segments.rows_of(np.sort(numbers)))

    def word_scores(self, wanted: IndexQuery, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        segments, scored = self._state().segments, self._score(wanted)
        found = np.zeros(len(numbers))
        rows = segments.rows_of(numbers)
        found[np.isin(numbers, segments.columns.number[rows])] = scored.scores[rows]
        return found / (scored.weight or 1.0)

    def rarity(self, codes: NDArray[np.uint32]) -> NDArray[np.float64]:
        ranking, held = self._ranking(), np.zeros(len(codes), np.int64)
        for part in self._state().segments.parts:
            held += part.spread(codes)
        return np.array([ranking.weight(count) for count in held.tolist()])

    def similarity(self, model: str, numbers: NDArray[np.int64], best: NDArray[np.int64]) -> NDArray[np.float64]:
        space = self._state(model).spaces[model]
        there = best[space.rows_of(best) >= 0]
        if not len(there):
            return np.full(len(numbers), np.nan)
        return _likeness(space, space.rounded.at(space.rows_of(there)).mean(axis=0), numbers)

    def dimension(self, model: str) -> int | None:
        space = self._state(model).spaces[model]
        return len(space.signs.mean) if len(space.signs.numbers) else None

    def coverage(self, model: str) -> Coverage:
        state = self._state(model)
        space = state.spaces.get(model)
        gone = state.segments.columns.number[state.segments.gone]
        embedded = 0 if space is None else len(space.signs.numbers) - int((space.rows_of(gone) >= 0).sum())
        return Coverage(len(state.segments) - len(gone), embedded)

    def _addable(self, model: str, numbers: NDArray[np.int64]) -> Collection[int]:
        """The next documents without a gap: one before the newest vector is never examined again."""
        newest = self._context.connection.exec_driver_sql(_NEWEST, (*self._here, model)).scalar_one()
        kind = _EPISODE if part_of(model) else ""
        span = (newest, int(numbers.max()), *self._here, kind, kind)
        following = self._context.connection.exec_driver_sql(_FOLLOWING_DOCUMENTS, span).scalars()
        return set(takewhile(frozenset(numbers.tolist()).__contains__, following))

    def drop_vectors(self, *, but: str, beside: str = "") -> int:
        self._context.after_commit.append(lambda: self._loaded.forget_spaces(but=spaces_of(but, beside)))
        return super().drop_vectors(but=but, beside=beside)

    def _nearest(
        self, state: IndexState, wanted: IndexQuery, limit: int, allowed: NDArray[np.bool_] | None
    ) -> NDArray[np.int64]:
        """Rows of the best by vector: preselected by sign bits, then ranked by the vectors themselves."""
        space = state.spaces.get(wanted.model)
        if space is None or wanted.vector is None or not len(space.signs.numbers):
            return np.empty(0, np.int64)
        mask = None
        if allowed is not None:
            rows = np.minimum(np.searchsorted(state.segments.columns.number, space.signs.numbers), len(allowed) - 1)
            mask = allowed[rows] & (state.segments.columns.number[rows] == space.signs.numbers)
        deep = max(limit, self._settings.rescored, len(space.signs.numbers) // _RESCORED_OF)
        near = np.sort(space.signs.nearest(wanted.vector, deep, mask))
        likeness = _likeness(space, _seen_apart(space, wanted.vector), near)
        best = near if len(near) <= limit else near[np.argpartition(-likeness, limit)[:limit]]
        return state.segments.rows_of(np.sort(best))

    def _columns(self, wanted: IndexQuery, rows: NDArray[np.int64]) -> Candidates:
        state, seen = self._state(wanted.model), self._seen()
        segments, columns = state.segments, state.segments.columns
        rows = rows if seen is None else rows[seen[rows]]
        around = segments.neighbours(rows, seen)
        every = np.union1d(rows, around[around >= 0])
        number = columns.number[every]
        found = segments.neighbours(every, seen)
        place = np.minimum(np.searchsorted(every, found), max(len(every) - 1, 0))
        within = np.where((found >= 0) & (every[place] == found), place, -1) if len(every) else found
        scored = self._score(wanted)
        return Candidates(
            number=number,
            kind=columns.kind[every],
            at=columns.at[every],
            speaker=columns.speaker[every].astype(np.int64),
            marks=columns.marks[every].astype(np.int64),
            length=columns.length[every].astype(np.int64),
            words=scored.scores[every].astype(np.float64),
            meaning=self._meaning(wanted, number),
            neighbours=within,
            words_weight=scored.weight,
        )

    def _meaning(self, wanted: IndexQuery, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        space = self._state(wanted.model).spaces.get(wanted.model)
        if space is None or wanted.vector is None or not len(space.signs.numbers):
            return np.full(len(numbers), np.nan)
        return _likeness(space, _seen_apart(space, wanted.vector), numbers)

    def _score(self, wanted: IndexQuery) -> WordScores:
        if self._scored is None or self._scored[0] is not wanted:
            segments = self._state(wanted.model).segments
            lengths, seen = segments.columns.length, self._seen()
            self._scored = (wanted, score(segments.parts, wanted, lengths, self._ranking(), seen))
        return self._scored[1]

    def _ranking(self) -> BM25:
        segments, seen = self._state().segments, self._seen()
        documents, words = len(segments), segments.words
        if seen is not None:
            documents, words = int(seen.sum()), int(segments.columns.length[seen].sum())
        average = words / documents if documents else 0.0
        return BM25(documents, average, self._settings.saturation_at, self._settings.length_share)

    def _seen(self) -> NDArray[np.bool_] | None:
        """Mask of the documents that this principal can see; None if all are visible."""
        state = self._state()
        strangers = len(state.owners) - 1 - (self._context.scope.principal in state.owners)
        if not strangers and not state.segments.gone.any():
            return None
        mine = state.owners.get(self._context.scope.principal, 0)
        owner = state.segments.columns.owner
        return np.asarray(~state.segments.gone & ((owner == 0) | (owner == mine)), np.bool_)

    def _allowed(
        self, state: IndexState, kinds: Sequence[str], among: NDArray[np.int64] | None
    ) -> NDArray[np.bool_] | None:
        seen, segments = self._seen(), state.segments
        codes = [_KIND[kind] for kind in kinds]
        present = np.isin(segments.columns.kind, codes)
        allowed = present if seen is None else present & seen
        if among is not None:
            chosen = np.zeros(len(segments), np.bool_)
            chosen[segments.rows_of(np.sort(among))] = True
            allowed &= chosen
        return None if allowed.all() else allowed

    def _hide_removed(self, numbers: NDArray[np.int64]) -> None:
        """Hide documents that the file no longer has, unless they are newer than this transaction.

        Does nothing in a write transaction, whose own removals may be rolled back.
        """
        if self._context.writing:
            return
        with self._loaded.lock:
            segments = self._loaded.state.segments
            rows = segments.rows_of(numbers[numbers <= self._newest_in_file()])
            if len(rows):
                self._loaded.state = replace(self._loaded.state, segments=segments.without(rows))

    def _newest_in_file(self) -> int:
        newest = self._context.connection.exec_driver_sql("SELECT max(number) FROM documents").scalar()
        return int(newest or 0)

    def _state(self, model: str = "") -> IndexState:
        """Up to date with the file. What a transaction has not committed yet is seen by itself alone."""
        if self._read is not None and (not model or model in self._models_read):
            return self._read
        self._models_read.add(model)
        if self._context.is_unchanged():
            with self._loaded.lock:
                self._read = self._loaded.state = self._refreshed(self._loaded.state, model)
        else:
            before: IndexState = self._read or self._context.unsaved.index or self._loaded.state
            self._read = self._refreshed(before, model)
        if self._context.writing:
            self._context.unsaved.index = self._read
        return self._read

    def _refreshed(self, state: IndexState, model: str) -> IndexState:
        state = _with_documents(state, self._fetched(_DOCUMENTS, (state.segments.newest, *self._here)))
        if model:
            state = self._with_vectors(state, model)
        return state

    def _with_vectors(self, state: IndexState, model: str) -> IndexState:
        """With those in the file, then those that are kept in memory and follow them without a gap.

        A gap would stay: vectors are read on after the newest. It appears if another thread has stored vectors since
        this transaction began, and kept others.
        """
        space = state.spaces.get(model)
        known = len(space.signs.numbers) if space else 0
        newest = int(space.signs.numbers[-1]) if space and known else 0
        arrived = self._context.connection.exec_driver_sql(_ARRIVED, (*self._here, model, newest)).scalar_one()
        kept = self._unstored.of(model)
        arrived += sum(number > newest for number in kept)
        if not arrived:
            return state if space else replace(state, spaces={**state.spaces, model: _nothing()})
        if space is None or first_sampled(known + arrived) != first_sampled(known):
            space, newest = self._begun(model, kept), 0
        for rows in self._fetched(_VECTORS, (*self._here, model, newest)):
            space = _grown(space, [number for number, _ in rows], _matrix([vector for _, vector in rows]))
        newest = int(space.signs.numbers[-1]) if len(space.signs.numbers) else 0
        columns = state.segments.columns
        of_space = columns.kind == _KIND[_EPISODE] if part_of(model) else True
        present = columns.number[~state.segments.gone & of_space]
        following = list(takewhile(kept.__contains__, present[present > newest].tolist()))
        if following:
            space = _grown(space, following, np.array([kept[number][2] for number in following]))
        return replace(state, spaces={**state.spaces, model: space})

    def _begun(self, model: str, kept: Mapping[int, MadeVector]) -> VectorSpace:
        """Without vectors yet; what they have in common is known first, by some of them."""
        named = (*self._here, model)
        numbers = [number for (number,) in self._context.connection.exec_driver_sql(_NUMBERS, named)]
        later = [number for number in kept if not numbers or number > numbers[-1]]
        first = first_sampled(len(numbers) + len(later))
        some = [*numbers, *later][: first : max(1, first // SAMPLE)]
        stored = self._context.connection.exec_driver_sql(_CHOSEN, (*named, json.dumps(some)))
        found = [_matrix([vector])[0] for _, vector in stored]
        sample = np.array([*found, *(kept[number][2] for number in sorted(set(some) & set(later)))])
        return VectorSpace(
            SignBits(in_common(sample, first)), QuantizedVectors.of(np.empty((0, sample.shape[1]), np.float32))
        )

    def _fetched(self, statement: str, values: tuple[Any, ...]) -> Iterator[Sequence[Any]]:
        cursor = self._context.connection.exec_driver_sql(statement, values)
        while rows := cursor.fetchmany(_AT_ONCE):
            yield rows


def _with_documents(state: IndexState, fetched: Iterator[Sequence[Any]]) -> IndexState:
    threads, owners = dict(state.threads), dict(state.owners)
    languages, speakers = Counter(state.languages), Counter(state.speakers)
    columns, words = list[DocumentColumns](), list[Words]()
    for rows in fetched:
        table = []
        for number, kind, owner, at, speaker, marks, length, thread, place, language, _codes, _counts in rows:
            languages[language] += 1
            speakers[speaker] += 1
            conversation = threads.setdefault(thread, len(threads) + 1) if thread else 0
            whose = owners.setdefault(owner, len(owners))
            table.append((number, _KIND[kind], whose, at, speaker, marks, length, conversation, place))
        columns.append(DocumentColumns.of(table))
        words.append(Words.of([(row[10], row[11]) for row in rows]))
    if not columns:
        return state
    segments = state.segments.extended(DocumentColumns.joined(columns), Words.joined(words))
    return IndexState(segments, state.spaces, languages, speakers, threads, owners)


def _grown(space: VectorSpace, numbers: Sequence[int], vectors: NDArray[np.float32]) -> VectorSpace:
    apart = centred(vectors, space.signs.mean)
    signs = space.signs.extended(np.array(numbers, np.int64), apart)
    return VectorSpace(signs, space.rounded.joined(QuantizedVectors.of(apart)))


def _likeness(space: VectorSpace, query: NDArray[np.float32], numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    """Cosines to a centred vector; NaN for a missing or zero vector."""
    likeness = np.full(len(numbers), np.nan)
    rows = space.rows_of(numbers)
    there = np.flatnonzero(rows >= 0)
    there = there[space.rounded.scales[rows[there]] > 0]
    length = float(np.linalg.norm(query))
    if len(there) and length:
        likeness[there] = space.rounded.at(rows[there]) @ (query / length)
    return likeness


def _seen_apart(space: VectorSpace, vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """A query's centred vector."""
    return np.asarray(centred(vector, space.signs.mean)[0], np.float32)


def _nothing() -> VectorSpace:
    return VectorSpace(SignBits(np.zeros(0, np.float32)), QuantizedVectors.of(np.empty((0, 0), np.float32)))


def _matrix(vectors: Sequence[bytes]) -> NDArray[np.float32]:
    flat = np.frombuffer(b"".join(vectors), STORED).astype(np.float32)
    return flat.reshape(len(vectors), -1)
