"""The entities that some names may stand for, known and new."""

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from itertools import islice

from treering.core.entities import Entity, EntityKind
from treering.core.queries import EntityFilter
from treering.core.scope import Visibility
from treering.core.statements import same_name
from treering.core.taint import Taint
from treering.entities.extraction.mentions import Mention
from treering.ports.clock import NewId
from treering.ports.store import Transaction

_PAGE = 500
# Whoever is less sure does not change what an entity is taken for.
_SURE = 0.6
_MOST_MERGES = 50
"""How often an entity may have been merged into the next; more is a circle."""


def compatible(one: EntityKind, other: EntityKind) -> bool:
    """Whether two mentions of one name may mean the same: Paris the city is not Paris the person."""
    return one is other or EntityKind.OTHER in (one, other)


def survivors(tx: Transaction, entities: Collection[Entity]) -> Mapping[str, Entity]:
    """By id, the entity that each was merged into in the end: itself where it was not, or where the way is a circle."""
    ends = {entity.id: entity for entity in entities}
    for _ in range(_MOST_MERGES):
        merged = {id: end.merged_into for id, end in ends.items() if end.merged_into}
        if not merged:
            break
        into = tx.entities.get_many(merged.values())
        ends |= {id: into[target] for id, target in merged.items() if target in into}
        if not any(target in into for target in merged.values()):
            break
    return {entity.id: entity if ends[entity.id].merged_into else ends[entity.id] for entity in entities}


def named(tx: Transaction, names: Collection[str]) -> Iterator[Entity]:
    """Every entity that goes by one of the names, as `same_name` writes them, also deleted ones."""
    rest = iter(sorted(filter(None, names)))
    while batch := tuple(islice(rest, _PAGE)):
        after = None
        while True:
            page = tx.entities.find(EntityFilter.make(same_names=batch, deleted=None), limit=_PAGE, after=after)
            yield from page.items
            after = page.next
            if after is None:
                break


class Register:
    """Finds the entity that a mention means, or makes one."""

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
        """What reading says it is, where nobody knew."""
        return self._kinds.get(entity.id)

    def entity_for(self, mention: Mention, owner: str, *, personal: bool, taint: Taint | None = None) -> Entity | None:
        """What the mention means; None where somebody took that away. A record that all see means what all see.

        A new one has the taint of the record that speaks of it.
        """
        name = same_name(mention.name)
        seen = [each for each in self._known.get(name, ()) if compatible(each.kind, mention.kind)]
        shared = [each for each in seen if each.visibility is not Visibility.PERSONAL]
        own = [each for each in seen if each.visibility is Visibility.PERSONAL and each.owner == owner]
        for candidates in (shared, own) if personal else (shared,):
            if candidates:
                best = min(candidates, key=lambda each: _preference(each, mention))
                return self._met(self._ends[best.id], mention, personal=personal)
        return self._made(name, mention, owner, personal=personal, taint=taint)

    def store(self, tx: Transaction) -> None:
        """Store those that are new."""
        if self._new:
            tx.entities.create_many(self._new.values())

    def _met(self, entity: Entity, mention: Mention, *, personal: bool) -> Entity | None:
        if entity.deleted_at is not None:
            return None
        unsure = entity.kind is EntityKind.OTHER and not entity.explicit and mention.confidence >= _SURE
        hers = not personal or entity.visibility is Visibility.PERSONAL
        if unsure and hers and mention.kind is not EntityKind.OTHER:
            self._kinds[entity.id] = mention.kind
        return entity

    def _made(self, name: str, mention: Mention, owner: str, *, personal: bool, taint: Taint | None) -> Entity:
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


def register_of(tx: Transaction, names: Collection[str], new_id: NewId, *, shared: bool = True) -> Register:
    """Of all entities that this scope sees under the names; with `shared` off, of its own only."""
    known: dict[str, list[Entity]] = {}
    found = [each for each in named(tx, names) if shared or each.visibility is Visibility.PERSONAL]
    for entity in found:
        for name in {same_name(each) for each in (entity.name, *entity.aliases)} & set(names):
            known.setdefault(name, []).append(entity)
    return Register(known, survivors(tx, found), tx.now, new_id)


def _preference(entity: Entity, mention: Mention) -> tuple[bool, bool, bool, int, datetime, str]:
    """The same kind first, then what stands, what somebody named, what is spoken of most, what was there first."""
    gone = entity.deleted_at is not None and entity.merged_into is None
    return (
        entity.kind is not mention.kind,
        gone,
        not entity.explicit,
        -entity.mentions,
        entity.created_at,
        entity.id,
    )
