"""Project-wide statistics of the server engine. They change slowly, so expensive counts are cached."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import func, select

from treering.adapters.sql.server_words import counted, holding_any, owner_in
from treering.adapters.sql.tables import vectors
from treering.adapters.sql.unstored_vectors import PendingVectors
from treering.adapters.vectors.signs import SAMPLE, STORED, first_sampled, in_common
from treering.core.ranking import BM25, BM25_B, BM25_K1

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treering.adapters.sql.context import TransactionContext

_KEPT = timedelta(seconds=60)
MAX_POSTINGS = 10_000
"""Postings that a query reads; more would take too long. The most common words matter least and are skipped."""
EXACT = 5_000
"""Up to this many vectors, all are compared: as fast as a graph, and exact."""
# Newest documents from which the languages are determined.
_NEWEST = 1_000

_TOTALS = """
    SELECT count(*), coalesce(sum(length), 0)::bigint, coalesce(max(number), 0) FROM documents
    WHERE tenant = %s AND project = %s AND number > %s
"""
_LANGUAGES = """
    SELECT language, count(*) FROM (
        SELECT language FROM documents WHERE tenant = %s AND project = %s ORDER BY number DESC LIMIT %s
    ) AS newest GROUP BY language ORDER BY count(*) DESC, language
"""
_SPEAKERS = """
    SELECT speaker FROM documents WHERE tenant = %s AND project = %s AND speaker <> 0
    GROUP BY speaker HAVING count(*) > 1
"""
_EVENLY_SPACED = """
    SELECT string_agg(vector, '') FROM vectors
    WHERE tenant = %(tenant)s AND project = %(project)s AND model = %(model)s AND number = ANY(ARRAY(
        SELECT number FROM (
            SELECT number, row_number() OVER (ORDER BY number) - 1 AS place FROM vectors
            WHERE tenant = %(tenant)s AND project = %(project)s AND model = %(model)s
        ) AS numbered WHERE place %% %(step)s = 0 ORDER BY number LIMIT %(most)s))
