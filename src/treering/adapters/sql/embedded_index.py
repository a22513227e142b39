"""The index of the embedded engine: words and sign bits of a project in memory, updated by each reader.

The file is the source of truth: results count only once the file confirms them.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np

from treering.adapters.arrays.sets import distinct, union
from treering.adapters.sql.index_base import MIN_LANGUAGE_SHARE, SqlIndex
from treering.adapters.sql.index_state import DOCUMENTS, KIND_NUMBERS, IndexState, as_matrix, with_documents
from treering.adapters.sql.unstored_vectors import MadeVector
from treering.adapters.vectors.signs import SAMPLE, first_sampled, in_common
from treering.adapters.vectors.space import VectorSpace
from treering.adapters.words.postings import WordScores, containing, holding, score, score_rows
from treering.core.embedded_text import part_of, spaces_of
from treering.core.ranking import BM25, BM25_B, BM25_K1
from treering.ports.index import Candidates, Coverage, IndexQuery

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treering.adapters.sql.context import TransactionContext
    from treering.adapters.sql.project_index import ProjectIndex
    from treering.core.settings import SearchSettings

MAX_RESCORED = 1_500  # vectors compared exactly after their sign bits; fewer lose recall, more cost time

_EPISODE = "episode"
_VECTORS = (
    "SELECT number, vector FROM vectors WHERE tenant = ? AND project = ? AND +model = ? AND number > ? ORDER BY number"
)
_ARRIVED = "SELECT count(*) FROM vectors WHERE tenant = ? AND project = ? AND +model = ? AND number > ?"
_FOLLOWING = (
    "SELECT model FROM vectors INDEXED BY vectors_by_model WHERE tenant = ? AND project = ? AND model > ? "
    "ORDER BY model LIMIT 1"
)
_NEWEST = "SELECT coalesce(max(number), 0) FROM vectors WHERE tenant = ? AND project = ? AND model = ?"
# By number: SQLite may prefer an index by kind or model, and would read all documents or vectors of the project.
_WAITING = (
    "SELECT number, kind, id, length FROM documents WHERE number > max(?, (SELECT coalesce(max(number), 0) "
    "FROM vectors WHERE tenant = ? AND project = ? AND +model = ?)) AND +tenant = ? AND +project = ? "
    "ORDER BY number LIMIT ?"
)
# Few documents are episodes.
_WAITING_EPISODES = (
    "SELECT number, kind, id, length FROM documents WHERE number > max(?, (SELECT coalesce(max(number), 0) "
    "FROM vectors WHERE tenant = ? AND project = ? AND model = ?)) AND tenant = ? AND project = ? "
    f"AND kind = '{_EPISODE}' ORDER BY number LIMIT ?"
)
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


class EmbeddedIndex(SqlIndex):
    """The documents of one project, as one transaction sees them."""

    def __init__(self, context: TransactionContext, loaded: ProjectIndex) -> None:
        super().__init__(context, loaded.unstored)
        self._loaded = loaded
        self._settings: SearchSettings = context.settings.search
        self._read: IndexState | None = None
        self._models_read: set[str] = set()
        self._scored: tuple[IndexQuery, WordScores] | None = None
        self._visible: tuple[IndexState, NDArray[np.bool_] | None] | None = None

    def load(self, model: str) -> None:
        self._state(model)

    def languages(self) -> Sequence[str]:
        found = self._state().languages
        least = found.total() * MIN_LANGUAGE_SHARE
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
        return self._columns(wanted, union(by_words, self._nearest(state, wanted, limit, allowed)))

    def columns_of(self, wanted: IndexQuery, numbers: NDArray[np.int64]) -> Candidates:
        return self._columns(wanted, self._state(wanted.model).segments.rows_of(np.sort(numbers)))

    def containing(self, words: Sequence[Sequence[int]], numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
        segments = self._state().segments
        rows = segments.rows_of(numbers)
        found = np.zeros((len(numbers), len(words)), np.bool_)
        found[np.isin(numbers, segments.columns.number[rows])] = containing(segments.postings, words, rows)
        return found

    def holding(self, words: Sequence[Sequence[int]], kinds: Sequence[str]) -> NDArray[np.int64]:
        segments, seen = self._state().segments, self._seen()
        found = [holding(segments.postings, forms)[0] for forms in words]
        rows = distinct(np.concatenate(found)) if found else np.empty(0, np.int64)
        rows = rows if seen is None else rows[seen[rows]]
        return segments.columns.number[
            rows[np.isin(segments.columns.kind[rows], [KIND_NUMBERS[kind] for kind in kinds])]
        ]

    def word_scores(self, wanted: IndexQuery, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        segments, seen = self._state().segments, self._seen()
        rows = segments.rows_of(numbers)
        lengths = segments.columns.length[rows]
        scores, weight = score_rows(segments.postings, wanted, rows, lengths, ranking=self._ranking(), seen=seen)
        scores = scores if seen is None else scores * seen[rows]
        found = np.zeros(len(numbers))
        found[slice(None) if len(rows) == len(numbers) else np.isin(numbers, segments.columns.number[rows])] = scores
        return found / (weight or 1.0)

    def rarity(self, codes: NDArray[np.uint32]) -> NDArray[np.float64]:
        ranking, held = self._ranking(), np.zeros(len(codes), np.int64)
        for part in self._state().segments.postings:
            held += part.spread(codes)
        return np.array([ranking.weight(count) for count in held.tolist()])

    def similarity(self, model: str, numbers: NDArray[np.int64], best: NDArray[np.int64]) -> NDArray[np.float64]:
        space = self._state(model).spaces[model]
        there = best[space.rows_of(best) >= 0]
        if not len(there):
            return np.full(len(numbers), np.nan)
        return space.likeness(space.at(space.rows_of(there)).mean(axis=0), numbers)

    def dimension(self, model: str) -> int | None:
        space = self._state(model).spaces[model]
        return len(space.mean) if len(space.numbers) else None

    def coverage(self, model: str) -> Coverage:
        state = self._state(model)
        space = state.spaces.get(model)
        gone = state.segments.removed_numbers
        embedded = 0 if space is None else len(space.numbers) - int((space.rows_of(gone) >= 0).sum())
        return Coverage(len(state.segments) - len(gone), embedded)

    def _addable(self, model: str, numbers: NDArray[np.int64]) -> Collection[int]:
        """The next documents without a gap: one before the newest vector is never examined again."""
        newest = self._context.connection.exec_driver_sql(_NEWEST, (*self._here, model)).scalar_one()
        kind = _EPISODE if part_of(model) else ""
        span = (newest, int(numbers.max()), *self._here, kind, kind)
        following = self._context.connection.exec_driver_sql(_FOLLOWING_DOCUMENTS, span).scalars()
        return set(takewhile(frozenset(numbers.tolist()).__contains__, following))

    def _waiting_rows(self, model: str, after: int, limit: int) -> Sequence[Any]:
        """Those after the newest vector: the single writer stores vectors in the order of their documents."""
        statement = _WAITING_EPISODES if part_of(model) else _WAITING
        values = (after, *self._here, model, *self._here, limit)
        return self._context.connection.exec_driver_sql(statement, values).all()

    def hold_vectors(self, model: str, vectors: Sequence[MadeVector]) -> None:
        super().hold_vectors(model, vectors)
        self._models_read.discard(model)

    def drop_vectors(self, *, but: str, beside: str = "") -> int:
        self._context.after_commit.append(lambda: self._loaded.forget_spaces(but=spaces_of(but, beside)))
        return super().drop_vectors(but=but, beside=beside)

    def _nearest(
        self, state: IndexState, wanted: IndexQuery, limit: int, allowed: NDArray[np.bool_] | None
    ) -> NDArray[np.int64]:
        """Rows of the best by vector: preselected by sign bits, then ranked by the vectors themselves."""
        space = state.spaces.get(wanted.model)
        if space is None or wanted.vector is None or not len(space.numbers):
            return np.empty(0, np.int64)
        mask = None
        if allowed is not None:
            rows = np.minimum(np.searchsorted(state.segments.columns.number, space.numbers), len(allowed) - 1)
            mask = allowed[rows] & (state.segments.columns.number[rows] == space.numbers)
        deep = max(limit, MAX_RESCORED, len(space.numbers) // _RESCORED_OF)
        query = space.centred(wanted.vector)
        near = space.numbers[space.nearest(query, deep, mask)]
        likeness = space.likeness(query, near)
        best = near if len(near) <= limit else near[np.argpartition(-likeness, limit)[:limit]]
        return state.segments.rows_of(np.sort(best))

    def _columns(self, wanted: IndexQuery, rows: NDArray[np.int64]) -> Candidates:
        state, seen = self._state(wanted.model), self._seen()
        segments, columns = state.segments, state.segments.columns
        rows = rows if seen is None else rows[seen[rows]]
        around = segments.neighbours(rows, seen)
        every = union(rows, around[around >= 0])
        number = columns.number[every]
        found = segments.neighbours(every, seen)
        place = np.minimum(np.searchsorted(every, found), max(len(every) - 1, 0))
        within = np.where((found >= 0) & (every[place] == found), place, -1) if len(every) else found
        words, words_weight = self._scores_at(wanted, every)
        return Candidates(
            number=number,
            kind=columns.kind[every],
            at=columns.at[every],
            speaker=columns.speaker[every].astype(np.int64),
            marks=columns.marks[every].astype(np.int64),
            length=columns.length[every].astype(np.int64),
            words=words.astype(np.float64),
            meaning=self._meaning(wanted, number),
            neighbours=within,
            words_weight=words_weight,
        )

    def _meaning(self, wanted: IndexQuery, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        space = self._state(wanted.model).spaces.get(wanted.model)
        if space is None or wanted.vector is None or not len(space.numbers):
            return np.full(len(numbers), np.nan)
        return space.likeness(space.centred(wanted.vector), numbers)

    def _scores_at(self, wanted: IndexQuery, rows: NDArray[np.int64]) -> tuple[NDArray[np.float32], float]:
        """Scores of these rows, and the total weight of the words."""
        if self._scored is not None and self._scored[0] is wanted:
            return self._scored[1].scores[rows], self._scored[1].weight
        segments, seen = self._state(wanted.model).segments, self._seen()
        lengths = segments.columns.length[rows]
        return score_rows(segments.postings, wanted, rows, lengths, ranking=self._ranking(), seen=seen)

    def _score(self, wanted: IndexQuery) -> WordScores:
        if self._scored is None or self._scored[0] is not wanted:
            segments = self._state(wanted.model).segments
            lengths, seen = segments.columns.length, self._seen()
            self._scored = (wanted, score(segments.postings, wanted, lengths, self._ranking(), seen))
        return self._scored[1]

    def _ranking(self) -> BM25:
        segments, seen = self._state().segments, self._seen()
        documents, words = len(segments), segments.words
        if seen is not None:
            documents, words = int(seen.sum()), int(segments.columns.length[seen].sum())
        average = words / documents if documents else 0.0
        return BM25(documents, average, BM25_K1, BM25_B)

    def _seen(self) -> NDArray[np.bool_] | None:
        """Mask of the documents that this principal can see; None if all are visible."""
        state = self._state()
        if self._visible is None or self._visible[0] is not state:
            self._visible = (state, state.visible_to(self._context.scope.principal))
        return self._visible[1]

    def _allowed(
        self, state: IndexState, kinds: Sequence[str], among: NDArray[np.int64] | None
    ) -> NDArray[np.bool_] | None:
        seen, segments = self._seen(), state.segments
        codes = {KIND_NUMBERS[kind] for kind in kinds}
        if among is not None:
            rows = segments.rows_of(np.sort(among))
            chosen = rows[np.isin(segments.columns.kind[rows], list(codes))]
            allowed = np.zeros(len(segments), np.bool_)
            allowed[chosen] = True if seen is None else seen[chosen]
            return allowed
        if codes >= segments.kinds:
            return seen
        present = np.isin(segments.columns.kind, list(codes))
        return present if seen is None else present & seen

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
                self._loaded.restore(self._context.connection)
                self._read = self._loaded.state = self._refreshed(self._loaded.state, model)
                self._loaded.save()
        else:
            before: IndexState = self._read or self._context.unsaved.index or self._loaded.state
            self._read = self._refreshed(before, model)
        if self._context.writing:
            self._context.unsaved.index = self._read
        return self._read

    def _refreshed(self, state: IndexState, model: str) -> IndexState:
        state = with_documents(state, self._fetched(DOCUMENTS, (state.segments.newest, *self._here)))
        if model:
            state = self._with_vectors(state, model)
        return state

    def _with_vectors(self, state: IndexState, model: str) -> IndexState:
        """With those in the file, then those that are kept in memory and follow them without a gap.

        A gap would stay: vectors are read on after the newest. It appears if another thread has stored vectors since
        this transaction began, and kept others.
        """
        space = state.spaces.get(model)
        known, newest = (len(space), space.newest) if space is not None else (0, 0)
        arrived = self._context.connection.exec_driver_sql(_ARRIVED, (*self._here, model, newest)).scalar_one()
        kept = self._unstored.of(model)
        arrived += sum(number > newest for number in kept)
        if not arrived:
            return state if space is not None else replace(state, spaces={**state.spaces, model: VectorSpace.empty()})
        if space is None or first_sampled(known + arrived) != first_sampled(known):
            space, newest = self._begun(model, kept), 0
        for rows in self._fetched(_VECTORS, (*self._here, model, newest)):
            space = space.extended([number for number, _ in rows], as_matrix([vector for _, vector in rows]))
        newest = space.newest
        columns = state.segments.columns
        of_space = columns.kind == KIND_NUMBERS[_EPISODE] if part_of(model) else True
        present = columns.number[~state.segments.gone & of_space]
        following = list(takewhile(kept.__contains__, present[present > newest].tolist()))
        if following:
            space = space.extended(following, np.array([kept[number][2] for number in following]))
        return replace(state, spaces={**state.spaces, model: space})

    def _begun(self, model: str, kept: Mapping[int, MadeVector]) -> VectorSpace:
        """Without vectors yet; what they have in common is known first, by some of them."""
        named = (*self._here, model)
        numbers = [number for (number,) in self._context.connection.exec_driver_sql(_NUMBERS, named)]
        later = [number for number in kept if not numbers or number > numbers[-1]]
        first = first_sampled(len(numbers) + len(later))
        some = [*numbers, *later][: first : max(1, first // SAMPLE)]
        stored = self._context.connection.exec_driver_sql(_CHOSEN, (*named, json.dumps(some)))
        found = [as_matrix([vector])[0] for _, vector in stored]
        sample = np.array([*found, *(kept[number][2] for number in sorted(set(some) & set(later)))])
        return VectorSpace.of(in_common(sample, first))

    def _fetched(self, statement: str, values: tuple[Any, ...]) -> Iterator[Sequence[Any]]:
        cursor = self._context.connection.exec_driver_sql(statement, values)
        while rows := cursor.fetchmany(_AT_ONCE):
            yield rows
