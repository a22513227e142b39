"""What people say of entities: that two are one, what else one is called, that it is none. Each can be undone."""

from collections.abc import Iterable

from treering.core.entities import Entity
from treering.core.errors import InvalidInput
from treering.core.history import Action
from treering.core.scope import Visibility
from treering.core.statements import same_name
from treering.core.values import LABELS, Record
from treering.entities.groups import candidates, name_given, one_of
from treering.entities.links import CLAIM
from treering.entities.registry import survivors
from treering.ports.store import Transaction


def merge(tx: Transaction, name: str, into: str, *, nearest: int) -> Entity:
    """Two names, one entity: the one that stands is returned, and is known by both. Their records stay as they are."""
    tx.claim(CLAIM)
    gone, stays = one_of(tx, name, nearest=nearest), one_of(tx, into, nearest=nearest)
    if gone.id == stays.id:
        raise InvalidInput(f"{name!r} and {into!r} are one already; `undo` takes that apart")
    return _merged(tx, gone, stays)


def alias(tx: Transaction, name: str, aliases: Iterable[str], *, nearest: int) -> Entity:
    """Also call it so. Where an alias is the name of another entity, the two are one."""
    tx.claim(CLAIM)
    entity = one_of(tx, name, nearest=nearest)
    given = [name_given(each) for each in aliases]
    entity = tx.entities.update(_called(entity, given), Action.UPDATE)
    found = {each.id: each for alias in given for each in candidates(tx, alias)}
    ends = survivors(tx, list(found.values()))
    others = {end.id: end for end in ends.values() if end.id != entity.id and end.deleted_at is None}
    for other in others.values():
        if _personal(other) or not _personal(entity):
            entity = _merged(tx, other, entity)
    return entity


def rename(tx: Transaction, name: str, to: str, *, nearest: int) -> Entity:
    """Give it another name; it is still found by the old one."""
    tx.claim(CLAIM)
    entity, new = one_of(tx, name, nearest=nearest), name_given(to)
    taken = [each for each in candidates(tx, new) if each.id != entity.id and not each.deleted_at]
    if any(each.merged_into is None and _personal(each) == _personal(entity) for each in taken):
        raise InvalidInput(f"{to!r} is an entity already; merge {name!r} into it")
    return tx.entities.update(_called(entity.replace(name=new), (entity.name,)), Action.UPDATE)


def delete(tx: Transaction, name: str, *, nearest: int) -> Entity:
    """It is no entity: it is not told about, and mentions of it are passed over. Its records stay."""
    tx.claim(CLAIM)
    entity = one_of(tx, name, nearest=nearest)
    tx.entities.delete(entity.id)
    return entity


def undo(tx: Transaction, name: str, *, nearest: int) -> tuple[Record, ...]:
    """Take back the last thing that somebody said of it, with everything that was part of it."""
    tx.claim(CLAIM)
    changed = tx.entities.undo(one_of(tx, name, nearest=nearest, standing=False).id)
    tx.entities.recount(record.id for record in changed if isinstance(record, Entity))
    return changed


def _merged(tx: Transaction, gone: Entity, stays: Entity) -> Entity:
    if _personal(stays) and not _personal(gone):
        raise InvalidInput(
            f"others see {gone.name!r} and only you see {stays.name!r}; merge {stays.name!r} into {gone.name!r} instead"
        )
    detail = {"into": stays.id}
    tx.entities.update(gone.replace(merged_into=stays.id, explicit=True), Action.UPDATE, detail)
    # What only one person calls it is not told to the others: it is found by the entity that was merged.
    names = (gone.name, *gone.aliases) if _personal(gone) == _personal(stays) else ()
    return tx.entities.update(_called(stays, names), Action.UPDATE, {"merged": gone.id})


def _called(entity: Entity, names: Iterable[str]) -> Entity:
    """With these aliases, each once however it is written; somebody said so."""
    told = {same_name(each): each for each in reversed((entity.name, *entity.aliases, *names))}
    own = same_name(entity.name)
    aliases = [name for key, name in reversed(told.items()) if key != own]
    if len(aliases) > LABELS:
        raise InvalidInput(f"{entity.name!r} would have {len(aliases):,} aliases; at most {LABELS:,} are kept")
    return entity.replace(aliases=tuple(aliases), explicit=True)


def _personal(entity: Entity) -> bool:
    return entity.visibility is Visibility.PERSONAL
