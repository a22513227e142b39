"""The index of the server engine: the database finds documents, which are scored here as on the embedded engine."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import ColumnElement, Select, select

from treering.adapters.sql.index_base import MIN_LANGUAGE_SHARE, SqlIndex
from treering.adapters.sql.nearby import IN_VIEW, Narrowed, Nearby, Query, make_nearby
from treering.adapters.sql.server_documents import ServerDocuments, read_documents
from treering.adapters.sql.server_statistics import (
    EXACT,
    MAX_POSTINGS,
    Remembered,
    ServerVectorSpace,
    Statistics,
    read_vectors,
)
from treering.adapters.sql.server_words import WordPostings, code_in, holding, kind_number, read_array
from treering.adapters.sql.tables import documents, vectors
from treering.adapters.sql.unstored_vectors import MadeVector
from treering.adapters.vectors.signs import STORED, centred
from treering.core.embedded_text import spaces_of
from treering.ports.index import DOCUMENT_KINDS, Candidates, Coverage, IndexQuery

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treering.adapters.sql.context import TransactionContext
    from treering.core.ranking import BM25

_SEARCHED = set(DOCUMENT_KINDS)
_AT_ONCE = 5_000
# If a filter leaves less than one in this many, the remaining vectors are compared one by one.
_EXACT_BELOW_ONE_IN = 10

_SEEN = """
    SELECT number FROM documents WHERE tenant = %s AND project = %s AND number = ANY(%s::bigint[])
    AND kind = ANY(%s::text[]) AND (owner = '' OR owner = %s) ORDER BY number
"""
_OF_KINDS = "SELECT number FROM documents WHERE tenant = %s AND project = %s AND kind = ANY(%s::text[]) LIMIT %s"
_TURNS_AT = """
    SELECT said.session, said.seq, said.owner, said.visibility, said.text
    FROM unnest(%s::text[], %s::bigint[]) AS wanted (session, seq) CROSS JOIN LATERAL (
        SELECT * FROM turns WHERE tenant = %s AND project = %s
        AND turns.session = wanted.session AND turns.seq = wanted.seq AND NOT tainted LIMIT 1
    ) AS said
"""
_ADDED_VECTORS = """
    INSERT INTO vectors (tenant, project, number, model, digest, vector, owner)
    SELECT tenant, project, number, %s, digest, vector, owner
    FROM unnest(%s::bigint[], %s::text[], %s::bytea[]) AS added (number, digest, vector) JOIN documents USING (number)
    WHERE tenant = %s AND project = %s
    ON CONFLICT DO NOTHING
"""
_CHOSEN_VECTORS = """
    SELECT array_send(array_agg(number)), string_agg(vector, '') FROM (
        SELECT kept.number, kept.vector FROM unnest(%s::bigint[]) AS wanted (number) CROSS JOIN LATERAL (
            SELECT number, vector FROM vectors
            WHERE tenant = %s AND project = %s AND model = %s AND number = wanted.number LIMIT 1
        ) AS kept ORDER BY kept.number
    ) AS found
"""
_ALL_VECTORS = """
    SELECT array_send(array_agg(number)), string_agg(vector, '') FROM (
        SELECT number, vector FROM vectors JOIN documents USING (tenant, project, number, owner)
        WHERE tenant = %s AND project = %s AND model = %s AND number > %s AND {conditions} ORDER BY number LIMIT %s
    ) AS found
