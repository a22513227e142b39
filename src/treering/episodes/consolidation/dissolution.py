"""Reverses consolidation: members get back the phase of their age."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from treering.core.errors import Conflict, InvalidInput, NotFound
from treering.core.settings import EpisodeSettings
from treering.episodes.consolidation.names import CLAIM, CONSOLIDATED
from treering.episodes.lifecycle import age_days, phase_at

if TYPE_CHECKING:
    from treering.core.episodes import Episode
    from treering.core.scope import Scope
    from treering.ports.store import Store, Transaction


def dissolve(
    scope: Scope, store: Store, now: datetime, id: str, *, settings: EpisodeSettings | None = None
) -> tuple[str, ...]:
    """Restore the members of a consolidated episode and soft-delete it; returns their ids.

    The members keep a reference to it, so that they are not merged again. Raises `Conflict` if it was dissolved before,
    or was consolidated into another episode.
    """
    with store.transaction(scope, now) as tx:
        tx.claim(CLAIM)
        representative = _representative(tx, id)
        members = _members(tx, representative)
        _restore(tx, members, settings or EpisodeSettings())
        for earlier in (*_absorbed(tx, id, members), id):
            tx.episodes.delete(earlier)
    return tuple(each.id for each in members)


def purge_representatives(tx: Transaction, id: str, settings: EpisodeSettings, withdraw: Callable[[str], None]) -> None:
    """Purge the consolidated episodes that contain the words of an episode which is about to be purged.

    Their other members become active again and may be merged again; so do the members of `id` itself. `withdraw` is
    called with the id of each purged episode, so that reflections stop citing it.
    """
    found = tx.episodes.get(id)
    if found is None:
        return
    tx.claim(CLAIM)
    names = set(_references(found))
    if found.lifecycle.consolidated_into:
        names.add(found.lifecycle.consolidated_into)
    representatives = [each for each in (found, *tx.episodes.get_many(sorted(names)).values()) if each.consolidation]
    purged = frozenset(each.id for each in representatives)
    for representative in representatives:
        _restore(tx, (each for each in _members(tx, representative) if each.id != id), settings, dropped=purged)
        if representative.id == id:
            continue
        withdraw(representative.id)
        tx.episodes.purge(representative.id)


def _representative(tx: Transaction, id: str) -> Episode:
    found = tx.episodes.get(id)
    if found is None:
        raise NotFound(f"no episode {id!r} in project {tx.scope.project!r}; `treering episodes` lists ids")
    if found.consolidation is None:
        raise InvalidInput(f"episode {id!r} is not a consolidated episode; name one whose `consolidation` is set")
    if found.deleted_at is not None:
        raise Conflict(f"episode {id!r} was dissolved already; its members are {_some(found.consolidation.members)}")
    if found.lifecycle.consolidated_into is not None:
        raise Conflict(f"episode {id!r} was consolidated into {found.lifecycle.consolidated_into!r}; dissolve that one")
    return found


def _members(tx: Transaction, representative: Episode) -> list[Episode]:
    """Members that it still represents and that were not purged."""
    assert representative.consolidation is not None
    found = tx.episodes.get_many(representative.consolidation.members)
    present = (found[id] for id in representative.consolidation.members if id in found)
    return [each for each in present if each.lifecycle.consolidated_into == representative.id]


def _restore(
    tx: Transaction, members: Iterable[Episode], settings: EpisodeSettings, *, dropped: Collection[str] = ()
) -> None:
    for each in members:
        life = each.lifecycle
        phase = phase_at(age_days(each, tx.now), settings) if each.deleted_at is None else life.status
        references = tuple(name for name in life.referenced_by if name not in dropped)
        restored = life.replace(status=phase, consolidated_into=None, referenced_by=references)
        tx.episodes.set_lifecycle(each.id, restored, version=each.version)


def _absorbed(tx: Transaction, id: str, members: Sequence[Episode]) -> Iterator[str]:
    """Ids of earlier representatives of the members that were consolidated into this one."""
    earlier = dict.fromkeys(name for member in members for name in _references(member) if name != id)
    for each in tx.episodes.get_many(earlier).values():
        if each.lifecycle.consolidated_into == id and each.deleted_at is None:
            yield each.id


def _references(episode: Episode) -> Iterator[str]:
    """Ids of its present and earlier representatives."""
    return (name for name in episode.lifecycle.referenced_by if name.startswith(CONSOLIDATED))


def _some(ids: Sequence[str]) -> str:
    return ", ".join(ids[:5]) + (f" and {len(ids) - 5} more" if len(ids) > 5 else "")
