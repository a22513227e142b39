"""Known and new entities for a set of names."""

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from itertools import islice

from treering.core.entities import Entity, EntityKind
from treering.core.queries import EntityFilter
from treering.core.scope import Visibility
from treering.core.statements import same_name
from treering.core.taint import Taint
from treering.entities.extraction.mentions import EntityMention
from treering.ports.clock import NewId
from treering.ports.store import Transaction

_PAGE = 500
# A less confident mention does not change the kind of an entity.
_MIN_CONFIDENCE = 0.6
_MAX_MERGES = 50  # longest chain of merges; longer ones are cycles


def compatible(one: EntityKind, other: EntityKind) -> bool:
    """Whether two mentions of a name may mean the same entity: Paris the city is not Paris the person."""
    return one is other or EntityKind.OTHER in (one, other)


def survivors(tx: Transaction, entities: Collection[Entity]) -> Mapping[str, Entity]:
    """By id, the entity that each was finally merged into; itself if it was not merged, or if merges form a cycle."""
    ends = {entity.id: entity for entity in entities}
    for _ in range(_MAX_MERGES):
        merged = {id: end.merged_into for id, end in ends.items() if end.merged_into}
        if not merged:
            break
        into = tx.entities.get_many(merged.values())
        ends |= {id: into[target] for id, target in merged.items() if target in into}
        if not any(target in into for target in merged.values()):
            break
    return {entity.id: entity if ends[entity.id].merged_into else ends[entity.id] for entity in entities}


def named(tx: Transaction, names: Collection[str]) -> Iterator[Entity]:
    """Entities with one of these names, normalised by `same_name`, including deleted ones."""
    rest = iter(sorted(filter(None, names)))
    while batch := tuple(islice(rest, _PAGE)):
        after = None
        while True:
            page = tx.entities.find(EntityFilter.make(same_names=batch, deleted=None), limit=_PAGE, after=after)
            yield from page.items
            after = page.next
            if after is None:
                break


class EntityRegister:
    """Finds the entity of a mention, or creates one."""

    def __init__(
        self, known: Mapping[str, list[Entity]], ends: Mapping[str, Entity], now: datetime, new_id: NewId
    ) -> None:
        self._known = {name: list(entities) for name, entities in known.items()}
        self._ends = dict(ends)
        self._new: dict[str, Entity] = {}
        self._kinds: dict[str, EntityKind] = {}
        self._entities = {entity.id: entity for entity in ends.values()}
        self._now = now
        self._new_id = new_id

    def entity(self, id: str) -> Entity:
        return self._entities[id]

    def better_kind(self, entity: Entity) -> EntityKind | None:
        """The kind found by extraction, if the entity had none."""
        return self._kinds.get(entity.id)

    def entity_for(
        self, mention: EntityMention, owner: str, *, personal: bool, taint: Taint | None = None
    ) -> Entity | None:
        """The entity of a mention; None if it was deleted. Mentions in shared records only match shared entities.

        A new entity has the taint of its record.
        """
        name = same_name(mention.name)
        seen = [each for each in self._known.get(name, ()) if compatible(each.kind, mention.kind)]
        shared = [each for each in seen if each.visibility is not Visibility.PERSONAL]
        own = [each for each in seen if each.visibility is Visibility.PERSONAL and each.owner == owner]
        for candidates in (shared, own) if personal else (shared,):
            if candidates:
                best = min(candidates, key=lambda each: _preference(each, mention))
                return self._matched(self._ends[best.id], mention, personal=personal)
        return self._create(name, mention, owner, personal=personal, taint=taint)

    def store(self, tx: Transaction) -> None:
        """Store the new entities."""
        if self._new:
            tx.entities.create_many(self._new.values())

    def _matched(self, entity: Entity, mention: EntityMention, *, personal: bool) -> Entity | None:
        if entity.deleted_at is not None:
            return None
        unsure = entity.kind is EntityKind.OTHER and not entity.explicit and mention.confidence >= _MIN_CONFIDENCE
        may_update = not personal or entity.visibility is Visibility.PERSONAL
        if unsure and may_update and mention.kind is not EntityKind.OTHER:
            self._kinds[entity.id] = mention.kind
        return entity

    def _create(self, name: str, mention: EntityMention, owner: str, *, personal: bool, taint: Taint | None) -> Entity:
        entity = Entity(
            id=self._new_id(),
            owner=owner,
            visibility=Visibility.PERSONAL if personal else Visibility.PROJECT,
            kind=mention.kind,
            name=mention.name,
            taint=taint,
            created_at=self._now,
            updated_at=self._now,
        )
        self._new[entity.id] = self._entities[entity.id] = self._ends[entity.id] = entity
        self._known.setdefault(name, []).append(entity)
        return entity


def register_of(tx: Transaction, names: Collection[str], new_id: NewId, *, shared: bool = True) -> EntityRegister:
    """Register of the visible entities with these names; without `shared`, of personal ones only."""
    known: dict[str, list[Entity]] = {}
    found = [each for each in named(tx, names) if shared or each.visibility is Visibility.PERSONAL]
    for entity in found:
        for name in {same_name(each) for each in (entity.name, *entity.aliases)} & set(names):
            known.setdefault(name, []).append(entity)
    return EntityRegister(known, survivors(tx, found), tx.now, new_id)


def _preference(entity: Entity, mention: EntityMention) -> tuple[bool, bool, bool, int, datetime, str]:
    """Same kind first, then present, explicit, most mentioned and oldest ones."""
    deleted = entity.deleted_at is not None and entity.merged_into is None
    return (
        entity.kind is not mention.kind,
        deleted,
        not entity.explicit,
        -entity.mentions,
        entity.created_at,
        entity.id,
    )
