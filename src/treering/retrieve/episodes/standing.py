"""Who stands for whom: episodes that were made into one are shown as that one, never beside it."""

from collections.abc import Iterable
from dataclasses import dataclass

from treering.core.episodes import Episode
from treering.core.queries import EpisodeFilter
from treering.ports.store import Transaction

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


def _last(episode: Episode, known: dict[str, Episode]) -> Episode:
    """The one that stands for it; itself where that one is gone or not for these eyes."""
    for _ in range(_MOST_STEPS):
        after = known.get(episode.lifecycle.consolidated_into or "")
        if after is None or after.deleted_at is not None:
            break
        episode = after
    return episode
