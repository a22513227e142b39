"""Entities: learned as other records are, counted as records that speak of them come, gone with the last of these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from treering.adapters.sql import entity_links as mentioned
from treering.adapters.sql.kinds import ENTITIES
from treering.adapters.sql.revised_records import RevisedRecords
from treering.core.entities import Entity
from treering.core.scope import Scope, Visibility
from treering.core.values import EMPTY

if TYPE_CHECKING:
    from treering.adapters.sql.context import TransactionContext
    from treering.ports.collections import Detail, EntityMentions


_AT_ONCE = 500
"""Purged records whose links are removed in one statement."""


class EntityRecords(RevisedRecords[Entity]):
    """Entities of one project, and how many records speak of them."""

    def __init__(self, context: TransactionContext) -> None:
        super().__init__(ENTITIES, context)

    def purge(self, id: str, detail: Detail = EMPTY) -> None:
        super().purge(id, detail)
        mentioned.forget_entity(self._context, id)

    def count_mentions(self, heard: Mapping[str, EntityMentions]) -> None:
        mentioned.count_mentions(self._context, heard)

    def recount(self, ids: Iterable[str]) -> None:
        mentioned.recount(self._context, ids)

    def drop_unmentioned(self, ids: Iterable[str], *, explicit: bool = False) -> int:
        """Each as its owner: a record that became everybody's may leave an entity behind that is still somebody's."""
        context, dropped = self._context, mentioned.unmentioned(self._context, ids, explicit=explicit)
        for entity in dropped:
            owner = context.scope
            if entity.visibility is Visibility.PERSONAL:
                owner = Scope(tenant=owner.tenant, project=owner.project, principal=entity.owner)
            else:
                mentioned.hand_over(context, entity)
            with context.entered(owner) as theirs:
                EntityRecords(theirs).purge(entity.id)
        return len(dropped)


def forget_links_of_purged(context: TransactionContext) -> None:
    """At the end of a transaction: entities are locked after records.

    Entities of which nothing else speaks are purged too, also those that a user linked: their names are about these
    records.
    """
    entities = EntityRecords(context)
    while context.purged:
        unlinked = mentioned.forget_links(context, context.purged[:_AT_ONCE])
        del context.purged[:_AT_ONCE]
        if unlinked:
            entities.drop_unmentioned(unlinked, explicit=True)
            entities.recount(unlinked)
