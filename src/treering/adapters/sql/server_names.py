"""Look-up of entities by name that runs together with another statement of a search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from treering.adapters.sql.context import Companion, NamesRead
from treering.core.values import LABELS

if TYPE_CHECKING:
    from treering.adapters.sql.context import TransactionContext

_NAMED = f"""
    SELECT json_agg(row_to_json(named)) FROM (
        SELECT entities.* FROM entities
        WHERE tenant = %(tenant)s AND project = %(project)s AND deleted_at IS NULL
        AND (visibility <> 'personal' OR owner = %(principal)s) AND visibility = ANY(%(visible)s::text[])
        AND id = ANY(ARRAY(
            SELECT facets.id FROM facets
            WHERE facets.tenant = %(tenant)s AND facets.project = %(project)s AND facets.kind = 'entity'
            AND facets.facet = 'same_name' AND facets.value = ANY(%(names)s::text[])
        ))
        ORDER BY created_at DESC, id DESC LIMIT {LABELS}
    ) AS named
"""


def named_entities(context: TransactionContext, names: Sequence[str]) -> Companion:
    """The entities with one of these `same_name` keys; the result goes to the context."""
    scope = context.scope

    def receive(found: Sequence[Any] | None) -> None:
        context.names_read.append(NamesRead(frozenset(names), found or ()))

    named = {"tenant": scope.tenant, "project": scope.project, "principal": scope.principal}
    visible = [each.value for each in scope.visible]
    return Companion(_NAMED, {**named, "visible": visible, "names": names}, receive)