"""


@dataclass(frozen=True, slots=True)
class ServerQuery:
    """Documents found by the words of a query, with their scores, and the weight of each word."""

    ranking: BM25
    weights: Sequence[float]
    number: NDArray[np.int64]
    kind: NDArray[np.int64]
    score: NDArray[np.float64]
    complete: bool
    """False if words were too common to examine every document that contains them."""


class ServerIndex(SqlIndex):
    """The documents of one project, as one transaction sees them."""

    def __init__(self, context: TransactionContext, remembered: Remembered, nearby: Nearby | None) -> None:
        super().__init__(context, remembered.unstored)
        self._remembered = remembered
        self._statistics = Statistics(context, remembered)
        self._nearby = nearby
        self._principal = context.scope.principal
        self._asked: tuple[IndexQuery, ServerQuery] | None = None

    def load(self, model: str) -> None:
        """Nothing to load: the server maintains its indexes."""

    def languages(self) -> Sequence[str]:
        return self._statistics.languages(MIN_LANGUAGE_SHARE)

    def speakers(self) -> Collection[int]:
        return self._statistics.speakers()

    def candidates(
        self, wanted: IndexQuery, kinds: Sequence[str], *, limit: int, among: NDArray[np.int64] | None = None
    ) -> Candidates:
        by_words = self._best_by_words(wanted, kinds, limit, among)
        by_meaning = self._best_by_meaning(wanted, kinds, limit, among)
        kept = self._best_unstored(wanted, kinds, limit, among)
        return self._columns(wanted, np.union1d(by_words, np.union1d(by_meaning, kept)))

    def columns_of(self, wanted: IndexQuery, numbers: NDArray[np.int64]) -> Candidates:
        return self._columns(wanted, numbers)

    def word_scores(self, wanted: IndexQuery, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        asked, found = self._ask(wanted), self._documents(numbers, neighbours=False)
        scores = np.zeros(len(numbers))
        there = np.isin(numbers, found.number)
        places = np.searchsorted(found.number, numbers[there])
        scores[there] = found.scores(wanted.words, asked.weights, asked.ranking)[places]
        return scores / (sum(asked.weights) or 1.0)

    def rarity(self, codes: NDArray[np.uint32]) -> NDArray[np.float64]:
        words = [self._codes((int(code),)) for code in codes]
        ranking, held = self._statistics.ranking(), self._statistics.held(words)
        return np.array([ranking.weight(self._statistics.holding(word, held)) for word in words])

    def similarity(self, model: str, numbers: NDArray[np.int64], best: NDArray[np.int64]) -> NDArray[np.float64]:
        space, known = self._statistics.space(model), list(self.vectors(model, best).values())
        if space is None or not known:
            return np.full(len(numbers), np.nan)
        middle = centred(np.array(known), space.mean).mean(axis=0)
        return self._likeness(space, model, middle / (float(np.linalg.norm(middle)) or 1.0), numbers)

    def coverage(self, model: str) -> Coverage:
        total = self._statistics.totals().documents
        return Coverage(total, min(total, self._statistics.vectors(model) + len(self._unstored.of(model))))

    def _addable(self, model: str, numbers: NDArray[np.int64]) -> Collection[int]:
        """Existing documents; does not wait for one that another transaction is purging."""
        held = select(documents.c.number).where(self._among(documents, numbers))
        held = held.with_for_update(read=True, key_share=True, skip_locked=True)
        return set(self._execute(held).scalars())

    def _locked(self, numbers: Sequence[int]) -> Collection[int]:
        present = select(documents.c.number).where(self._among(documents, np.array(numbers, np.int64)))
        return set(self._execute(present).scalars()) if numbers else set()

    def _insert_vectors(self, model: str, found: Sequence[MadeVector]) -> None:
        connection = self._context.connection
        self._nearby = self._nearby or make_nearby(connection)
        if self._nearby is not None:
            self._gather(self._nearby, model)
            self._nearby.add(connection, self._here, model, [(number, vector) for number, _, vector in found])
        numbers, digests, made = map(list, zip(*found, strict=True))
        stored = [vector.astype(STORED).tobytes() for vector in made]
        self._run(_ADDED_VECTORS, (model, numbers, digests, stored, *self._here))
        # A full batch is followed by another one.
        if self._nearby is not None and len(found) < self._context.settings.embedder.batch:
            self._nearby.make_graph(connection, self._here, model, len(made[0]), above=EXACT)

    def drop_vectors(self, *, but: str, beside: str = "") -> int:
        if self._nearby is not None:
            self._nearby.drop(self._context.connection, self._here, but=spaces_of(but, beside))
            # For a role that may create the graph, when vectors were stored by one that may not.
            if dimension := self.dimension(but):
                self._nearby.make_graph(self._context.connection, self._here, but, dimension, above=EXACT)
        return super().drop_vectors(but=but, beside=beside)

    def _hide_removed(self, numbers: NDArray[np.int64]) -> None:
        """Nothing to hide: documents are not cached in memory."""

    def _without_vector(self, model: str, newest: Any) -> ColumnElement[bool]:
        """A later writer may commit first, so there may be gaps before the newest vector."""
        same = [vectors.c[name] == documents.c[name] for name in ("tenant", "project")]
        same.append(vectors.c.number.between(documents.c.number, documents.c.number))
        of_document = select(vectors.c.number).where(*same, vectors.c.model == model)
        # Without statistics, the planner would read every vector of the model for each document: OFFSET keeps it from
        # joining, and the order, which only the primary key has, from using the index by model.
        return ~of_document.order_by(vectors.c.number).offset(0).exists()

    def _waiting_rows(self, model: str, statement: Select[Any], limit: int) -> Sequence[Any]:
        """Continue after the documents that had vectors a moment ago; fewer than `limit` are looked for from the first.

        A document whose writer committed late is therefore found at the latest when no others are left.
        """
        after = self._remembered.embedded.get(model, 0)
        rows = self._execute(statement.where(documents.c.number > after)).all() if after else []
        if len(rows) < limit:
            rows = self._execute(statement).all()
        self._remembered.embedded[model] = rows[0].number - 1 if len(rows) == limit else 0
        return rows

    def _untainted_texts(self, places: Sequence[tuple[str, int]]) -> Iterable[Any]:
        """Look up each place: the planner would compare every turn of the project with all of them."""
        sessions, seqs = map(list, zip(*places, strict=True))
        return list(self._run(_TURNS_AT, (sessions, seqs, *self._here)))

    def _best_by_words(
        self, wanted: IndexQuery, kinds: Sequence[str], limit: int, among: NDArray[np.int64] | None
    ) -> NDArray[np.int64]:
        asked = self._ask(wanted)
        number, kind, score = asked.number, asked.kind, asked.score
        if among is not None and not asked.complete and len(among) <= EXACT:
            found = self._documents(among, neighbours=False)
            number, kind, score = (
                found.number,
                found.kind_number,
                found.scores(wanted.words, asked.weights, asked.ranking),
            )
        allowed = score > 0
        if not set(kinds) >= _SEARCHED:
            allowed &= np.isin(kind, [kind_number(name) for name in kinds])
        if among is not None:
            allowed &= np.isin(number, among)
        number, score = number[allowed], score[allowed]
        return number if len(number) <= limit else number[np.argpartition(-score, limit)[:limit]]

    def _ask(self, wanted: IndexQuery) -> ServerQuery:
        if self._asked is None or self._asked[0] is not wanted:
            self._asked = (wanted, self._answer(wanted))
        return self._asked[1]

    def _answer(self, wanted: IndexQuery) -> ServerQuery:
        """Scores of the documents that contain the words, rarest first while that is fast."""
        statistics, words = self._statistics, [self._codes(forms) for forms in wanted.words]
        ranking, held = statistics.ranking(), statistics.held(words)
        postings = [statistics.most_held(word, held) for word in words]
        rarest = sorted(range(len(words)), key=postings.__getitem__)
        read = np.cumsum([postings[place] for place in rarest])
        looked_up = rarest[: max(1, int(np.searchsorted(read, MAX_POSTINGS, side="right")))]
        codes = sorted({code for place in looked_up for code in words[place] if held.get(code, 1)})
        found = holding(self._context.connection, self._here, codes, MAX_POSTINGS)
        every = _together([found[code] for code in codes if code in found])
        scores, weights = np.zeros(len(every.number)), [0.0] * len(words)
        for place, word in enumerate(words):
            parts = [found[code] for code in word if code in found] if place in looked_up else []
            rows, counts = _rows(every.number, parts)
            whole = place in looked_up and all(len(part.number) < MAX_POSTINGS for part in parts)
            holding_it = len(rows) if whole else statistics.holding(word, held)
            weights[place] = wanted.share(place) * ranking.weight(holding_it)
            scores[rows] += weights[place] * ranking.saturation(counts, every.length[rows])
        complete = len(looked_up) == len(words) and bool(read[-1] <= MAX_POSTINGS if len(read) else True)
        return ServerQuery(ranking, weights, every.number, every.kind, scores, complete)

    def _codes(self, forms: Sequence[int]) -> tuple[int, ...]:
        """Codes of a word: in shared documents, and in the principal's own."""
        return tuple(sorted({code_in(owner, form) for owner in ("", self._principal) for form in forms}))

    def _best_by_meaning(
        self, wanted: IndexQuery, kinds: Sequence[str], limit: int, among: NDArray[np.int64] | None
    ) -> NDArray[np.int64]:
        space = self._statistics.space(wanted.model) if wanted.vector is not None else None
        if space is None or wanted.vector is None:
            return np.empty(0, np.int64)
        among = self._spelled_out(kinds, among)
        if among is not None and not len(among):
            return np.empty(0, np.int64)
        narrowed = Narrowed(
            self._principal,
            None if set(kinds) >= _SEARCHED else tuple(kinds),
            None if among is None else among.tolist(),
        )
        nearby = self._whole_nearby(wanted.model)
        if nearby is None:
            return self._nearest_of_all(space, wanted, narrowed, limit)
        query, enough = Query(centred(wanted.vector, space.mean)[0], space.mean), max(limit, IN_VIEW)
        total = self._statistics.vectors(wanted.model)
        few = total <= EXACT
        if few or among is None:
            return _best(*self._found_near(nearby, wanted.model, query, narrowed, enough, exact=few), limit)
        if len(among) > EXACT and len(among) * _EXACT_BELOW_ONE_IN >= total:
            # Half as many again as expected at random.
            looked_at = enough * 3 * total // (2 * len(among))
            open_wide = replace(narrowed, numbers=None)
            number, likeness = self._found_near(nearby, wanted.model, query, open_wide, looked_at, exact=False)
            allowed = np.isin(number, among)
            if allowed.sum() >= limit:
                return _best(number[allowed], likeness[allowed], limit)
        return _best(*self._found_near(nearby, wanted.model, query, narrowed, enough, exact=True), limit)

    def _best_unstored(
        self, wanted: IndexQuery, kinds: Sequence[str], limit: int, among: NDArray[np.int64] | None
    ) -> NDArray[np.int64]:
        """The best among vectors held only in memory."""
        space = self._statistics.space(wanted.model) if wanted.vector is not None else None
        kept = self._unstored.of(wanted.model)
        if space is None or not kept:
            return np.empty(0, np.int64)
        found = self._run(_SEEN, (*self._here, list(kept), list(kinds), self._principal)).scalars().all()
        number = np.array([each for each in found if each in kept], np.int64)
        number = number if among is None else np.intersect1d(number, among)
        if not len(number):
            return number
        return _best(number, _cosine(space, wanted, np.array([kept[each][2] for each in number.tolist()])), limit)

    def _spelled_out(self, kinds: Sequence[str], among: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
        """Kinds with few documents, as their numbers: a graph search would skip all others to find them."""
        if set(kinds) >= _SEARCHED or (among is not None and len(among) <= EXACT):
            return among
        found = self._run(_OF_KINDS, (*self._here, list(kinds), EXACT + 1)).scalars().all()
        if len(found) > EXACT:
            return among
        numbers = np.array(found, np.int64)
        return numbers if among is None else np.intersect1d(numbers, among)

    def _found_near(
        self, nearby: Nearby, model: str, query: Query, narrowed: Narrowed, limit: int, *, exact: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        return nearby.nearest(self._context.connection, self._here, model, query, narrowed, limit=limit, exact=exact)

    def _whole_nearby(self, model: str) -> Nearby | None:
        """pgvector, if it has every vector."""
        return self._nearby if self._nearby is not None and self._has_all(self._nearby, model) else None

    def _gather(self, nearby: Nearby, model: str) -> None:
        """Copy vectors that are older than the pgvector table into it."""
        if self._has_all(nearby, model):
            return
        while missing := nearby.missing(self._context.connection, self._here, model, _AT_ONCE):
            brought = [(number, read_vectors(stored, 1)[0]) for number, stored in missing]
            nearby.add(self._context.connection, self._here, model, brought)

    def _has_all(self, nearby: Nearby, model: str) -> bool:
        if model not in self._remembered.gathered:
            if not nearby.has_all(self._context.connection, self._here, model):
                return False
            self._remembered.gathered.add(model)
        return True

    def _nearest_of_all(
        self, space: ServerVectorSpace, wanted: IndexQuery, narrowed: Narrowed, limit: int
    ) -> NDArray[np.int64]:
        """Without pgvector, each vector is read and compared."""
        conditions, values = narrowed.conditions()
        statement = _ALL_VECTORS.format(conditions=conditions)
        best, likeness, last = np.empty(0, np.int64), np.empty(0), 0
        while True:
            row = self._run(statement, (*self._here, wanted.model, last, *values, _AT_ONCE)).one()
            numbers = read_array(row[0])
            if not len(numbers):
                return best
            last = int(numbers[-1])
            found = _cosine(space, wanted, read_vectors(row[1], len(numbers)))
            best, likeness = np.concatenate((best, numbers)), np.concatenate((likeness, found))
            if len(best) > limit:
                kept = np.argpartition(-likeness, limit)[:limit]
                best, likeness = best[kept], likeness[kept]

    def _columns(self, wanted: IndexQuery, numbers: NDArray[np.int64]) -> Candidates:
        asked, found = self._ask(wanted), self._documents(numbers, neighbours=True)
        space = self._statistics.space(wanted.model) if wanted.vector is not None else None
        return Candidates(
            number=found.number,
            kind=found.kind,
            at=found.at,
            speaker=found.speaker,
            marks=found.marks,
            length=found.length,
            words=found.scores(wanted.words, asked.weights, asked.ranking),
            meaning=self._meaning(space, wanted, found.number),
            neighbours=found.neighbours(),
            words_weight=sum(asked.weights),
        )

    def _documents(self, numbers: NDArray[np.int64], *, neighbours: bool) -> ServerDocuments:
        return read_documents(
            self._context.connection, self._here, self._principal, numbers.tolist(), neighbours=neighbours
        )

    def _meaning(
        self, space: ServerVectorSpace | None, wanted: IndexQuery, numbers: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        if space is None or wanted.vector is None:
            return np.full(len(numbers), np.nan)
        return self._likeness(space, wanted.model, centred(wanted.vector, space.mean)[0], numbers)

    def _likeness(
        self, space: ServerVectorSpace, model: str, query: NDArray[np.float32], numbers: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Cosines to a centred vector; NaN for a missing or zero vector."""
        if (nearby := self._whole_nearby(model)) is not None:
            connection, asked = self._context.connection, Query(query, space.mean)
            there, found = nearby.likeness(connection, self._here, model, asked, numbers.tolist())
        else:
            row = self._run(_CHOSEN_VECTORS, (numbers.tolist(), *self._here, model)).one()
            there = read_array(row[0])
            found = _likeness_of(read_vectors(row[1], len(there)), query, space)
        kept, known = self._unstored.of(model), frozenset(there.tolist())
        if more := [number for number in numbers.tolist() if number in kept and number not in known]:
            unstored = _likeness_of(np.array([kept[number][2] for number in more]), query, space)
            there, found = np.append(there, more), np.append(found, unstored)
        if not len(there):
            return np.full(len(numbers), np.nan)
        order = np.argsort(there)
        place = order[np.minimum(np.searchsorted(there, numbers, sorter=order), len(there) - 1)]
        return np.where(there[place] == numbers, found[place], np.nan)

    def _run(self, statement: str, values: tuple[Any, ...]) -> Any:
        return self._context.connection.exec_driver_sql(statement, values)


def _together(parts: Sequence[WordPostings]) -> WordPostings:
    """Distinct documents, ordered by number."""
    if not parts:
        return WordPostings(np.empty(0, np.int64), np.empty(0, np.int64))
    number, first = np.unique(np.concatenate([part.number for part in parts]), return_index=True)
    return WordPostings(number, np.concatenate([part.detail for part in parts])[first])


def _rows(number: NDArray[np.int64], parts: Sequence[WordPostings]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Positions in `number` of the documents that contain a word, and its counts over all forms."""
    if not parts:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    if len(parts) == 1:
        return np.searchsorted(number, parts[0].number), parts[0].count
    places = np.searchsorted(number, np.concatenate([part.number for part in parts]))
    summed = np.bincount(places, np.concatenate([part.count for part in parts]))
    rows = np.flatnonzero(summed)
    return rows, summed[rows].astype(np.int64)


def _best(number: NDArray[np.int64], score: NDArray[np.float64], limit: int) -> NDArray[np.int64]:
    return number if len(number) <= limit else number[np.argpartition(-score, limit)[:limit]]


def _cosine(space: ServerVectorSpace, wanted: IndexQuery, found: NDArray[np.float32]) -> NDArray[np.float64]:
    assert wanted.vector is not None
    return _likeness_of(found, centred(wanted.vector, space.mean)[0], space)


def _likeness_of(
    found: NDArray[np.float32], query: NDArray[np.float32], space: ServerVectorSpace
) -> NDArray[np.float64]:
    """Cosine of each vector to a centred query; NaN for a zero vector."""
    return np.where(found.any(axis=1), centred(found, space.mean) @ query, np.nan).astype(np.float64)
