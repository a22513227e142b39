"""Entity groups: an entity with those merged into it and those of the same name."""

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from treering.core.entities import Entity, EntityKind
from treering.core.errors import InvalidInput, NotFound
from treering.core.queries import EntityFilter, Order
from treering.core.scope import Visibility
from treering.core.statements import same_name
from treering.core.values import LABELS
from treering.entities.registry import compatible, named, survivors
from treering.ports.store import Transaction

_MAX_COMPARED = 2_000  # entities, most mentioned first, whose names are compared with a misspelt one
_MIN_SIMILARITY = 0.6


@dataclass(frozen=True, slots=True)
class EntityGroup:
    """An entity and the others it represents; `ids` has all of them, its own first."""

    entity: Entity
    others: tuple[Entity, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        return (self.entity.id, *(other.id for other in self.others))

    @property
    def mentions(self) -> int:
        return self.entity.mentions + sum(other.mentions for other in self.others)

    @property
    def aliases(self) -> tuple[str, ...]:
        """All other names, each spelling once."""
        names = {same_name(self.entity.name): self.entity.name}
        for name in (*self.entity.aliases, *(name for each in self.others for name in (each.name, *each.aliases))):
            names.setdefault(same_name(name), name)
        return tuple(names.values())[1:]


def find_group(tx: Transaction, name: str, kind: EntityKind | None, *, nearest: int) -> EntityGroup:
    """The entities with a name or id, shared ones before personal ones.

    Raises `NotFound` with the most similar names if there is none.
    """
    found = [each for each in candidates(tx, name) if kind is None or compatible(each.kind, kind)]
    ends = survivors(tx, found)
    present = {end.id: end for each in found if (end := ends[each.id]).deleted_at is None}
    if not present:
        raise NotFound(_unknown(tx, name, nearest))
    first = min(present.values(), key=_preference)
    same_name_entities = [
        each for each in present.values() if each.id != first.id and compatible(each.kind, first.kind)
    ]
    return with_merged(tx, first, same_name_entities)


def with_merged(tx: Transaction, entity: Entity, same_name_entities: Sequence[Entity] = ()) -> EntityGroup:
    """Include entities that were merged into it, transitively."""
    found = {entity.id: entity} | {each.id: each for each in same_name_entities}
    found |= {each.id: each for each, _ in _merged_into(tx, found)}
    return EntityGroup(entity, tuple(each for id, each in found.items() if id != entity.id))


def with_mentions(tx: Transaction, entities: Sequence[Entity]) -> list[Entity]:
    """Each with the mentions of all merged into it, most mentioned first."""
    mentions = Counter({each.id: each.mentions for each in entities})
    for each, into in _merged_into(tx, [entity.id for entity in entities]):
        mentions[into] += each.mentions
    totals = (each.replace(mentions=mentions[each.id]) for each in entities)
    return sorted(totals, key=lambda each: (-each.mentions, each.name))


def _merged_into(tx: Transaction, ids: Iterable[str]) -> Iterator[tuple[Entity, str]]:
    """Entities merged into one of these, transitively, with the target; cycles end."""
    ends = {id: id for id in ids}
    pending = deque(ends)
    while pending:
        some = tuple(pending.popleft() for _ in range(min(len(pending), LABELS)))
        for each in tx.entities.find(EntityFilter(merged_into=some, deleted=None), limit=_MAX_COMPARED).items:
            if each.id not in ends and each.merged_into is not None:
                ends[each.id] = ends[each.merged_into]
                pending.append(each.id)
                yield each, ends[each.id]


def candidates(tx: Transaction, name: str) -> list[Entity]:
    """Entities by id, else by name or alias, including deleted and merged ones."""
    by_id = tx.entities.get(name)
    return [by_id] if by_id is not None else list(named(tx, {same_name(name)}))


def one_of(tx: Transaction, name: str, *, nearest: int, follow_merges: bool = True) -> Entity:
    """The entity to change: the one it was merged into or, without `follow_merges`, the one of this name."""
    if follow_merges:
        return find_group(tx, name, None, nearest=nearest).entity
    found = candidates(tx, name)
    if not found:
        raise NotFound(_unknown(tx, name, nearest))
    return min(found, key=lambda each: (each.name != name, *_preference(each)))


def checked_name(name: str) -> str:
    """The name with normalised whitespace; raises `InvalidInput` if it has no letter or digit."""
    plain = " ".join(name.split())
    if not any(map(str.isalnum, same_name(plain))):
        raise InvalidInput(f"{name!r} is not a name; give one with a letter or a digit")
    return plain


def _unknown(tx: Transaction, name: str, limit: int) -> str:
    message = f"no entity {name!r} in project {tx.scope.project!r}"
    near = _nearest(tx, name, limit) if limit else ()
    return (
        f"{message}; did you mean {', '.join(map(repr, near))}?"
        if near
        else f"{message}; `treering search` searches by words"
    )


def _nearest(tx: Transaction, name: str, limit: int) -> Collection[str]:
    compared = tx.entities.find(order=Order(by="mentions"), limit=_MAX_COMPARED).items
    names = {same_name(each): entity.name for entity in compared for each in (entity.name, *entity.aliases)}
    words = {word: full for each, full in reversed(names.items()) for word in each.split() if len(word) > 2}
    wanted = same_name(name)
    close = get_close_matches(wanted, {**words, **names}, n=limit, cutoff=_MIN_SIMILARITY)
    return tuple(dict.fromkeys({**words, **names}[each] for each in close))


def _preference(entity: Entity) -> tuple[bool, bool, int, str]:
    return entity.visibility is Visibility.PERSONAL, not entity.explicit, -entity.mentions, entity.id
