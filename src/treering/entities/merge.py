"""Corrections of entities by the user: merge, alias, rename, delete. Each can be undone."""

from collections.abc import Iterable

from treering.core.entities import Entity
from treering.core.errors import InvalidInput
from treering.core.history import Action
from treering.core.scope import Visibility
from treering.core.statements import same_name
from treering.core.values import LABELS, Record
from treering.entities.groups import candidates, checked_name, one_of
from treering.entities.links import CLAIM
from treering.entities.registry import survivors
from treering.ports.store import Transaction


def merge(tx: Transaction, name: str, into: str, *, nearest: int) -> Entity:
    """Merge two entities; returns the remaining one, which has both names. Records are not changed."""
    tx.claim(CLAIM)
    source, target = one_of(tx, name, nearest=nearest), one_of(tx, into, nearest=nearest)
    if source.id == target.id:
        raise InvalidInput(f"{name!r} and {into!r} are the same entity already; `undo` separates them")
    return _merged(tx, source, target)


def alias(tx: Transaction, name: str, aliases: Iterable[str], *, nearest: int) -> Entity:
    """Add aliases; an entity with such a name is merged into this one."""
    tx.claim(CLAIM)
    entity = one_of(tx, name, nearest=nearest)
    given = [checked_name(each) for each in aliases]
    entity = tx.entities.update(_with_aliases(entity, given), Action.UPDATE)
    found = {each.id: each for alias in given for each in candidates(tx, alias)}
    ends = survivors(tx, list(found.values()))
    others = {end.id: end for end in ends.values() if end.id != entity.id and end.deleted_at is None}
    for other in others.values():
        if _personal(other) or not _personal(entity):
            entity = _merged(tx, other, entity)
    return entity


def rename(tx: Transaction, name: str, to: str, *, nearest: int) -> Entity:
    """Rename the entity; the old name becomes an alias."""
    tx.claim(CLAIM)
    entity, new = one_of(tx, name, nearest=nearest), checked_name(to)
    taken = [each for each in candidates(tx, new) if each.id != entity.id and not each.deleted_at]
    if any(each.merged_into is None and _personal(each) == _personal(entity) for each in taken):
        raise InvalidInput(f"{to!r} is another entity; merge {name!r} into it")
    return tx.entities.update(_with_aliases(entity.replace(name=new), (entity.name,)), Action.UPDATE)


def delete(tx: Transaction, name: str, *, nearest: int) -> Entity:
    """Delete the entity, so that mentions of it are skipped. Its records stay."""
    tx.claim(CLAIM)
    entity = one_of(tx, name, nearest=nearest)
    tx.entities.delete(entity.id)
    return entity


def undo(tx: Transaction, name: str, *, nearest: int) -> tuple[Record, ...]:
    """Undo the last correction of the entity; returns all records it changed."""
    tx.claim(CLAIM)
    changed = tx.entities.undo(one_of(tx, name, nearest=nearest, follow_merges=False).id)
    tx.entities.recount(record.id for record in changed if isinstance(record, Entity))
    return changed


def _merged(tx: Transaction, source: Entity, target: Entity) -> Entity:
    if _personal(target) and not _personal(source):
        raise InvalidInput(
            f"{source.name!r} is shared and {target.name!r} is personal; "
            f"merge {target.name!r} into {source.name!r} instead"
        )
    detail = {"into": target.id}
    tx.entities.update(source.replace(merged_into=target.id, explicit=True), Action.UPDATE, detail)
    # Personal names are not added to a shared entity; they stay with the merged one.
    names = (source.name, *source.aliases) if _personal(source) == _personal(target) else ()
    return tx.entities.update(_with_aliases(target, names), Action.UPDATE, {"merged": source.id})


def _with_aliases(entity: Entity, names: Iterable[str]) -> Entity:
    """The entity with these aliases, each spelling once, marked as explicit."""
    spellings = {same_name(each): each for each in reversed((entity.name, *entity.aliases, *names))}
    own = same_name(entity.name)
    aliases = [name for key, name in reversed(spellings.items()) if key != own]
    if len(aliases) > LABELS:
        raise InvalidInput(f"{entity.name!r} would have {len(aliases):,} aliases; the limit is {LABELS:,}")
    return entity.replace(aliases=tuple(aliases), explicit=True)


def _personal(entity: Entity) -> bool:
    return entity.visibility is Visibility.PERSONAL
