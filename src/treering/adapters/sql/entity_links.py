"""Counts of entity mentions, updated as records come and go; entities are removed with the last mention."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, bindparam, delete, func, or_, select, update

from treering.adapters.sql.codec import codec_of
from treering.adapters.sql.derived import Derivation
from treering.adapters.sql.kinds import ENTITIES, ENTITY_LINKS
from treering.adapters.sql.rows import insert_rows
from treering.adapters.sql.tables import entities, entity_links
from treering.core.entities import link_id
from treering.core.scope import Visibility

if TYPE_CHECKING:
    from treering.adapters.sql.context import TransactionContext
    from treering.core.entities import Entity
    from treering.ports.collections import EntityMentions

_PERSONAL = Visibility.PERSONAL.value


def count_mentions(context: TransactionContext, heard: Mapping[str, EntityMentions]) -> None:
    named = (*_here(context, entities), entities.c.id == bindparam("entity"))
    more = {"mentions": entities.c.mentions + bindparam("more")}
    counted = update(entities).where(*named).values(more)
    judged = update(entities).where(*named).values({**more, "kind": bindparam("judged")})
    plain = [{"entity": id, "more": each.mentions} for id, each in heard.items() if each.kind is None]
    telling = [
        {"entity": id, "more": each.mentions, "judged": each.kind.value} for id, each in heard.items() if each.kind
    ]
    if plain:
        context.connection.execute(counted, plain)
    if telling:
        context.connection.execute(judged, telling)
    if trusted := [{"entity": id} for id, each in heard.items() if each.trusted]:
        context.connection.execute(update(entities).where(*named).values(tainted=False), trusted)


def recount(context: TransactionContext, ids: Iterable[str]) -> None:
    """Personal links count only for personal entities."""
    seen = or_(entities.c.visibility == _PERSONAL, entity_links.c.visibility != _PERSONAL)
    links = select(func.count()).where(*_here(context, entity_links), entity_links.c.entity == entities.c.id, seen)
    named = (*_here(context, entities), entities.c.id.in_(list(ids)))
    counted = update(entities).where(*named).values(mentions=links.scalar_subquery())
    context.connection.execute(counted)


def forget_links(context: TransactionContext, records: Sequence[str]) -> list[str]:
    """Remove the links of these records, of every owner; return the entities that were linked.

    Nobody links them meanwhile: whoever links holds the same claim, and looks whether the record is still there.
    """
    context.dialect.lock(context.connection, context.scope, "claim entities")
    where = (*_here(context, entity_links), entity_links.c.record.in_(records))
    gone = context.execute_for_all(delete(entity_links).where(*where).returning(entity_links.c.entity))
    return [entity for (entity,) in gone]


def forget_entity(context: TransactionContext, entity: str) -> None:
    """Remove its links to all records."""
    context.execute_for_all(delete(entity_links).where(*_of(context, entity)))


def unmentioned(context: TransactionContext, ids: Iterable[str], *, explicit: bool) -> list[Entity]:
    """Entities without a mention visible to those who see them; `explicit` includes those that users named."""
    named = [*_here(context, entities), entities.c.id.in_(list(ids))]

    def silent(context: TransactionContext) -> Iterator[Entity]:
        for entity in _read(context, named):
            shared = () if entity.visibility is Visibility.PERSONAL else (entity_links.c.visibility != _PERSONAL,)
            spoken = select(entity_links.c.id).where(*_of(context, entity.id), *shared).limit(1)
            if (explicit or not entity.explicit) and context.connection.execute(spoken).first() is None:
                yield entity

    return context.for_every_principal(silent)


def hand_over(context: TransactionContext, entity: Entity) -> None:
    """Give each owner of personal records that still mention it a personal copy, with the name used there."""
    statement = select(entity_links).where(*_of(context, entity.id)).order_by(entity_links.c.id)
    codec = codec_of(ENTITY_LINKS, None)
    found = context.execute_for_all(statement)
    links = [codec.decode(context.scope, row._mapping, context.blobs) for row in found]
    for owner in dict.fromkeys(link.owner for link in links):
        own = [link for link in links if link.owner == owner]
        with context.entered(context.scope.replace(principal=owner)) as theirs:
            kept = entity.replace(
                id=context.new_id(),
                version=1,
                owner=owner,
                visibility=Visibility.PERSONAL,
                name=own[0].mention,
                aliases=(),
                summary="",
                mentions=len(own),
                merged_into=None,
            )
            _add(theirs, kept)
            moved = update(entity_links).where(*_here(context, entity_links), entity_links.c.id == bindparam("before"))
            theirs.connection.execute(
                moved.values(entity=kept.id, id=bindparam("after")),
                [{"before": link.id, "after": link_id(kept.id, link.record)} for link in own],
            )


def _add(context: TransactionContext, entity: Entity) -> None:
    encoded = codec_of(ENTITIES, context.settings.store.text_bytes).encode(context.scope, entity, context.blobs)
    insert_rows(context.connection, entities, [encoded.row])
    Derivation(ENTITIES, context).add([(entity, encoded)])


def _read(context: TransactionContext, conditions: list[ColumnElement[bool]]) -> list[Entity]:
    codec = codec_of(ENTITIES, context.settings.store.text_bytes)
    rows = _rows(context, select(entities).where(*conditions).order_by(entities.c.id))
    return [codec.decode(context.scope, row, context.blobs) for row in rows]


def _rows(context: TransactionContext, statement: Any) -> list[Any]:
    return list(context.connection.execute(statement).mappings())


def _of(context: TransactionContext, entity: str) -> tuple[ColumnElement[bool], ...]:
    return (*_here(context, entity_links), entity_links.c.entity == entity)


def _here(context: TransactionContext, table: Any) -> tuple[ColumnElement[bool], ...]:
    return table.c.tenant == context.scope.tenant, table.c.project == context.scope.project
