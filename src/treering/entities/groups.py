"""One entity under all the names it has: what it was merged with, and what others know it as."""

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

_MOST_COMPARED = 2_000
"""Names that a misspelt one is compared with: those that are spoken of most."""
_ALIKE = 0.6


@dataclass(frozen=True, slots=True)
class Known:
    """An entity and the others that it stands for; `ids` are all of them, its own first."""

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
        """Every other way it is called, each once however it is written."""
        told = {same_name(self.entity.name): self.entity.name}
        for name in (*self.entity.aliases, *(name for each in self.others for name in (each.name, *each.aliases))):
            told.setdefault(same_name(name), name)
        return tuple(told.values())[1:]


def known_as(tx: Transaction, name: str, kind: EntityKind | None, *, nearest: int) -> Known:
    """Everything that goes by a name (or an id): what all see first, then what only this principal does.

    An unknown name is `NotFound`, and tells the nearest known ones.
    """
    found = [each for each in candidates(tx, name) if kind is None or compatible(each.kind, kind)]
    ends = survivors(tx, found)
    standing = {end.id: end for each in found if (end := ends[each.id]).deleted_at is None}
    if not standing:
        raise NotFound(_unknown(tx, name, nearest))
    first = min(standing.values(), key=_preference)
    alike = [each for each in standing.values() if each.id != first.id and compatible(each.kind, first.kind)]
    return with_merged(tx, first, alike)


def with_merged(tx: Transaction, entity: Entity, alike: Sequence[Entity] = ()) -> Known:
    """With all that was merged into it, or into what was merged into it."""
    found = {entity.id: entity} | {each.id: each for each in alike}
    found |= {each.id: each for each, _ in _merged_into(tx, found)}
    return Known(entity, tuple(each for id, each in found.items() if id != entity.id))


def counted(tx: Transaction, entities: Sequence[Entity]) -> list[Entity]:
    """Each with the mentions of all that was merged into it, those with the most first."""
    mentions = Counter({each.id: each.mentions for each in entities})
    for each, into in _merged_into(tx, [entity.id for entity in entities]):
        mentions[into] += each.mentions
    told = (each.replace(mentions=mentions[each.id]) for each in entities)
    return sorted(told, key=lambda each: (-each.mentions, each.name))


def _merged_into(tx: Transaction, ids: Iterable[str]) -> Iterator[tuple[Entity, str]]:
    """Each entity that was merged into one of these, by whatever way, and into which; a circle is left."""
    ends = {id: id for id in ids}
    asked = deque(ends)
    while asked:
        some = tuple(asked.popleft() for _ in range(min(len(asked), LABELS)))
        for each in tx.entities.find(EntityFilter(merged_into=some, deleted=None), limit=_MOST_COMPARED).items:
            if each.id not in ends and each.merged_into is not None:
                ends[each.id] = ends[each.merged_into]
                asked.append(each.id)
                yield each, ends[each.id]


def candidates(tx: Transaction, name: str) -> list[Entity]:
    """Entities by id, else by name or alias, also deleted and merged ones."""
    by_id = tx.entities.get(name)
    return [by_id] if by_id is not None else list(named(tx, {same_name(name)}))


def one_of(tx: Transaction, name: str, *, nearest: int, standing: bool = True) -> Entity:
    """The entity that a change is made to: the one that stands, or with `standing` off the very one of this name."""
    if standing:
        return known_as(tx, name, None, nearest=nearest).entity
    found = candidates(tx, name)
    if not found:
        raise NotFound(_unknown(tx, name, nearest))
    return min(found, key=lambda each: (each.name != name, *_preference(each)))


def name_given(name: str) -> str:
    """A name as it is kept; one without a letter or digit is an `InvalidInput`."""
    plain = " ".join(name.split())
    if not any(map(str.isalnum, same_name(plain))):
        raise InvalidInput(f"{name!r} is not a name; give one with a letter or a digit in it")
    return plain


def _unknown(tx: Transaction, name: str, most: int) -> str:
    told = f"nothing is known about {name!r} in project {tx.scope.project!r}"
    near = _nearest(tx, name, most) if most else ()
    return f"{told}; did you mean {', '.join(map(repr, near))}?" if near else f"{told}; `recall` searches by words"


def _nearest(tx: Transaction, name: str, most: int) -> Collection[str]:
    compared = tx.entities.find(order=Order(by="mentions"), limit=_MOST_COMPARED).items
    names = {same_name(each): entity.name for entity in compared for each in (entity.name, *entity.aliases)}
    words = {word: told for each, told in reversed(names.items()) for word in each.split() if len(word) > 2}
    wanted = same_name(name)
    close = get_close_matches(wanted, {**words, **names}, n=most, cutoff=_ALIKE)
    return tuple(dict.fromkeys({**words, **names}[each] for each in close))


def _preference(entity: Entity) -> tuple[bool, bool, int, str]:
    return entity.visibility is Visibility.PERSONAL, not entity.explicit, -entity.mentions, entity.id
