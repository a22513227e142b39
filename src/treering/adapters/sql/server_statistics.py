"""Project-wide statistics of the server engine. They change slowly, so expensive counts are cached."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from treering.adapters.sql.document_cache import DocumentCache
from treering.adapters.sql.unstored_vectors import PendingVectors
from treering.adapters.vectors.signs import SAMPLE, STORED, first_sampled, in_common
from treering.core.embedded_text import part_of
from treering.core.ranking import BM25, BM25_B, BM25_K1

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treering.adapters.sql.context import TransactionContext

Statement = tuple[str, dict[str, Any]]
"""A statement with one row, and its named parameters."""

_KEPT = timedelta(seconds=60)
MAX_POSTINGS = 10_000
"""Postings that a query reads; more would take too long. The most common words matter least and are skipped."""
EXACT = 5_000
"""Up to this many vectors, all are compared: as fast as a graph, and exact."""
_COMMON = 1_000
"""Document frequencies above this are cached: a few more documents hardly change the weight of such a word."""
_MAX_FREQUENCIES = 100_000
"""Document frequencies that are cached for one state of the documents."""
# New vectors that a summary reads, so that the mean of a small space includes them.
_APPENDED = 100
# Newest documents from which the languages are determined.
_NEWEST = 1_000

# Tables that a search looks into only if the project has rows in them.
_OPTIONAL = ("co_access_edges", "code_ties")

_HERE = "tenant = %(tenant)s AND project = %(project)s"
# A plan for any project assumes that all have the same size: for a small one beside a large one, it would read the
# documents of both by number. The range, which the planner takes for selective, makes it start from the project.
_DOCUMENTS_HERE = f"{_HERE} AND project BETWEEN %(project)s AND %(project)s"
# Vectors newer than the last count are reached in the order of their numbers: the index of models has another order.
_SUMMARY = f"""
    WITH RECURSIVE spaces (model) AS (
        SELECT min(model) FROM vectors WHERE {_HERE}
        UNION ALL
        SELECT (SELECT min(model) FROM vectors WHERE {_HERE} AND vectors.model > spaces.model)
        FROM spaces WHERE spaces.model IS NOT NULL
    ), counted AS MATERIALIZED (
        SELECT spaces.model, (
            SELECT length(vector) FROM vectors WHERE {_HERE} AND vectors.model = spaces.model LIMIT 1
        ) AS size, CASE WHEN known.newest IS NULL THEN (
            SELECT json_build_array(count(*), coalesce(max(number), 0), NULL) FROM vectors
            WHERE {_HERE} AND vectors.model = spaces.model
        ) ELSE (
            SELECT json_build_array(count(*), coalesce(max(number), 0),
                CASE WHEN count(*) <= {_APPENDED} THEN encode(string_agg(vector, '' ORDER BY number), 'hex') END)
            FROM (
                SELECT number, vectors.model, vector FROM vectors WHERE {_HERE} AND number > known.newest
                ORDER BY number LIMIT 1000000000
            ) AS newer WHERE newer.model = spaces.model
        ) END AS more
        FROM spaces LEFT JOIN unnest(%(models)s::text[], %(newest)s::bigint[]) AS known (model, newest) USING (model)
        WHERE spaces.model IS NOT NULL
    )
    SELECT totals.*, (SELECT json_agg(json_build_array(model, size, more) ORDER BY model) FROM counted),
        CASE WHEN %(languages)s THEN (
            SELECT json_agg(json_build_array(language, texts) ORDER BY texts DESC, language) FROM (
                SELECT language, count(*) AS texts FROM (
                    SELECT language FROM documents WHERE {_DOCUMENTS_HERE} ORDER BY number DESC LIMIT {_NEWEST}
                ) AS latest GROUP BY language
            ) AS spoken
        ) END,
        CASE WHEN %(speakers)s THEN ARRAY(
            SELECT speaker FROM documents WHERE {_HERE} AND speaker <> 0 GROUP BY speaker HAVING count(*) > 1
        ) END,
        {", ".join(f"EXISTS (SELECT FROM {name} WHERE {_HERE})" for name in _OPTIONAL)}
    FROM (
        SELECT count(*), coalesce(sum(length), 0)::bigint, coalesce(max(number), 0) FROM documents
        WHERE {_DOCUMENTS_HERE} AND number > %(counted)s
    ) AS totals (documents, length, newest)
"""
_EVENLY_SPACED = f"""
    SELECT string_agg(vector, '') FROM vectors
    WHERE {_HERE} AND model = %(model)s AND number = ANY(ARRAY(
        SELECT number FROM (
            SELECT number, row_number() OVER (ORDER BY number) - 1 AS place FROM vectors
            WHERE {_HERE} AND model = %(model)s
        ) AS numbered WHERE place %% %(step)s = 0 ORDER BY number LIMIT %(most)s))
