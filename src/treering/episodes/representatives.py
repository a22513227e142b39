"""Representatives: consolidated episodes are shown instead of their members, never beside them."""

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
# Deleted episodes searched for representatives; they are purged after the grace period.
_MAX_DELETED = 1_000
# Longest chain of consolidations; longer ones are cycles.
_MAX_STEPS = 5


@dataclass(frozen=True, slots=True)
class ShownEpisode:
    """An episode, and the ids of the found episodes that it represents."""

    episode: Episode
    stands_for: tuple[str, ...] = ()


def represented(tx: Transaction, found: Iterable[Episode], where: EpisodeFilter) -> tuple[ShownEpisode, ...]:
    """The episodes to show for those found, in their order. A filter on `consolidated` or `ids` disables it."""
    episodes = tuple(found)
    if where.consolidated is not None or where.ids:
        return tuple(map(ShownEpisode, episodes))
    by_id = {each.id: each for each in episodes}
    for _ in range(_MAX_STEPS):
        into = {each.lifecycle.consolidated_into for each in by_id.values()} - {None, *by_id}
        if not into:
            break
        wanted = [id for id in into if id is not None]
        by_id |= {match.value.id: match.value for match in tx.episodes.readable(wanted)}
    shown: dict[str, list[str]] = {}
    for each in episodes:
        last = _last(each, by_id)
        shown.setdefault(last.id, [])
        if last.id != each.id:
            shown[last.id].append(each.id)
    return tuple(ShownEpisode(by_id[id], tuple(members)) for id, members in shown.items())


def is_old(tx: Transaction, episode: Episode, settings: EpisodeSettings) -> bool:
    """Whether it is aged or archived; decided by age if its representative was deleted, since that archived it."""
    if episode.lifecycle.consolidated_into is not None:
        return tx.now - episode.at > settings.aged_after_days * _DAY
    return episode.lifecycle.status in _OLD


def released(tx: Transaction, where: EpisodeFilter, limit: int, settings: EpisodeSettings) -> RecordMatches[Episode]:
    """The newest episodes that were archived only for a representative that is now deleted."""
    deleted = tx.episodes.newest(EpisodeFilter(deleted=True), limit=_MAX_DELETED)
    consolidations = (match.value.consolidation for match in deleted)
    ids = dict.fromkeys(id for each in consolidations if each is not None for id in each.members)
    if not ids:
        return RecordMatches()
    young = TimeRange(since=tx.now - settings.archived_after_days * _DAY)
    narrowed = where.replace(ids=tuple(ids)[:LABELS], consolidated=True, happened=young)
    return tx.episodes.newest(narrowed, limit=limit)


def _last(episode: Episode, known: dict[str, Episode]) -> Episode:
    """Its representative; itself if there is none, or if that is deleted or not visible."""
    for _ in range(_MAX_STEPS):
        after = known.get(episode.lifecycle.consolidated_into or "")
        if after is None or after.deleted_at is not None:
            break
        episode = after
    return episode
