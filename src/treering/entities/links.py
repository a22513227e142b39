"""Ties records to the entities they speak of. Doing it again changes nothing.

What only personal records speak of is an entity of their owner. A personal record may be tied to an entity that all
see, by a link that only its owner sees; it adds nothing to that entity.
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
from treering.entities.extraction.mentions import Mention
from treering.entities.registry import Register, register_of
from treering.ports.clock import NewId
from treering.ports.collections import EntityMentions
from treering.ports.store import Transaction

CLAIM = "entities"
"""Who holds it is the only one to change entities or links in the project."""
_PAGE = 1_000


@dataclass(frozen=True, slots=True)
class Spoken:
    """A record, who sees it, when it was, and the names in it."""

    kind: str
    id: str
    owner: str
    visibility: Visibility
    at: datetime
    mentions: tuple[Mention, ...]
    taint: Taint | None = None

    @property
    def personal(self) -> bool:
        return self.visibility is Visibility.PERSONAL


def link_records(tx: Transaction, records: Sequence[Spoken], new_id: NewId) -> int:
    """Tie records to what they speak of, and untie them from what they no longer do; their links are counted.

    What somebody linked by hand stays. Names of entities that somebody deleted are passed over.
    """
    if not records:
        return 0
    tx.claim(CLAIM)
    names = {same_name(mention.name) for record in records for mention in record.mentions}
    register = register_of(tx, names, new_id)
    wanted = {link.id: link for record in records for link in _links(register, record)}
    before = {link.id: link for link in _linked(tx, records)}
    register.store(tx)
    tx.entity_links.put_many(link for id, link in wanted.items() if _differs(before.get(id), link))
    moved = [link for id, link in before.items() if id in wanted and link.visibility is not wanted[id].visibility]
    gone = [link for id, link in before.items() if id not in wanted and not link.explicit]
    for link in gone:
        tx.entity_links.remove(EntityLinkFilter(entities=(link.entity,), records=(link.record,)))
    _count(tx, register, [link for id, link in wanted.items() if id not in before])
    trusted = {record.id for record in records if record.taint is None}
    _clear_taints(tx, register, [link for link in wanted.values() if link.record in trusted])
    left = tuple(dict.fromkeys(link.entity for link in (*moved, *gone)))
    tx.entities.drop_unmentioned(left)
    tx.entities.recount(left)
    return len(wanted)


def _links(register: Register, record: Spoken) -> Iterable[EntityLink]:
    surest: dict[str, Mention] = {}
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
    """A link that somebody made is only moved to whoever sees the record now."""
    if before is None or not before.explicit:
        return before != link
    return before.visibility is not link.visibility


def _linked(tx: Transaction, records: Sequence[Spoken]) -> Iterable[EntityLink]:
    ids = iter(dict.fromkeys(record.id for record in records))
    while batch := tuple(islice(ids, _PAGE)):
        after = None
        while True:
            page = tx.entity_links.find(EntityLinkFilter(records=batch), limit=_PAGE, after=after)
            yield from page.items
            after = page.next
            if after is None:
                break


def _count(tx: Transaction, register: Register, links: Sequence[EntityLink]) -> None:
    heard: dict[str, EntityMentions] = {}
    for link in links:
        entity = register.entity(link.entity)
        if _is_heard(entity, link):
            before = heard.get(entity.id, EntityMentions())
            heard[entity.id] = EntityMentions(before.mentions + 1, register.better_kind(entity) or before.kind)
    tx.entities.count_mentions(heard)


def _clear_taints(tx: Transaction, register: Register, trusted: Sequence[EntityLink]) -> None:
    """An entity that a record without taint speaks of has none either."""
    heard = ((register.entity(link.entity), link) for link in trusted)
    cleared = {entity.id for entity, link in heard if entity.tainted and _is_heard(entity, link)}
    tx.entities.count_mentions(dict.fromkeys(sorted(cleared), EntityMentions(trusted=True)))


def _is_heard(entity: Entity, link: EntityLink) -> bool:
    """What personal records say of an entity that all see does not count there."""
    return entity.visibility is Visibility.PERSONAL or link.visibility is not Visibility.PERSONAL
