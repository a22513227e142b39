"""Links records to the entities they mention. Idempotent.

An entity that only personal records mention belongs to their owner. A personal record may be linked to a shared entity
by a personal link, which does not change that entity.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from treering.core.entities import Entity, EntityLink, link_id
from treering.core.queries import EntityLinkFilter
from treering.core.scope import Visibility
from treering.core.statements import same_name
from treering.core.taint import Taint
from treering.entities.extraction.mentions import EntityMention
from treering.entities.registry import EntityRegister, register_of
from treering.ports.clock import NewId
from treering.ports.collections import EntityMentions
from treering.ports.store import Transaction

CLAIM = "entities"
"""Lock of a project for changes of entities and links."""
_PAGE = 1_000


@dataclass(frozen=True, slots=True)
class RecordMentions:
    """A record with its visibility, time and mentions."""

    kind: str
    id: str
    owner: str
    visibility: Visibility
    at: datetime
    mentions: tuple[EntityMention, ...]
    taint: Taint | None = None

    @property
    def personal(self) -> bool:
        return self.visibility is Visibility.PERSONAL


def link_records(tx: Transaction, records: Sequence[RecordMentions], new_id: NewId) -> int:
    """Link records to the entities they mention, and remove outdated links; returns the number of links.

    Links made by the user stay. Mentions of deleted entities are skipped.
    """
    if not records:
        return 0
    tx.claim(CLAIM)
    names = {same_name(mention.name) for record in records for mention in record.mentions}
    register = register_of(tx, names, new_id)
    wanted = {link.id: link for record in records for link in _links(register, record)}
    before = {link.id: link for link in links_of(tx, [record.id for record in records])}
    register.store(tx)
    tx.entity_links.put_many(link for id, link in wanted.items() if _differs(before.get(id), link))
    moved = [link for id, link in before.items() if id in wanted and link.visibility is not wanted[id].visibility]
    outdated = [link for id, link in before.items() if id not in wanted and not link.explicit]
    for link in outdated:
        tx.entity_links.remove(EntityLinkFilter(entities=(link.entity,), records=(link.record,)))
    _count(tx, register, [link for id, link in wanted.items() if id not in before])
    trusted = {record.id for record in records if record.taint is None}
    _clear_taints(tx, register, [link for link in wanted.values() if link.record in trusted])
    if left := tuple(dict.fromkeys(link.entity for link in (*moved, *outdated))):
        tx.entities.drop_unmentioned(left)
        tx.entities.recount(left)
    return len(wanted)


def _links(register: EntityRegister, record: RecordMentions) -> Iterable[EntityLink]:
    surest: dict[str, EntityMention] = {}
    for mention in sorted(record.mentions, key=lambda each: -each.confidence):
        surest.setdefault(same_name(mention.name), mention)
    for mention in surest.values():
        entity = register.entity_for(mention, record.owner, personal=record.personal, taint=record.taint)
        if entity is not None:
            yield EntityLink(
                id=link_id(entity.id, record.id),
                entity=entity.id,
                owner=record.owner,
                visibility=record.visibility,
                record_kind=record.kind,
                record=record.id,
                mention=mention.name,
                confidence=mention.confidence,
                created_at=record.at,
            )


def _differs(before: EntityLink | None, link: EntityLink) -> bool:
    """Whether to store the link; a link made by the user only follows the visibility of its record."""
    if before is None or not before.explicit:
        return before != link
    return before.visibility is not link.visibility


def links_of(tx: Transaction, records: Iterable[str]) -> Iterable[EntityLink]:
    """The links of the records with these ids."""
    ids = iter(dict.fromkeys(records))
    while batch := tuple(islice(ids, _PAGE)):
        after = None
        while True:
            page = tx.entity_links.find(EntityLinkFilter(records=batch), limit=_PAGE, after=after)
            yield from page.items
            after = page.next
            if after is None:
                break


def _count(tx: Transaction, register: EntityRegister, links: Sequence[EntityLink]) -> None:
    counts: dict[str, EntityMentions] = {}
    for link in links:
        entity = register.entity(link.entity)
        if _counts_for(entity, link):
            before = counts.get(entity.id, EntityMentions())
            counts[entity.id] = EntityMentions(before.mentions + 1, register.better_kind(entity) or before.kind)
    tx.entities.count_mentions(counts)


def _clear_taints(tx: Transaction, register: EntityRegister, trusted: Sequence[EntityLink]) -> None:
    """Clear the taint of entities that an untainted record mentions."""
    pairs = ((register.entity(link.entity), link) for link in trusted)
    cleared = {entity.id for entity, link in pairs if entity.tainted and _counts_for(entity, link)}
    tx.entities.count_mentions(dict.fromkeys(sorted(cleared), EntityMentions(trusted=True)))


def _counts_for(entity: Entity, link: EntityLink) -> bool:
    """Whether a link counts for an entity: personal records do not count for shared ones."""
    return entity.visibility is Visibility.PERSONAL or link.visibility is not Visibility.PERSONAL