"""


@dataclass(frozen=True, slots=True)
class DocumentTotals:
    """Number of documents, total length and highest number in a project."""

    documents: int
    length: int
    newest: int
    counted_at: datetime


@dataclass(frozen=True, slots=True)
class ServerVectorSpace:
    """Vectors of one model: their number, a sample, and the mean."""

    vectors: int
    sample: NDArray[np.float32]
    mean: NDArray[np.float32]


@dataclass
class Remembered:
    """Recent counts of this process in one project."""

    totals: DocumentTotals | None = None
    languages: tuple[Sequence[str], datetime] | None = None
    speakers: tuple[Collection[int], datetime] | None = None
    spaces: dict[str, ServerVectorSpace] = field(default_factory=dict)
    vectors: dict[str, tuple[int, datetime]] = field(default_factory=dict)
    common: dict[tuple[int, ...], tuple[int, datetime]] = field(default_factory=dict)
    """Document frequencies of very common words, by their codes."""
    gathered: set[str] = field(default_factory=set)
    """Models with all vectors in pgvector; new vectors are added there, too."""
    embedded: dict[str, int] = field(default_factory=dict)
    """By model, a number up to which all documents had vectors when an embedding batch was read last."""
    unstored: PendingVectors = field(default_factory=PendingVectors)


class Statistics:
    """Statistics of one project as one transaction sees it. Uncommitted changes are not cached."""

    def __init__(self, context: TransactionContext, remembered: Remembered) -> None:
        self._context = context
        self._here = (context.scope.tenant, context.scope.project)
        self._remembered = remembered
        self._totals: DocumentTotals | None = None
        self._spaces: dict[str, ServerVectorSpace | None] = {}

    def languages(self, share: float) -> Sequence[str]:
        """Languages of at least this share of the newest documents."""
        known = self._remembered.languages
        if known is not None and self._is_fresh(known[1]):
            return known[0]
        found = self._context.connection.exec_driver_sql(_LANGUAGES, (*self._here, _NEWEST)).all()
        total = sum(count for _, count in found)
        spoken = [language for language, count in found if language and count >= total * share]
        if total == _NEWEST and not self._context.writing:
            self._remembered.languages = (spoken, self._context.now)
        return spoken

    def speakers(self) -> Collection[int]:
        """Codes of speakers with more than one document."""
        known = self._remembered.speakers
        if known is not None and self._is_fresh(known[1]):
            return known[0]
        found = frozenset(self._context.connection.exec_driver_sql(_SPEAKERS, self._here).scalars())
        if self.totals().documents > EXACT and not self._context.writing:
            self._remembered.speakers = (found, self._context.now)
        return found

    def totals(self) -> DocumentTotals:
        """Adds documents stored since the last count; removed ones are noticed at the next count."""
        if self._totals is not None:
            return self._totals
        known = self._remembered.totals
        if known is None or not self._is_fresh(known.counted_at):
            known = DocumentTotals(0, 0, 0, self._context.now)
        row = self._context.connection.exec_driver_sql(_TOTALS, (*self._here, known.newest)).one()
        newest = max(known.newest, int(row[2]))
        found = DocumentTotals(known.documents + row[0], known.length + row[1], newest, known.counted_at)
        if not self._context.writing:
            self._totals = self._remembered.totals = found
        return found

    def ranking(self) -> BM25:
        totals = self.totals()
        average = totals.length / totals.documents if totals.documents else 0.0
        return BM25(totals.documents, average, BM25_K1, BM25_B)

    def held(self, words: Sequence[tuple[int, ...]]) -> Mapping[int, int]:
        """Document frequency by code, counted up to the number that a query would read."""
        codes = sorted({code for word in words if self._remembered_count(word) is None for code in word})
        return counted(self._context.connection, self._here, codes, MAX_POSTINGS + 1)

    def holding(self, word: tuple[int, ...], held: Mapping[int, int]) -> int:
        """Document frequency of a word in any of its forms, approximate for very common words."""
        if (known := self._remembered_count(word)) is not None:
            return known
        counted_codes = [code for code in word if held[code]]
        total = sum(held[code] for code in counted_codes)
        # No document has codes of two owners: only forms with the same owner can share a document.
        if len({owner_in(code) for code in counted_codes}) == len(counted_codes) and total <= MAX_POSTINGS:
            return total
        found = holding_any(self._context.connection, self._here, word)
        if found > MAX_POSTINGS and not self._context.writing:
            self._remembered.common[word] = (found, self._context.now)
        return found

    def most_held(self, word: tuple[int, ...], held: Mapping[int, int]) -> int:
        """Upper bound of a word's postings, as far as counted."""
        known = self._remembered_count(word)
        return sum(held[code] for code in word) if known is None else known

    def vectors(self, model: str) -> int:
        known = self._remembered.vectors.get(model)
        if known is not None and self._is_fresh(known[1]):
            return known[0]
        here = (vectors.c.tenant == self._here[0], vectors.c.project == self._here[1], vectors.c.model == model)
        found = int(self._context.connection.execute(select(func.count()).where(*here)).scalar_one())
        if found > EXACT and not self._context.writing:
            self._remembered.vectors[model] = (found, self._context.now)
        return found

    def space(self, model: str) -> ServerVectorSpace | None:
        """None if there is no vector. The mean is recomputed as `first_sampled` grows."""
        if model in self._spaces:
            return self._spaces[model]
        space = self._learned(model)
        if not self._context.writing:
            self._spaces[model] = space
        return space

    def _learned(self, model: str) -> ServerVectorSpace | None:
        total = self.vectors(model)
        known = self._remembered.spaces.get(model)
        if not total:
            return self._learned_from_unstored(model)
        first = first_sampled(total)
        if known is not None and first == first_sampled(known.vectors):
            return known
        named = {"tenant": self._here[0], "project": self._here[1], "model": model}
        step, most = max(1, first // SAMPLE), min(first, SAMPLE)
        stored = self._context.connection.exec_driver_sql(
            _EVENLY_SPACED, {**named, "step": step, "most": most}
        ).scalar_one()
        sample = read_vectors(stored, most)
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

    def _remembered_count(self, word: tuple[int, ...]) -> int | None:
        known = self._remembered.common.get(word)
        return known[0] if known is not None and self._is_fresh(known[1]) else None

    def _is_fresh(self, counted_at: datetime) -> bool:
        return abs(self._context.now - counted_at) < _KEPT


def read_vectors(stored: bytes | None, rows: int) -> NDArray[np.float32]:
    """Split concatenated vectors."""
    flat = np.frombuffer(stored or b"", STORED).astype(np.float32)
    return flat.reshape(rows, len(flat) // max(rows, 1))
