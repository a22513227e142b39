"""Statements that read documents by number. They are cached: building one costs more than running it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, CompoundSelect, Select, Table, bindparam, exists, select, union_all

from treering.adapters.sql.codec import micros
from treering.adapters.sql.conditions import in_scope, matching, valid_at
from treering.adapters.sql.kinds import KINDS, RecordKind
from treering.adapters.sql.tables import documents
from treering.core.queries import Filter, KnowledgeFilter

if TYPE_CHECKING:
    from treering.adapters.sql.context import ListParameters
    from treering.core.scope import Scope

_KINDS = {kind.name: kind for kind in KINDS}
_SOME_TIME = datetime(1970, 1, 1, tzinfo=UTC)


@lru_cache(maxsize=100)
def rows_among(lists: ListParameters, table: Table, *columns: str) -> Select[Any]:
    """Columns of the rows whose numbers are bound as `numbers`."""
    return select(*(table.c[name] for name in columns)).where(
        table.c.tenant == bindparam("tenant"),
        table.c.project == bindparam("project"),
        lists.among(table.c.number, "numbers"),
    )


def matching_among(
    lists: ListParameters, scope: Scope, filters: Mapping[str, Filter]
) -> tuple[CompoundSelect[Any], Mapping[str, int]]:
    """Kind, number and id of the documents with the bound numbers whose records pass the filter of their kind.

    Returned with the values of its parameters other than the numbers. The time of a filter is a parameter, because a
    precise search asks for the present, which differs each time. Only knowledge has such a time.
    """
    statement = _matching_among(lists, scope, tuple((kind, _at_some_time(where)) for kind, where in filters.items()))
    moments = [moment for where in filters.values() if (moment := _time_of(where)) is not None]
    return statement, {"valid_at": micros(moments[0])} if moments else {}


@lru_cache(maxsize=100)
def _matching_among(
    lists: ListParameters, scope: Scope, filters: tuple[tuple[str, Filter], ...]
) -> CompoundSelect[Any]:
    # Records are looked up one by one: for a join SQLite reads every turn, into a Bloom filter or of a long session.
    listed = rows_among(lists, documents, "kind", "number", "id")
    candidates = listed.cte("candidates").prefix_with("MATERIALIZED")
    return union_all(
        *(
            select(candidates.c.kind, candidates.c.number, candidates.c.id).where(
                candidates.c.kind == kind.name,
                exists().where(kind.table.c.id == candidates.c.id, in_scope(kind, scope), *_conditions(kind, where)),
            )
            for kind, where in ((_KINDS[name], where) for name, where in filters)
        )
    )


def _conditions(kind: RecordKind[Any], where: Filter) -> Iterator[ColumnElement[bool]]:
    yield from matching(kind, where, "valid_at")
    if _time_of(where) is not None:
        yield valid_at(kind, bindparam("valid_at"))


def _time_of(where: Filter) -> datetime | None:
    return where.valid_at if isinstance(where, KnowledgeFilter) else None


def _at_some_time(where: Filter) -> Filter:
    """The filter with a constant for its time, so that its statement is found in the cache."""
    return where if _time_of(where) is None else where.replace(valid_at=_SOME_TIME)
