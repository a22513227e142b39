"""Who stands for whom: episodes that were made into one are shown as that one, never beside it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from treering.core.episodes import Episode, EpisodeStatus
from treering.core.queries import EpisodeFilter, TimeRange
from treering.core.values import LABELS
from treering.ports.collections import RecordMatches

if TYPE_CHECKING:
    from treering.core.settings import EpisodeSettings
    from treering.ports.store import Transaction

_OLD = (EpisodeStatus.AGED, EpisodeStatus.ARCHIVED)
_DAY = timedelta(days=1)
# Deleted episodes that are looked through for those that stood for others; after the grace they are gone.
_DELETED = 1_000
# How often episodes may have been made into one that was made into the next; more is a circle.
_MOST_STEPS = 5


@dataclass(frozen=True, slots=True)
class Standing:
    """An episode, and which of those found it stands for."""

    episode: Episode
    stands_for: tuple[str, ...] = ()


def represented(tx: Transaction, found: Iterable[Episode], where: EpisodeFilter) -> tuple[Standing, ...]:
    """What to show for what was found, in its order. Who asks for the originals themselves gets them."""
    episodes = tuple(found)
    if where.consolidated is not None or where.ids:
        return tuple(map(Standing, episodes))
    standing = {each.id: each for each in episodes}
    for _ in range(_MOST_STEPS):
        into = {each.lifecycle.consolidated_into for each in standing.values()} - {None, *standing}
        if not into:
            break
        wanted = [id for id in into if id is not None]
        standing |= {match.value.id: match.value for match in tx.episodes.readable(wanted)}
    shown: dict[str, list[str]] = {}
    for each in episodes:
        last = _last(each, standing)
        shown.setdefault(last.id, [])
        if last.id != each.id:
            shown[last.id].append(each.id)
    return tuple(Standing(standing[id], tuple(members)) for id, members in shown.items())


def is_old(tx: Transaction, episode: Episode, settings: EpisodeSettings) -> bool:
    """Whether it is aged or archived. Once what stands for it was deleted, its age says so and not its status."""
    if episode.lifecycle.consolidated_into is not None:
        return tx.now - episode.at > settings.aged_after_days * _DAY
    return episode.lifecycle.status in _OLD


def released(tx: Transaction, where: EpisodeFilter, limit: int, settings: EpisodeSettings) -> RecordMatches[Episode]:
    """Those that were archived only because of what stands for them, which was deleted; the newest that pass."""
    deleted = tx.episodes.newest(EpisodeFilter(deleted=True), limit=_DELETED)
    told = (match.value.consolidation for match in deleted)
    ids = dict.fromkeys(id for each in told if each is not None for id in each.members)
    if not ids:
        return RecordMatches()
    young = TimeRange(since=tx.now - settings.archived_after_days * _DAY)
    narrowed = where.replace(ids=tuple(ids)[:LABELS], consolidated=True, happened=young)
    return tx.episodes.newest(narrowed, limit=limit)


def _last(episode: Episode, known: dict[str, Episode]) -> Episode:
    """The one that stands for it; itself where that one is gone or not for these eyes."""
    for _ in range(_MOST_STEPS):
        after = known.get(episode.lifecycle.consolidated_into or "")
        if after is None or after.deleted_at is not None:
            break
        episode = after
    return episode
