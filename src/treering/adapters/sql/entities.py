"""Entities: revised like other records, with counted mentions, and removed with the last one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from treering.adapters.sql import entity_links as mentioned
from treering.adapters.sql.codec import codec_of
from treering.adapters.sql.kinds import ENTITIES, ENTITY_LINKS, same_names
from treering.adapters.sql.records import DerivedRecords, batches
from treering.adapters.sql.revised_records import RevisedRecords
from treering.core.entities import Entity, EntityLink
from treering.core.queries import EntityFilter, EntityLinkFilter, Order
from treering.core.scope import Scope, Visibility
from treering.core.values import EMPTY, LABEL_BYTES, LABELS

if TYPE_CHECKING:
    from treering.adapters.sql.context import TransactionContext
    from treering.ports.collections import Detail, EntityMentions


# The index on names returns the first row at once.
_BY_NAME = Order(by="name")
_AT_ONCE = 500
"""Purged records whose links are removed in one statement."""


class EntityRecords(RevisedRecords[Entity]):
    """Entities of one project, with counts of their mentions."""

    def __init__(self, context: TransactionContext) -> None:
        super().__init__(ENTITIES, context)

    def purge(self, id: str, detail: Detail = EMPTY) -> None:
        super().purge(id, detail)
        mentioned.forget_entity(self._context, id)

    def count_mentions(self, heard: Mapping[str, EntityMentions]) -> None:
        mentioned.count_mentions(self._context, heard)

    def expect_names(self, keys: Callable[[], Sequence[str]], *, max_links: int) -> None:
        self._context.dialect.expect_names(self._context, keys, max_links)

    def by_names(self, keys: Callable[[], Iterable[str]]) -> Mapping[str, Entity]:
        ahead = self._context.ahead
        if not ahead.name_keys and not self.find(order=_BY_NAME, limit=1).items:
            return {}
        wanted = [key for key in keys() if len(key.encode()) <= LABEL_BYTES]
        if ahead.name_keys.issuperset(wanted):
            named = [self._decode(row) for row in ahead.entities]
            return {each.id: each for each in named if not set(wanted).isdisjoint(same_names(each))}
        found: dict[str, Entity] = {}
        for page in batches(wanted, LABELS):
            found |= {each.id: each for each in self.find(EntityFilter(same_names=tuple(page)), limit=LABELS).items}
        return found

    def merged_into(self, ids: Sequence[str]) -> Sequence[Entity]:
        known = self._context.ahead.merged
        if not any(known.get(id, True) for id in ids):
            return ()
        return self.find(EntityFilter(merged_into=tuple(ids)), limit=LABELS).items

    def links(self, ids: Sequence[str], *, limit: int) -> Sequence[EntityLink]:
        context, known = self._context, self._context.ahead.links
        if not all(id in known for id in ids):
            links = DerivedRecords(ENTITY_LINKS, context)
            return links.find(EntityLinkFilter(entities=tuple(ids)), limit=limit).items
        rows = sorted((row for id in ids for row in known[id]), key=lambda row: (row["created_at"], row["id"]))
        codec = codec_of(ENTITY_LINKS, None)
        return [codec.decode(context.scope, row, context.blobs) for row in rows[::-1][:limit]]

    def recount(self, ids: Iterable[str]) -> None:
        mentioned.recount(self._context, ids)

    def drop_unmentioned(self, ids: Iterable[str], *, explicit: bool = False) -> int:
        """As each owner: a record that became shared may leave a personal entity behind."""
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
    """Runs at the end of a transaction: entities are locked after records.

    Entities without further mentions are purged, too, even those that a user linked: their names come from these
    records.
    """
    entities = EntityRecords(context)
    while context.purged:
        unlinked = mentioned.forget_links(context, context.purged[:_AT_ONCE])
        del context.purged[:_AT_ONCE]
        if unlinked:
            entities.drop_unmentioned(unlinked, explicit=True)
            entities.recount(unlinked)
