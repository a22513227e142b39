"""A search request and the filters by record kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from treering.core.errors import InvalidInput
from treering.core.patterns import PatternStatus
from treering.core.queries import (
    SEARCHED_TIME,
    Filter,
    KnowledgeFilter,
    PatternFilter,
    SearchedKind,
    SearchFilter,
    TimeRange,
    TurnFilter,
)

if TYPE_CHECKING:
    from treering.core.phases import Phase

Filters = Mapping[str, Filter]
"""Filters by record kind."""
ALL_KNOWLEDGE = KnowledgeFilter.defaults()
ALL_TURNS = TurnFilter.defaults()
_IN_USE = tuple(status for status in PatternStatus if status is not PatternStatus.DEPRECATED)


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One search. An empty query lists the newest records; a kind without a filter is not searched.

    `files` are the files in play, `phase` is the phase of the work. A `thorough` search may call a language model; a
    `precise` one returns only records that match the query with certainty. With `repeated`, duplicates of better
    results are kept. A `private` query is never sent to a model on another machine. `as_of` is set if the filters
    restrict the search to what was known at an earlier time. Without `catch_up`, the search does not wait for the
    vectors of many new documents: it finds them by their words only, until a background job has embedded them.
    """

    query: str
    filters: Filters
    limit: int
    files: tuple[str, ...] = ()
    phase: Phase | None = None
    explain: bool = False
    thorough: bool = True
    precise: bool = False
    repeated: bool = False
    private: bool = False
    as_of: bool = False
    catch_up: bool = True


def filters_of(where: SearchFilter | None, knowledge: KnowledgeFilter | None, turns: TurnFilter | None) -> Filters:
    """Filters by kind: those of `where`, else `knowledge` and `turns`, else the defaults of every kind.

    Raises `InvalidInput` if the arguments conflict or exclude every kind.
    """
    if where is not None:
        if (knowledge, turns) != (ALL_KNOWLEDGE, ALL_TURNS):
            raise InvalidInput("`where` filters every kind; pass either `where` or `knowledge` and `turns`, not both")
        asked = where.by_kind()
        if not asked and where.of_code() is None:
            raise InvalidInput(
                "no kind of record has all of these fields: types, modules and confidence belong to knowledge, "
                "files to knowledge and code, tags to knowledge and episodes, roles to turns; drop one of the filters"
            )
        return asked
    if (knowledge, turns) == (ALL_KNOWLEDGE, ALL_TURNS):
        return _default_filters()
    named: dict[str, Filter | None] = {SearchedKind.KNOWLEDGE: knowledge, SearchedKind.TURN: turns}
    return {kind: each for kind, each in named.items() if each is not None}


@cache
def _default_filters() -> Filters:
    return MappingProxyType(SearchFilter.defaults().by_kind())


def current(filters: Filters) -> Filters:
    """Filters that exclude deprecated and flagged records, unless a filter asks for them."""
    return {kind: _current(each) for kind, each in filters.items()}


@lru_cache(maxsize=100)
def _current(where: Filter) -> Filter:
    if isinstance(where, KnowledgeFilter):
        return where.with_constants(
            deprecated=False if where.deprecated is None else where.deprecated,
            flagged=False if where.flagged is None else where.flagged,
        )
    if isinstance(where, PatternFilter):
        return where.with_constants(statuses=where.statuses or _IN_USE)
    return where


def untainted(filters: Filters) -> Filters:
    """Filters that exclude tainted records, unless a filter asks for them."""
    return {
        kind: each.replace(tainted=False) if getattr(each, "tainted", False) is None else each
        for kind, each in filters.items()
    }


def valid_at(filters: Filters, now: datetime) -> Filters:
    """Filters limited to knowledge that is valid, and neither deprecated nor flagged, at the time of its filter."""
    where = filters.get(SearchedKind.KNOWLEDGE)
    if not isinstance(where, KnowledgeFilter):
        return filters
    if where.deprecated or where.flagged:
        raise InvalidInput("a precise search never returns deprecated or flagged records; drop `precise` or the filter")
    at = where.believed_at or now
    valid = where.replace(
        deprecated=where.deprecated if where.believed_at else False,
        flagged=False,
        valid_at=at if where.valid_at is None else where.valid_at,
    )
    return {**filters, SearchedKind.KNOWLEDGE: valid}


def known_at(filters: Filters, at: datetime) -> Filters:
    """Filters limited to records that were stored and not yet superseded at that time.

    Patterns are left out: their history is not stored.
    """
    dated = {kind: each for kind, each in filters.items() if kind != SearchedKind.PATTERN}
    return {kind: _known_at(SearchedKind(kind), each, at) for kind, each in dated.items()}


def _known_at(kind: SearchedKind, where: Filter, at: datetime) -> Filter:
    if isinstance(where, KnowledgeFilter):
        return where.replace(believed_at=at, flagged=False)
    field = SEARCHED_TIME[kind]
    asked: TimeRange = getattr(where, field) or TimeRange()
    return where.replace(**{field: asked.replace(before=at if asked.before is None else min(asked.before, at))})
