"""Entities by name with their links and linked records, looked up together with another statement of a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from treering.adapters.sql.context import Companion
from treering.adapters.sql.kinds import EPISODES, KNOWLEDGE, PATTERNS, TURNS, RecordKind
from treering.core.values import LABELS

if TYPE_CHECKING:
    from treering.adapters.sql.context import TransactionContext

_MAX_RECORDS = 100  # linked records that are read at once; a search with more of them reads only those it needs
_HERE = "{0}.tenant = %(tenant)s AND {0}.project = %(project)s"
_VISIBLE = (
    f"{_HERE} AND ({{0}}.visibility <> 'personal' OR {{0}}.owner = %(principal)s) "
    "AND {0}.visibility = ANY(%(visible)s::text[])"
)


def _records(kind: RecordKind[Any]) -> str:
    table = kind.table.name
    visible = (_VISIBLE if kind.personal else _HERE).format(table)
    return f"""
        SELECT linked.kind, linked.record AS id, linked.number, row_to_json({table}) AS stored
        FROM linked JOIN {table} ON {visible} AND {table}.id = linked.record WHERE linked.kind = '{kind.name}'
    """


_NAMED = f"""
    WITH named AS MATERIALIZED (
        SELECT entities.* FROM entities WHERE {_VISIBLE.format("entities")} AND deleted_at IS NULL AND id = ANY(ARRAY(
            SELECT facets.id FROM facets WHERE {_HERE.format("facets")} AND facets.kind = 'entity'
            AND facets.facet = 'same_name' AND facets.value = ANY(%(names)s::text[])
        )) ORDER BY created_at DESC, id DESC LIMIT {LABELS}
    ), links AS MATERIALIZED (
        SELECT newest.* FROM named CROSS JOIN LATERAL (
            SELECT * FROM entity_links WHERE {_VISIBLE.format("entity_links")} AND entity_links.entity = named.id
            ORDER BY created_at DESC, id DESC LIMIT %(max_links)s + 1
        ) AS newest
    ), linked AS MATERIALIZED (
        SELECT followed.kind, record, documents.number FROM (
            SELECT DISTINCT rest::json ->> 'record_kind' AS kind, record FROM links WHERE entity = ANY(ARRAY(
                SELECT entity FROM links GROUP BY entity HAVING count(*) <= %(max_links)s
            ))
        ) AS followed JOIN documents
            ON {_HERE.format("documents")} AND documents.kind = followed.kind AND documents.id = followed.record
    )
    SELECT CASE WHEN EXISTS (SELECT FROM named) THEN json_build_object(
        'entities', (SELECT json_agg(row_to_json(named)) FROM named),
        'merged', (
            SELECT json_agg(DISTINCT value) FROM facets WHERE {_HERE.format("facets")} AND facets.kind = 'entity'
            AND facets.facet = 'merged_into' AND facets.value = ANY(ARRAY(SELECT named.id FROM named))
        ),
        'links', (SELECT json_agg(row_to_json(links)) FROM links),
        'related', (
            SELECT json_agg(DISTINCT value) FROM facets WHERE {_HERE.format("facets")}
            AND facets.kind = '{KNOWLEDGE.name}' AND facets.facet = 'relation'
            AND facets.value = ANY(ARRAY(SELECT record FROM linked WHERE linked.kind = '{KNOWLEDGE.name}'))
        ),
        'records', CASE WHEN (SELECT count(*) FROM linked) <= {_MAX_RECORDS} THEN (
            SELECT json_agg(row_to_json(every)) FROM (
                {" UNION ALL ".join(_records(kind) for kind in (KNOWLEDGE, TURNS, EPISODES, PATTERNS))}
            ) AS every
        ) END
    ) END
"""


def named_entities(context: TransactionContext, names: Sequence[str], max_links: int) -> Companion:
    """The entities with one of these `same_name` keys; what is found goes to `context.ahead`."""
    scope, ahead = context.scope, context.ahead

    def receive(found: Mapping[str, Any] | None) -> None:
        ahead.name_keys = frozenset(names)
        if found is None:
            return
        ahead.entities = found["entities"]
        merged, related = frozenset(found["merged"] or ()), frozenset(found["related"] or ())
        for entity in ahead.entities:
            id = entity["id"]
            ahead.merged[id] = id in merged
            ahead.links[id] = [link for link in found["links"] or () if link["entity"] == id]
        for each in found["records"] or ():
            key = each["kind"], each["id"]
            ahead.records[key], ahead.numbers[key] = each["stored"], each["number"]
            if each["kind"] == KNOWLEDGE.name:
                ahead.related[each["id"]] = each["id"] in related

    named = {"tenant": scope.tenant, "project": scope.project, "principal": scope.principal}
    visible = [each.value for each in scope.visible]
    return Companion(_NAMED, {**named, "visible": visible, "names": names, "max_links": max_links}, receive)
