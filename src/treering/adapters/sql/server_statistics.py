"""What the server engine knows of a project as a whole. Statistics change slowly: what takes long to count is kept."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import func, select

from treering.adapters.sql.server_words import counted, holding_any, owner_in
from treering.adapters.sql.tables import vectors
from treering.adapters.sql.unstored_vectors import UnstoredVectors
from treering.adapters.vectors.signs import SAMPLE, STORED, first_sampled, in_common
from treering.core.ranking import BM25, BM25_B, BM25_K1

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treering.adapters.sql.context import Context

_KEPT = timedelta(seconds=60)
MOST_POSTINGS = 10_000
"""Postings that a query reads: more take longer than an answer may. The commonest words tell least and are left out."""
EXACT = 5_000
"""Up to this many vectors all are compared, which is as quick as a graph and misses nothing."""
# The newest documents tell which languages are spoken.
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
class Totals:
    """Of a project: its documents, the sum of their lengths, the highest number among them."""

    documents: int
    length: int
    newest: int
    counted_at: datetime


@dataclass(frozen=True, slots=True)
class Space:
    """The vectors of one model: how many there were, some of them, and what they have in common."""

    vectors: int
    sample: NDArray[np.float32]
    mean: NDArray[np.float32]


@dataclass
class Remembered:
    """What this process counted lately in one project."""

    totals: Totals | None = None
    languages: tuple[Sequence[str], datetime] | None = None
    speakers: tuple[Collection[int], datetime] | None = None
    spaces: dict[str, Space] = field(default_factory=dict)
    vectors: dict[str, tuple[int, datetime]] = field(default_factory=dict)
    common: dict[tuple[int, ...], tuple[int, datetime]] = field(default_factory=dict)
    """How many documents hold a word that stands in very many, by its codes."""
    gathered: set[str] = field(default_factory=set)
    """Models whose vectors pgvector has, all of them; it then gets each new one too."""
    unstored: UnstoredVectors = field(default_factory=UnstoredVectors)


class Statistics:
    """Of one project, as one transaction sees it. What it has not committed is remembered by nobody."""

    def __init__(self, context: Context, remembered: Remembered) -> None:
        self._context = context
        self._here = (context.scope.tenant, context.scope.project)
        self._remembered = remembered
        self._totals: Totals | None = None
        self._spaces: dict[str, Space | None] = {}

    def languages(self, share: float) -> Sequence[str]:
        """Those that at least this share of the newest documents is written in."""
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
        """Codes of those who said more than one thing."""
        known = self._remembered.speakers
        if known is not None and self._is_fresh(known[1]):
            return known[0]
        found = frozenset(self._context.connection.exec_driver_sql(_SPEAKERS, self._here).scalars())
        if self.totals().documents > EXACT and not self._context.writing:
            self._remembered.speakers = (found, self._context.now)
        return found

    def totals(self) -> Totals:
        """Documents that came since they were counted are added; those that went are noticed at the next count."""
        if self._totals is not None:
            return self._totals
        known = self._remembered.totals
        if known is None or not self._is_fresh(known.counted_at):
            known = Totals(0, 0, 0, self._context.now)
        row = self._context.connection.exec_driver_sql(_TOTALS, (*self._here, known.newest)).one()
        newest = max(known.newest, int(row[2]))
        found = Totals(known.documents + row[0], known.length + row[1], newest, known.counted_at)
        if not self._context.writing:
            self._totals = self._remembered.totals = found
        return found

    def ranking(self) -> BM25:
        totals = self.totals()
        average = totals.length / totals.documents if totals.documents else 0.0
        return BM25(totals.documents, average, BM25_K1, BM25_B)

    def held(self, words: Sequence[tuple[int, ...]]) -> Mapping[int, int]:
        """By code, how many documents hold it; counted no further than a query would read."""
        codes = sorted({code for word in words if self._remembered_count(word) is None for code in word})
        return counted(self._context.connection, self._here, codes, MOST_POSTINGS + 1)

    def holding(self, word: tuple[int, ...], held: Mapping[int, int]) -> int:
        """How many documents hold a word in any of its forms, or very nearly so where it is very common."""
        if (known := self._remembered_count(word)) is not None:
            return known
        counted_codes = [code for code in word if held[code]]
        total = sum(held[code] for code in counted_codes)
        # No document has codes of two owners: only forms with the same owner may be in one document.
        if len({owner_in(code) for code in counted_codes}) == len(counted_codes) and total <= MOST_POSTINGS:
            return total
        found = holding_any(self._context.connection, self._here, word)
        if found > MOST_POSTINGS and not self._context.writing:
            self._remembered.common[word] = (found, self._context.now)
        return found

    def most_held(self, word: tuple[int, ...], held: Mapping[int, int]) -> int:
        """How many postings a word has at most, as far as they were counted."""
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

    def space(self, model: str) -> Space | None:
        """None if there is no vector. The mean vector is computed again as `first_sampled` grows."""
        if model in self._spaces:
            return self._spaces[model]
        space = self._learned(model)
        if not self._context.writing:
            self._spaces[model] = space
        return space

    def _learned(self, model: str) -> Space | None:
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
        space = Space(total, sample, in_common(sample, first))
        if not self._context.writing:
            self._remembered.spaces[model] = space
        return space

    def _learned_from_unstored(self, model: str) -> Space | None:
        """As long as none is stored."""
        kept = [vector for *_, vector in self._remembered.unstored.of(model).values()]
        if not kept:
            return None
        first = first_sampled(len(kept))
        sample = np.array(kept[: first : max(1, first // SAMPLE)])
        return Space(len(kept), sample, in_common(sample, first))

    def _remembered_count(self, word: tuple[int, ...]) -> int | None:
        known = self._remembered.common.get(word)
        return known[0] if known is not None and self._is_fresh(known[1]) else None

    def _is_fresh(self, counted_at: datetime) -> bool:
        return abs(self._context.now - counted_at) < _KEPT


def read_vectors(stored: bytes | None, rows: int) -> NDArray[np.float32]:
    """So many vectors that stand one after the other."""
    flat = np.frombuffer(stored or b"", STORED).astype(np.float32)
    return flat.reshape(rows, len(flat) // max(rows, 1))
