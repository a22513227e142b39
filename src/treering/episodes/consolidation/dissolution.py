"""Takes apart what stood for several episodes: they are again what their age makes them."""

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
    """Take a consolidated episode apart, and delete it softly; the ids of its members are returned.

    They keep the reference to it, and so are not merged again: somebody has decided that they are not the same.
    `Conflict` where it was taken apart before, or has become part of another.
    """
    with store.transaction(scope, now) as tx:
        tx.claim(CLAIM)
        standing = _standing(tx, id)
        members = _members(tx, standing)
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
    told = [each for each in (found, *tx.episodes.get_many(sorted(names)).values()) if each.consolidation]
    leaving = frozenset(each.id for each in told)
    for standing in told:
        _restore(tx, (each for each in _members(tx, standing) if each.id != id), settings, forgetting=leaving)
        if standing.id == id:
            continue
        withdraw(standing.id)
        tx.episodes.purge(standing.id)


def _standing(tx: Transaction, id: str) -> Episode:
    found = tx.episodes.get(id)
    if found is None:
        raise NotFound(f"no episode {id!r} in project {tx.scope.project!r}")
    if found.consolidation is None:
        raise InvalidInput(f"episode {id!r} stands for no others; name one that `consolidation` is set on")
    if found.deleted_at is not None:
        raise Conflict(f"episode {id!r} was taken apart already; its members are {_some(found.consolidation.members)}")
    if found.lifecycle.consolidated_into is not None:
        raise Conflict(f"episode {id!r} has become part of {found.lifecycle.consolidated_into!r}; take that one apart")
    return found


def _members(tx: Transaction, standing: Episode) -> list[Episode]:
    """Those that it still stands for and that were not purged."""
    assert standing.consolidation is not None
    found = tx.episodes.get_many(standing.consolidation.members)
    present = (found[id] for id in standing.consolidation.members if id in found)
    return [each for each in present if each.lifecycle.consolidated_into == standing.id]


def _restore(
    tx: Transaction, members: Iterable[Episode], settings: EpisodeSettings, *, forgetting: Collection[str] = ()
) -> None:
    for each in members:
        life = each.lifecycle
        phase = phase_at(age_days(each, tx.now), settings) if each.deleted_at is None else life.status
        references = tuple(name for name in life.referenced_by if name not in forgetting)
        restored = life.replace(status=phase, consolidated_into=None, referenced_by=references)
        tx.episodes.set_lifecycle(each.id, restored, version=each.version)


def _absorbed(tx: Transaction, id: str, members: Sequence[Episode]) -> Iterator[str]:
    """What stood for some of the members before; without them it stands for nothing."""
    earlier = dict.fromkeys(name for member in members for name in _references(member) if name != id)
    for each in tx.episodes.get_many(earlier).values():
        if each.lifecycle.consolidated_into == id and each.deleted_at is None:
            yield each.id


def _references(episode: Episode) -> Iterator[str]:
    """The names of what stands or stood for it."""
    return (name for name in episode.lifecycle.referenced_by if name.startswith(CONSOLIDATED))


def _some(ids: Sequence[str]) -> str:
    return ", ".join(ids[:5]) + (f" and {len(ids) - 5} more" if len(ids) > 5 else "")
