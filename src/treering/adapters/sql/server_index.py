"""The index of the server engine: the database finds documents, which are scored here as on the embedded engine."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import Select, bindparam, select

from treering.adapters.sql.index_base import MIN_LANGUAGE_SHARE, SqlIndex
from treering.adapters.sql.kinds import EPISODES, TURNS
from treering.adapters.sql.posting_blocks import move_to_blocks, read_array, sent_array
from treering.adapters.sql.rows import sent_column
from treering.adapters.sql.server_documents import ServerDocuments
from treering.adapters.sql.server_matches import matching_statement, numbers_statement
from treering.adapters.sql.server_statistics import EXACT, MAX_POSTINGS, Remembered, Statement, Statistics, run_together
from treering.adapters.sql.server_vectors import ServerVectors, VectorFilter
from treering.adapters.sql.server_words import (
    COUNTED,
    FOUND_BY_WORDS,
    FOUND_COLUMNS,
    ServerQuery,
    ServerQueryWords,
    kind_number,
    owner_code,
)
from treering.adapters.sql.tables import documents, vectors
from treering.adapters.sql.unstored_vectors import MadeVector
from treering.adapters.vectors.signs import STORED
from treering.core.embedded_text import part_of, spaces_of
from treering.ports.index import DOCUMENT_KINDS, Candidates, Coverage, IndexQuery

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treering.adapters.sql.context import TransactionContext
    from treering.adapters.sql.nearby import Nearby
    from treering.core.queries import Filter

_SEARCHED = set(DOCUMENT_KINDS)
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


class ServerIndex(SqlIndex):
    """The documents of one project, as one transaction sees them."""

    def __init__(self, context: TransactionContext, remembered: Remembered, nearby: Nearby | None) -> None:
        super().__init__(context, remembered.unstored)
        self._remembered = remembered
        self._statistics = Statistics(context, remembered)
        self._vectors = ServerVectors(context, remembered, self._statistics, nearby)
        self._principal = context.scope.principal
        self._named = {"tenant": self._here[0], "project": self._here[1], "principal": self._principal}
        self._asked: tuple[IndexQuery, ServerQuery] | None = None
        self._documents: ServerDocuments | None = None
        """Documents that this transaction read last, with vectors of one model."""
        # Also in a writing transaction: only `_insert_vectors` and `drop_vectors` change it.
        self._models: Sequence[str] | None = None

    def load(self, model: str) -> None:
        """Nothing to load: the server maintains its indexes."""

    def languages(self) -> Sequence[str]:
        return self._statistics.languages(MIN_LANGUAGE_SHARE)

    def speakers(self) -> Collection[int]:
        return self._statistics.summary().speakers

    def candidates(
        self, wanted: IndexQuery, kinds: Sequence[str], *, limit: int, among: NDArray[np.int64] | None = None
    ) -> Candidates:
        within = VectorFilter(kinds, among, limit)
        unstored = self._vectors.best_unstored(wanted, within)
        by_meaning = self._vectors.best(wanted, within, partial(self._ask_beside, wanted))
        by_words = self._best_by_words(wanted, kinds, limit, among)
        return self.columns_of(wanted, np.union1d(by_words, np.union1d(by_meaning, unstored())))

    def columns_of(self, wanted: IndexQuery, numbers: NDArray[np.int64]) -> Candidates:
        asked = self._ask(wanted)
        found, meaning = self._vectors.documents(wanted, numbers)
        if not self._context.writing:
            self._documents = found
        return Candidates(
            number=found.number,
            kind=found.kind,
            at=found.at,
            speaker=found.speaker,
            marks=found.marks,
            length=found.length,
            words=found.scores(wanted.words, asked.weights, asked.ranking),
            meaning=meaning,
            neighbours=found.neighbours(),
            words_weight=sum(asked.weights),
        )

    def matching_numbers(self, filters: Mapping[str, Filter]) -> NDArray[np.int64]:
        """One statement for all kinds: the server chooses where to start by its statistics."""
        if not filters:
            return np.empty(0, np.int64)
        found = self._context.connection.execute(numbers_statement(self._context.scope, filters)).scalars()
        return np.array(sorted(found), np.int64)

    def matching_ids(self, filters: Mapping[str, Filter], numbers: NDArray[np.int64]) -> Mapping[int, tuple[str, str]]:
        """Reads the records as well: most callers need them next."""
        if self._context.writing or not filters or not len(numbers):
            return super().matching_ids(filters, numbers)
        statement = matching_statement(self._context.scope, filters)
        rows = self._context.connection.execute(statement, {"numbers": sent_array(numbers.tolist())}).all()
        ahead = self._context.ahead
        ahead.records.update({(kind, id): record for _, kind, id, record, *_ in rows})
        ahead.numbers.update({(kind, id): number for number, kind, id, *_ in rows})
        ahead.superseded_sources.update({id: learned for _, kind, id, _, learned in rows if kind == TURNS.name})
        return {number: (kind, id) for number, kind, id, *_ in rows}

    def words_of(self, numbers: NDArray[np.int64]) -> Mapping[int, tuple[NDArray[np.uint32], NDArray[np.uint8]]]:
        rows = None if self._documents is None else self._documents.rows_of(numbers)
        if self._documents is None or rows is None:
            return super().words_of(numbers)
        return self._documents.words(rows)

    def vectors(self, model: str, numbers: NDArray[np.int64]) -> Mapping[int, NDArray[np.float32]]:
        found = self._documents
        if found is None or found.model != model or found.rows_of(numbers) is None:
            return super().vectors(model, numbers)
        rows, stored = found.embedded
        known = dict(zip(found.number[rows].tolist(), stored, strict=True))
        kept = self._unstored.of(model)
        return {
            number: known[number] if number in known else kept[number][2]
            for number in numbers.tolist()
            if number in known or number in kept
        }

    def word_scores(self, wanted: IndexQuery, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        ranking, found = self._statistics.ranking(), self._documents
        if found is None or found.rows_of(numbers) is None:
            found = self._vectors.read("", numbers, neighbours=False)
        if all(len(forms) == 1 for forms in wanted.words):
            rarity = self.rarity(np.array([code for forms in wanted.words for code in forms], np.uint32))
            weights = [wanted.share(place) * weight for place, weight in enumerate(rarity.tolist())]
        else:
            weights = list(self._ask(wanted).weights)
        scores = np.zeros(len(numbers))
        there = np.isin(numbers, found.number)
        places = np.searchsorted(found.number, numbers[there])
        scores[there] = found.scores(wanted.words, weights, ranking)[places]
        return scores / (sum(weights) or 1.0)

    def rarity(self, codes: NDArray[np.uint32]) -> NDArray[np.float64]:
        ranking, counts = self._statistics.ranking(), self._count(codes)
        return np.array([ranking.weight(counts[code]) for code in codes.tolist()])

    def similarity(self, model: str, numbers: NDArray[np.int64], best: NDArray[np.int64]) -> NDArray[np.float64]:
        return self.feedback(np.empty(0, np.uint32), model, numbers, best)[1]

    def feedback(
        self, codes: NDArray[np.uint32], model: str, numbers: NDArray[np.int64], best: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        middle = self._vectors.centre(model, list(self.vectors(model, best).values()))
        if middle is None:
            return self.rarity(codes), np.full(len(numbers), np.nan)
        found = self._documents
        if found is None or found.model != model or found.rows_of(numbers) is None:
            found = self._vectors.read(model, numbers, neighbours=False)
        return self.rarity(codes), self._vectors.likeness(found, middle, numbers)

    def coverage(self, model: str) -> Coverage:
        total = self._statistics.summary().totals.documents
        return Coverage(total, min(total, self._statistics.vectors(model) + len(self._unstored.of(model))))

    def dimension(self, model: str) -> int | None:
        found = self._statistics.summary().vectors.get(model)
        return found.dimension if found and found.vectors else super().dimension(model)

    def _stored_models(self) -> Sequence[str]:
        if self._models is None:
            self._models = sorted(self._statistics.summary().vectors)
        return self._models

    def _addable(self, model: str, numbers: NDArray[np.int64]) -> Collection[int]:
        """Existing documents; does not wait for one that another transaction is purging."""
        held = self._chosen(documents, "number").with_for_update(read=True, key_share=True, skip_locked=True)
        return set(self._execute_among(held, numbers).scalars())

    def _locked(self, numbers: Sequence[int]) -> Collection[int]:
        if not numbers:
            return set()
        return set(self._execute_among(self._chosen(documents, "number"), np.array(numbers, np.int64)).scalars())

    def _insert_vectors(self, model: str, found: Sequence[MadeVector]) -> None:
        self._models = None
        self._vectors.add(model, found)
        numbers, digests, made = map(list, zip(*found, strict=True))
        stored = [vector.astype(STORED).tobytes() for vector in made]
        columns = map(sent_column, (numbers, digests, stored))
        self._context.connection.exec_driver_sql(_ADDED_VECTORS, (model, *columns, *self._here))
        move_to_blocks(self._context.connection, self._here, numbers)
        # A full batch is followed by another one.
        if len(found) < self._context.settings.embedder.batch:
            self._vectors.make_graph(model, len(made[0]))

    def drop_vectors(self, *, but: str, beside: str = "") -> int:
        self._models = None
        self._vectors.drop(but=spaces_of(but, beside))
        # For a role that may create the graph, when vectors were stored by one that may not.
        if dimension := self.dimension(but):
            self._vectors.make_graph(but, dimension)
        return super().drop_vectors(but=but, beside=beside)

    def _hide_removed(self, numbers: NDArray[np.int64]) -> None:
        """Nothing to hide: the server says which documents exist, and only these are looked up in the cache."""

    def _waiting_rows(self, model: str, after: int, limit: int) -> Sequence[Any]:
        """Continue after the documents that had vectors a moment ago; fewer than `limit` are looked for from the first.

        A document whose writer committed late is therefore found at the latest when no others are left.
        """
        statement = _unembedded(of_episodes=bool(part_of(model)))
        values = {"tenant": self._here[0], "project": self._here[1], "model": model, "most": limit}
        rows: Sequence[Any] = ()
        if seen := self._remembered.embedded.get(model, 0):
            rows = self._context.connection.execute(statement, {**values, "after": max(after, seen)}).all()
        if len(rows) < limit:
            rows = self._context.connection.execute(statement, {**values, "after": after}).all()
        self._remembered.embedded[model] = rows[0].number - 1 if len(rows) == limit else 0
        return rows

    def _untainted_texts(self, places: Sequence[tuple[str, int]]) -> Iterable[Any]:
        """Look up each place: the planner would compare every turn of the project with all of them."""
        sessions, seqs = map(list, zip(*places, strict=True))
        return list(self._context.connection.exec_driver_sql(_TURNS_AT, (sessions, seqs, *self._here)))

    def _best_by_words(
        self, wanted: IndexQuery, kinds: Sequence[str], limit: int, among: NDArray[np.int64] | None
    ) -> NDArray[np.int64]:
        asked = self._ask(wanted)
        number, kind, score = asked.number, asked.kind, asked.score
        if among is not None and not asked.complete and len(among) <= EXACT:
            found = self._vectors.read("", among, neighbours=False)
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
            self._ask_beside(wanted, None)
        assert self._asked is not None
        return self._asked[1]

    def _ask_beside(self, wanted: IndexQuery, other: Statement | None) -> Sequence[Any]:
        """Look up the words of a query, unless that was done, and run another statement at the same time."""
        if self._asked is not None and self._asked[0] is wanted:
            return run_together(self._context, [other] if other else [])
        statistics = self._statistics
        query = ServerQueryWords([self._codes(forms) for forms in wanted.words])
        named = {**self._named, **query.named(statistics.frequency, MAX_POSTINGS)}
        row = run_together(self._context, [(FOUND_BY_WORDS, named), *([other] if other else [])])
        found = query.found(row[:FOUND_COLUMNS], statistics.frequency, MAX_POSTINGS)
        for code, held in found.held.items():
            statistics.remember_frequency((code,), held)
        for word, held in zip(query.words, found.documents, strict=True):
            statistics.remember_frequency(word, held)
        known = statistics.frequencies()
        known |= {form: sum(found.held[code] for code in self._codes((form,))) for form in chain(*wanted.words)}
        shares = [wanted.share(place) for place in range(len(wanted.words))]
        self._asked = (wanted, found.scored(query.words, shares, statistics.ranking(), MAX_POSTINGS))
        return row[FOUND_COLUMNS:]

    def _codes(self, forms: Sequence[int]) -> tuple[int, ...]:
        """Codes of a word: in shared documents, and in the principal's own."""
        return tuple(sorted({owner | form for owner in (0, owner_code(self._principal)) for form in forms}))

    def _count(self, codes: NDArray[np.uint32]) -> Mapping[int, int]:
        """Document frequency by code."""
        known = self._statistics.frequencies()
        wanted = {code: known.get(code) for code in codes.tolist()}
        for code in [code for code, count in wanted.items() if count is None]:
            wanted[code] = self._statistics.frequency(self._codes((code,)))
        if missing := sorted(code for code, count in wanted.items() if count is None):
            named = {**self._named, "codes": sent_array(missing), "owner": owner_code(self._principal)}
            row = run_together(self._context, [(COUNTED, named)])
            counted = dict(zip(missing, read_array(row[0]).tolist(), strict=True))
            for code, held in counted.items():
                self._statistics.remember_frequency(self._codes((code,)), held)
            known |= counted
            wanted |= counted
        return {code: count for code, count in wanted.items() if count is not None}

    def _run(self, statement: str, values: Any) -> Any:
        return self._context.connection.exec_driver_sql(statement, values)


@cache
def _unembedded(*, of_episodes: bool) -> Select[Any]:
    """The first documents after a number without a vector of the bound model: a later writer may commit first."""
    same = [vectors.c[name] == documents.c[name] for name in ("tenant", "project")]
    same.append(vectors.c.number.between(documents.c.number, documents.c.number))
    of_document = select(vectors.c.number).where(*same, vectors.c.model == bindparam("model"))
    return (
        select(documents.c.number, documents.c.kind, documents.c.id, documents.c.length)
        .where(
            documents.c.tenant == bindparam("tenant"),
            documents.c.project == bindparam("project"),
            *((documents.c.kind == EPISODES.name,) if of_episodes else ()),
            documents.c.number > bindparam("after"),
            # Without statistics, the planner would read every vector of the model for each document: OFFSET keeps it
            # from joining, and the order, which only the primary key has, from using the index by model.
            ~of_document.order_by(vectors.c.number).offset(0).exists(),
        )
        .order_by(documents.c.number)
        .limit(bindparam("most"))
    )
