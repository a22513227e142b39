"""What somebody looks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
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
"""By kind."""
ALL_KNOWLEDGE = KnowledgeFilter.defaults()
ALL_TURNS = TurnFilter.defaults()
_IN_USE = tuple(status for status in PatternStatus if status is not PatternStatus.DEPRECATED)


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What to look for. An empty query lists the newest; a kind without a filter is left out.

    `files` are those in play now, `phase` what the work is at. A `thorough` search may ask a language model,
    a `precise` one answers only with what the query is really about. With `repeated`, what says the same as a better
    result is a result too. A `private` query is sent to no model on another machine. `as_of` says that the filters hold
    back what was not known yet at a time.
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


def filters_of(where: SearchFilter | None, knowledge: KnowledgeFilter | None, turns: TurnFilter | None) -> Filters:
    """The filters by kind: those of `where`, else of the kinds that are named, else of every kind."""
    if where is not None:
        if (knowledge, turns) != (ALL_KNOWLEDGE, ALL_TURNS):
            raise InvalidInput("`where` filters every kind; give it, or `knowledge` and `turns`, not both")
        asked = where.by_kind()
        if not asked and where.of_code() is None:
            raise InvalidInput(
                "nothing has all of these: types, modules and confidence are of knowledge, files of knowledge and "
                "code, tags of knowledge and episodes, roles of turns; leave one side out"
            )
        return asked
    if (knowledge, turns) == (ALL_KNOWLEDGE, ALL_TURNS):
        return SearchFilter.defaults().by_kind()
    named: dict[str, Filter | None] = {SearchedKind.KNOWLEDGE: knowledge, SearchedKind.TURN: turns}
    return {kind: each for kind, each in named.items() if each is not None}


def standing(filters: Filters) -> Filters:
    """Only what still holds: neither corrected nor doubted, unless a filter itself asks for such records."""
    return {kind: _standing(each) for kind, each in filters.items()}


def _standing(where: Filter) -> Filter:
    if isinstance(where, KnowledgeFilter):
        return where.replace(
            deprecated=False if where.deprecated is None else where.deprecated,
            flagged=False if where.flagged is None else where.flagged,
        )
    if isinstance(where, PatternFilter):
        return where.replace(statuses=where.statuses or _IN_USE)
    return where


def untainted(filters: Filters) -> Filters:
    """Nothing that is tainted, unless a filter itself asks for it."""
    return {
        kind: each.replace(tainted=False) if getattr(each, "tainted", False) is None else each
        for kind, each in filters.items()
    }


def holding(filters: Filters, now: datetime) -> Filters:
    """Only knowledge that holds at the time that its filter speaks of: neither corrected, doubted nor out of date."""
    where = filters.get(SearchedKind.KNOWLEDGE)
    if not isinstance(where, KnowledgeFilter):
        return filters
    if where.deprecated or where.flagged:
        raise InvalidInput("precise recall never answers with what was corrected or is doubted; leave one of them out")
    then = where.believed_at or now
    held = where.replace(
        deprecated=where.deprecated if where.believed_at else False,
        flagged=False,
        valid_at=then if where.valid_at is None else where.valid_at,
    )
    return {**filters, SearchedKind.KNOWLEDGE: held}


def known_at(filters: Filters, at: datetime) -> Filters:
    """Only what was known at that time and had not been corrected yet. Patterns may have changed since."""
    there = {kind: each for kind, each in filters.items() if kind != SearchedKind.PATTERN}
    return {kind: _known_at(SearchedKind(kind), each, at) for kind, each in there.items()}


def _known_at(kind: SearchedKind, where: Filter, at: datetime) -> Filter:
    if isinstance(where, KnowledgeFilter):
        return where.replace(believed_at=at, flagged=False)
    field = SEARCHED_TIME[kind]
    asked: TimeRange = getattr(where, field) or TimeRange()
    return where.replace(**{field: asked.replace(before=at if asked.before is None else min(asked.before, at))})