"""


@dataclass(frozen=True, slots=True)
class DocumentTotals:
    """Number of documents, total length and highest number in a project."""

    documents: int = 0
    length: int = 0
    newest: int = 0


@dataclass(frozen=True, slots=True)
class VectorTotals:
    """Number of vectors of a model, their highest number and their dimension."""

    vectors: int = 0
    newest: int = 0
    dimension: int = 0


@dataclass(frozen=True, slots=True)
class ServerVectorSpace:
    """Vectors of one model: their number, a sample, and the mean."""

    vectors: int
    sample: NDArray[np.float32]
    mean: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Summary:
    """Statistics of a project that one statement reads."""

    totals: DocumentTotals
    vectors: Mapping[str, VectorTotals]
    languages: Sequence[tuple[str, int]]
    """Languages of the newest documents with their counts, the most frequent first."""
    speakers: Collection[int]


@dataclass
class Remembered:
    """Recent counts of this process in one project."""

    summary: tuple[Summary, datetime] | None = None
    """Summary of a time when all documents had vectors; later ones count only newer rows."""
    languages: tuple[Sequence[tuple[str, int]], datetime] | None = None
    speakers: tuple[Collection[int], datetime] | None = None
    spaces: dict[str, ServerVectorSpace] = field(default_factory=dict)
    common: dict[tuple[int, ...], tuple[int, datetime]] = field(default_factory=dict)
    """Document frequencies of common words, by their codes."""
    frequencies: tuple[tuple[DocumentTotals, dict[int, int]], datetime] | None = None
    """Document frequencies by code of a word, for as long as the documents are these."""
    gathered: set[str] = field(default_factory=set)
    """Models with all vectors in pgvector; new vectors are added there, too."""
    embedded: dict[str, int] = field(default_factory=dict)
    """By model, a number up to which all documents had vectors when an embedding batch was read last."""
    unstored: PendingVectors = field(default_factory=PendingVectors)
    documents: DocumentCache = field(default_factory=DocumentCache)
    """Documents outside conversations; one cache for all projects of a database."""

    def forget_counts(self) -> None:
        """After a removal: everything that removed documents may have contributed to."""
        self.summary = self.languages = self.speakers = self.frequencies = None
        self.spaces, self.common = {}, {}


class Statistics:
    """Statistics of one project as one transaction sees it. Uncommitted changes are not cached."""

    def __init__(self, context: TransactionContext, remembered: Remembered) -> None:
        self._context = context
        self._named = {"tenant": context.scope.tenant, "project": context.scope.project}
        self._remembered = remembered
        self._summary: Summary | None = None
        self._spaces: dict[str, ServerVectorSpace | None] = {}

    def languages(self, share: float) -> Sequence[str]:
        """Languages of at least this share of the newest documents."""
        found = self.summary().languages
        total = sum(count for _, count in found)
        return [language for language, count in found if language and count >= total * share]

    def ranking(self) -> BM25:
        totals = self.summary().totals
        average = totals.length / totals.documents if totals.documents else 0.0
        return BM25(totals.documents, average, BM25_K1, BM25_B)

    def vectors(self, model: str) -> int:
        found = self.summary().vectors.get(model)
        return found.vectors if found else 0

    def summary(self) -> Summary:
        """Adds rows stored since the last count; removed ones are noticed at the next full count."""
        if self._summary is not None:
            return self._summary
        remembered = self._remembered
        known = self._fresh(remembered.summary) or Summary(DocumentTotals(), {}, (), ())
        languages, speakers = self._fresh(remembered.languages), self._fresh(remembered.speakers)
        named = {
            **self._named,
            "models": list(known.vectors),
            "newest": [each.newest for each in known.vectors.values()],
            "counted": known.totals.newest,
            "languages": languages is None,
            "speakers": speakers is None,
        }
        row = run_together(self._context, [(_SUMMARY, named)])
        before = known.totals
        totals = DocumentTotals(before.documents + row[0], before.length + row[1], max(before.newest, row[2]))
        found = Summary(
            totals,
            {model: _added(known.vectors.get(model), size, more) for model, size, more in row[3] or ()},
            [(language, count) for language, count in row[4] or ()] if languages is None else languages,
            frozenset(row[5] or ()) if speakers is None else speakers,
        )
        if not self._context.writing:
            self._summary = found
            self._remember(found)
            self._context.ahead.empty = frozenset(
                name for name, filled in zip(_OPTIONAL, row[6:], strict=True) if not filled
            )
            for model, _, (*_, appended) in row[3] or ():
                self._append(model, known.vectors.get(model), found.vectors[model].vectors, appended)
        return found

    def frequency(self, codes: tuple[int, ...]) -> int | None:
        """Cached document frequency of a common word with these codes; None if it must be counted."""
        found: int | None = self._fresh(self._remembered.common.get(codes))
        return found

    def frequencies(self) -> dict[int, int]:
        """Document frequencies by code, to be filled; shared by searches that see the same documents."""
        if self._context.writing:
            return {}
        totals = self.summary().totals
        counted, known = self._fresh(self._remembered.frequencies) or (None, {})
        if counted != totals or len(known) > _MAX_FREQUENCIES:
            known = {}
            self._remembered.frequencies = ((totals, known), self._context.now)
        return known

    def remember_frequency(self, codes: tuple[int, ...], documents: int) -> None:
        if documents > _COMMON and not self._context.writing:
            self._remembered.common[codes] = (documents, self._context.now)

    def space(self, model: str) -> ServerVectorSpace | None:
        """None if there is no vector. The mean is recomputed as `first_sampled` grows."""
        if model in self._spaces:
            return self._spaces[model]
        space = self._learned(model)
        if not self._context.writing:
            self._spaces[model] = space
        return space

    def _remember(self, found: Summary) -> None:
        """Keep counts from a time when every document had a vector: later vectors have higher numbers."""
        now, remembered, total = self._context.now, self._remembered, found.totals.documents
        since = remembered.summary[1] if remembered.summary and self._fresh(remembered.summary) else now
        if _is_covered(found):
            remembered.summary = (found, since)
        elif since is now:
            remembered.summary = (Summary(found.totals, {}, (), ()), since)
        if self._fresh(remembered.languages) is None and sum(count for _, count in found.languages) == _NEWEST:
            remembered.languages = (found.languages, now)
        if self._fresh(remembered.speakers) is None and total > EXACT:
            remembered.speakers = (found.speakers, now)

    def _append(self, model: str, known: VectorTotals | None, total: int, appended: str | None) -> None:
        """Add new vectors to a sample that holds all of them."""
        space = self._remembered.spaces.get(model)
        if appended and known and space and space.vectors == known.vectors and total <= SAMPLE:
            more = read_vectors(bytes.fromhex(appended), total - known.vectors)
            sample = np.concatenate((space.sample, more))
            self._remembered.spaces[model] = ServerVectorSpace(total, sample, in_common(sample, total))

    def _learned(self, model: str) -> ServerVectorSpace | None:
        total = self.vectors(model)
        known = self._remembered.spaces.get(model)
        if not total:
            return self._learned_from_unstored(model)
        first = first_sampled(total)
        if known is not None and first == first_sampled(known.vectors):
            return known
        step, most = max(1, first // SAMPLE), min(first, SAMPLE)
        named = {**self._named, "model": model, "step": step, "most": most}
        sample = read_vectors(self._context.connection.exec_driver_sql(_EVENLY_SPACED, named).scalar_one(), most)
        space = ServerVectorSpace(total, sample, in_common(sample, first))
        if not self._context.writing:
            self._remembered.spaces[model] = space
        return space

    def _learned_from_unstored(self, model: str) -> ServerVectorSpace | None:
        """Used while no vector is stored."""
        kept = [vector for *_, vector in self._remembered.unstored.of(model).values()]
        if not kept:
            return None
        first = first_sampled(len(kept))
        sample = np.array(kept[: first : max(1, first // SAMPLE)])
        return ServerVectorSpace(len(kept), sample, in_common(sample, first))

    def _fresh(self, cached: tuple[Any, datetime] | None) -> Any:
        """The cached value; None if it is too old."""
        return cached[0] if cached is not None and abs(self._context.now - cached[1]) < _KEPT else None


def run_together(context: TransactionContext, statements: Sequence[Statement]) -> Sequence[Any]:
    """Run statements with one row each, and companions that wait, as one; return the columns of the statements."""
    if not statements:
        return ()
    companions = list(context.companions)
    context.companions.clear()
    every = [*statements, *((each.statement, each.named) for each in companions)]
    named = {name: value for _, values in every for name, value in values.items()}
    row = context.connection.exec_driver_sql(_joined(tuple(statement for statement, _ in every)), named).one()
    own = len(row) - len(companions)
    for companion, value in zip(companions, row[own:], strict=True):
        companion.receive(value)
    return row[:own]


@lru_cache(maxsize=200)
def _joined(statements: tuple[str, ...]) -> str:
    """One statement with the columns of all, without indentation: the driver remembers up to 4,096 characters."""
    tables = (f"({' '.join(statement.split())}) AS part_{place}" for place, statement in enumerate(statements))
    return f"SELECT * FROM {', '.join(tables)}"


def _added(known: VectorTotals | None, size: int, more: Sequence[Any]) -> VectorTotals:
    count, newest, _ = more
    known = known or VectorTotals()
    return VectorTotals(known.vectors + count, max(known.newest, newest), size // STORED.itemsize)


def _is_covered(found: Summary) -> bool:
    """Whether every document has a vector: of one model, or of the local one if another machine may not read it."""
    whole = (each.vectors for model, each in found.vectors.items() if not part_of(model))
    return sum(whole) >= found.totals.documents


def read_vectors(stored: bytes | None, rows: int) -> NDArray[np.float32]:
    """Split concatenated vectors."""
    flat = np.frombuffer(stored or b"", STORED).astype(np.float32)
    return flat.reshape(rows, len(flat) // max(rows, 1))
