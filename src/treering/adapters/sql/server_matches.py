"""The statement that checks candidates against the filters, and reads their records at the same time."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    BIGINT,
    CompoundSelect,
    Text,
    and_,
    bindparam,
    cast,
    exists,
    func,
    literal,
    literal_column,
    select,
    true,
    union_all,
)
from sqlalchemy.dialects.postgresql import ARRAY

from treering.adapters.sql.conditions import in_scope, matching
from treering.adapters.sql.kinds import KINDS, KNOWLEDGE, TURNS
from treering.adapters.sql.tables import documents, facets

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement

    from treering.core.queries import Filter
    from treering.core.scope import Scope

_KINDS = {kind.name: kind for kind in KINDS}
_SOURCE = facets.alias("learned_from")


def matching_statement(scope: Scope, filters: Mapping[str, Filter]) -> CompoundSelect[Any]:
    """For those of `numbers` that pass: number, kind, id, record as JSON, and whether a record that was learned from
    it is deprecated."""
    return _statement(scope, tuple(filters.items()))


def numbers_statement(scope: Scope, filters: Mapping[str, Filter]) -> CompoundSelect[Any]:
    """Numbers of all documents that pass the filter of their kind."""
    parts = []
    for name, where in filters.items():
        kind = _KINDS[name]
        record = and_(kind.table.c.id == documents.c.id, in_scope(kind, scope), *matching(kind, where))
        here = (documents.c.tenant == scope.tenant, documents.c.project == scope.project, documents.c.kind == name)
        parts.append(select(documents.c.number).select_from(documents.join(kind.table, record)).where(*here))
    return union_all(*parts)


@lru_cache(maxsize=200)
def _statement(scope: Scope, filters: tuple[tuple[str, Filter], ...]) -> CompoundSelect[Any]:
    """Cached: building the statement costs as much as running it.

    Lateral subqueries with a limit are looked up for each candidate. For joins the planner reads the whole project for
    each of them while it has no statistics of a table, which is the case for the first minute of a new one. The order,
    which only the keys have, rules out other indexes that contain the same columns in another order.
    """
    given = (
        func.unnest(cast(bindparam("numbers", type_=Text), ARRAY(BIGINT)))
        .table_valued("number")
        .render_derived("given")
    )
    here = (documents.c.tenant == scope.tenant, documents.c.project == scope.project)
    document = select(documents.c.number, documents.c.kind, documents.c.id).where(
        *here, documents.c.number == given.c.number
    )
    listed = document.limit(1).lateral("listed")
    candidates = (
        select(listed.c.number, listed.c.kind, listed.c.id)
        .select_from(given.join(listed, true()))
        .cte("candidates")
        .prefix_with("MATERIALIZED")
    )
    parts = []
    for name, where in filters:
        kind = _KINDS[name]
        key = kind.table.c.id
        record = (
            select(
                cast(func.row_to_json(literal_column(kind.table.name)), Text).label("record"),
                (_has_deprecated(scope) if kind is TURNS else literal(False)).label("deprecated"),
            )
            .where(key.between(candidates.c.id, candidates.c.id), in_scope(kind, scope), *matching(kind, where))
            .order_by(key)
        )
        found = record.limit(1).lateral("found")
        parts.append(
            select(
                candidates.c.number,
                literal(name).label("kind"),
                candidates.c.id,
                found.c.record,
                found.c.deprecated,
            )
            .select_from(candidates.join(found, true()))
            .where(candidates.c.kind == name)
        )
    return union_all(*parts)


def _has_deprecated(scope: Scope) -> ColumnElement[bool]:
    """Whether a record learned from the turn is deprecated."""
    learned = KNOWLEDGE.table.c
    return exists(
        select(1)
        .select_from(_SOURCE.join(KNOWLEDGE.table, and_(learned.id == _SOURCE.c.id, in_scope(KNOWLEDGE, scope))))
        .where(
            _SOURCE.c.tenant == scope.tenant,
            _SOURCE.c.project == scope.project,
            _SOURCE.c.kind == KNOWLEDGE.name,
            _SOURCE.c.facet == "source",
            _SOURCE.c.value == TURNS.table.c.id,
            learned.deprecated_at.is_not(None),
        )
    )
