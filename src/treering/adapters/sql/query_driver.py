"""The starting point of a query: the filter that the fewest records pass.

SQLite chooses an index without knowing how common a value is, so a query for one rare tag would read the whole project
and one for a common tag would sort all records that have it. A bounded count in the inverted index decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Connection, Select, and_, bindparam, func, select, true

from treering.adapters.sql.conditions import CONDITIONS, AnyFacet, EveryFacet, Flag, OneOf, in_scope, matching
from treering.adapters.sql.kinds import FLAG, RecordKind
from treering.adapters.sql.pages import Sort, sort
from treering.adapters.sql.tables import facets

if TYPE_CHECKING:
    from treering.adapters.sql.context import ListParameters
    from treering.core.queries import Filter, Order
    from treering.core.scope import Scope

_HAVING = facets.alias("having_facet")
# Above this count a filter is common, and the exact count does not matter.
COMMON = 1_000
# Indexed columns that can be more selective than a facet.
_COLUMNS = {"types": "type", "sessions": "session", "ids": "id"}
# Filters by identity, which few records pass: starting from them without counting is never slow.
_BY_IDENTITY = frozenset(
    {"ids", "entities", "same_names", "merged_into", "derived_from", "fact_keys", "related_to", "same_text"}
)


@dataclass(frozen=True, slots=True)
class Driver:
    """The facet to start from, and its number of records (counted up to `COMMON`).

    `field` is the filter field that the facet answers completely, if any.
    """

    field: str | None
    condition: ColumnElement[bool]
    values: int
    count: int

    @property
    def is_rare(self) -> bool:
        return self.count < COMMON

    def is_walked(self, kind: RecordKind[Any], sorting: Sort) -> bool:
        """Whether the index has the requested order, so that a common facet can be read from its end."""
        return self.values == 1 and sorting.order.by == kind.born

    def counted_with_rows(
        self, kind: RecordKind[Any], conditions: Sequence[ColumnElement[bool]], sorting: Sort
    ) -> Select[Any]:
        """Number of records with the facet and, if it is rare, the sorted records, for an engine in another process.

        There is always one row; its record is empty if no record passes `conditions`.
        """
        table = kind.table
        held = select(_HAVING.c.id).where(self.condition).limit(COMMON).cte("held").prefix_with("MATERIALIZED")
        total = select(func.count().label("total")).select_from(held).subquery()
        named = select(held.c.id).distinct().subquery()
        found = select(table).join(named, and_(named.c.id == table.c.id, *conditions)).subquery()
        ordered = Sort(sorting.kind, found.c[sorting.column.key or ""], found.c.id, sorting.order)
        rows = select(total.c.total, *found.c).select_from(total.outerjoin(found, true()))
        return rows.order_by(*ordered.clauses())

    def answers(self, kind: RecordKind[Any], sorting: Sort) -> str | None:
        """The filter field that needs no further condition."""
        return self.field if self.is_rare or self.is_walked(kind, sorting) else None

    def narrowed(self, kind: RecordKind[Any], statement: Select[Any]) -> Select[Any]:
        """Condition for the records with the facet, looked up one by one."""
        return statement.where(kind.table.c.id.in_(select(_HAVING.c.id).where(self.condition)))

    def started(self, kind: RecordKind[Any], statement: Select[Any], sorting: Sort) -> Select[Any]:
        """The ordered statement, rewritten to start from this facet if that is faster."""
        if self.is_rare:
            return self.narrowed(kind, statement).order_by(*sorting.clauses())
        if not self.is_walked(kind, sorting):
            return statement.order_by(*sorting.clauses())
        # The index is ordered by birth: no sorting, and reading stops at the limit.
        table, along = kind.table.c, Sort(sorting.kind, _HAVING.c.at, _HAVING.c.id, sorting.order)
        same = and_(
            _HAVING.c.tenant == table.tenant,
            _HAVING.c.project == table.project,
            _HAVING.c.at == table[kind.born],
            _HAVING.c.id == table.id,
        )
        return statement.join(_HAVING, same).where(self.condition).order_by(*along.clauses())


@dataclass(frozen=True, slots=True)
class IdentityLookup:
    """A filter by identity: the values of its field, and what else the records must pass."""

    field: str
    values: tuple[str, ...]
    rest: Filter

    @classmethod
    def of(cls, where: Filter | None) -> IdentityLookup | None:
        """None for a filter by anything else, or by several identities."""
        if where is None:
            return None
        fields = [field for field in _BY_IDENTITY & where.__dict__.keys() if where.__dict__[field]]
        if len(fields) != 1:
            return None
        (field,) = fields
        return cls(field, where.__dict__[field], where.model_copy(update={field: ()}))

    def statement(self, kind: RecordKind[Any], scope: Scope, lists: ListParameters, sorting: Sort) -> Select[Any]:
        """Its records in order; binds `values` and `most`."""
        return _looked_up(kind, scope, lists, (self.field, self.rest), sorting.order)


# Cached: building a statement costs more than running it.
@lru_cache(maxsize=1_000)
def _looked_up(
    kind: RecordKind[Any], scope: Scope, lists: ListParameters, looked_up: tuple[str, Filter], order: Order
) -> Select[Any]:
    field, rest = looked_up
    condition, table = CONDITIONS[type(rest)][field], kind.table.c
    if isinstance(condition, OneOf):
        found = lists.among(table[condition.column], "values")
    else:
        assert isinstance(condition, AnyFacet)
        columns = _HAVING.c
        found = table.id.in_(
            select(columns.id).where(
                columns.tenant == scope.tenant,
                columns.project == scope.project,
                columns.kind == kind.name,
                columns.facet == condition.facet,
                lists.among(columns.value, "values"),
            )
        )
    return (
        select(kind.table)
        .where(in_scope(kind, scope), *matching(kind, rest), found)
        .order_by(*sort(kind, order).clauses())
        .limit(bindparam("most"))
    )


def choose(connection: Connection, scope: Scope, kind: RecordKind[Any], where: Filter | None) -> Driver | None:
    """The rarest facet in the filter; None if there is none, or an indexed column is rarer."""
    if where is None:
        return None
    best: Driver | None = None
    for field, condition, values in _candidates(scope, kind, where):
        count = _counted(connection, select(_HAVING.c.id).where(condition))
        if best is None or count < best.count:
            best = Driver(field, condition, values, count)
    if best is None or _column_is_rarer(connection, scope, kind, where, best.count):
        return None
    return best


def only_candidate(scope: Scope, kind: RecordKind[Any], where: Filter | None) -> Driver | None:
    """The only facet that could drive the query (its rows not counted), or None if there are several or none."""
    if where is None or any(getattr(where, field, ()) for field in _COLUMNS):
        return None
    found = list(_candidates(scope, kind, where))
    return Driver(*found[0], count=0) if len(found) == 1 else None


def _candidates(
    scope: Scope, kind: RecordKind[Any], where: Filter
) -> Iterator[tuple[str | None, ColumnElement[bool], int]]:
    for field, wanted in where.__dict__.items():
        condition = CONDITIONS[type(where)][field]
        if wanted and isinstance(condition, AnyFacet):
            yield field, _facet(scope, kind, condition.facet, condition.folded(wanted)), len(wanted)
        elif wanted and isinstance(condition, Flag):
            yield field, _facet(scope, kind, FLAG, (condition.name,)), 1
        elif wanted and isinstance(condition, EveryFacet):
            for value in wanted:
                yield None, _facet(scope, kind, condition.facet, (value,)), 1


def _facet(scope: Scope, kind: RecordKind[Any], facet: str, values: Sequence[str]) -> ColumnElement[bool]:
    columns = _HAVING.c
    return and_(
        columns.tenant == scope.tenant,
        columns.project == scope.project,
        columns.kind == kind.name,
        columns.facet == facet,
        columns.value == values[0] if len(values) == 1 else columns.value.in_(values),
    )


def _column_is_rarer(connection: Connection, scope: Scope, kind: RecordKind[Any], where: Filter, count: int) -> bool:
    table = kind.table.c
    for field, column in _COLUMNS.items():
        if wanted := getattr(where, field, ()):
            rows = select(table.id).where(
                table.tenant == scope.tenant, table.project == scope.project, table[column].in_(wanted)
            )
            if _counted(connection, rows) < count:
                return True
    return False


def _counted(connection: Connection, rows: Select[tuple[str]]) -> int:
    statement = select(func.count()).select_from(rows.limit(COMMON).subquery())
    return int(connection.execute(statement).scalar_one())
