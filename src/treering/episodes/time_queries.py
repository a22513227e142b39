"""Episodes by when they were: lately, between two moments, around something that happened, over time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from treering.core.episodes import Episode, OutcomeStatus
from treering.core.errors import InvalidInput, NotFound
from treering.core.queries import EpisodeFilter, Order, TimeRange
from treering.core.timestamps import timestamp_of
from treering.core.values import LABELS
from treering.episodes.answer import EpisodeAnswer, Trend, plain_hit
from treering.episodes.representatives import represented

if TYPE_CHECKING:
    from treering.ports.store import Transaction

Moment = datetime | date | str
_INSTANT = timedelta(microseconds=1)
_PAGE = 100
# Episodes of chosen sessions that are looked at; more than an answer may hold.
_MOST = 1_000
_NONE = "none"

Threads = Mapping[str, Episode | None]
"""Sessions by name; an episode that belongs to none is a session of its own."""

GROUPS: Mapping[str, Callable[[Episode], Iterable[str]]] = {
    "domain": lambda episode: (episode.metadata.domain or _NONE,),
    "task_type": lambda episode: (episode.metadata.task_type or _NONE,),
    "tool": lambda episode: episode.metadata.tools or (_NONE,),
}


def recent(tx: Transaction, where: EpisodeFilter, limit: int, sessions: int | None) -> EpisodeAnswer:
    """The newest, of the last so many sessions where a number of them is given."""
    if sessions is None:
        found = tx.episodes.newest(where, limit=limit)
        return _answer(tx, where, [match.value for match in found], found.unreadable)
    at_least_one("sessions", sessions)
    episodes, unreadable = _of(tx, where, _threads(tx, where, sessions, descending=True))
    return _answer(tx, where, episodes[::-1][:limit], unreadable)


def during(tx: Transaction, where: EpisodeFilter, limit: int) -> EpisodeAnswer:
    """In the order in which they happened."""
    found = tx.episodes.newest(where, limit=limit)
    return _answer(tx, where, [match.value for match in found][::-1], found.unreadable)


def around(tx: Transaction, event: Moment, sessions: int, limit: int) -> EpisodeAnswer:
    """So many sessions before and after, and the one in which it happened, in the order in which they happened."""
    at_least_one("sessions", sessions)
    at, own = _placed(tx, event)
    before, after = (EpisodeFilter(happened=span) for span in (TimeRange(before=at), TimeRange(since=at)))
    earlier = _threads(tx, before, sessions, descending=True, but=own)
    later = _threads(tx, after, sessions, descending=False, but=(*own, *earlier))
    episodes, unreadable = _of(tx, EpisodeFilter(), {**earlier, **own, **later})
    nearest = sorted(episodes, key=lambda episode: abs(episode.at - at))[:limit]
    return _answer(tx, EpisodeFilter(), sorted(nearest, key=_when), unreadable)


def trend(tx: Transaction, *, days: int, by: str, every: int, where: EpisodeFilter) -> tuple[Trend, ...]:
    """Counts a period of `every` days and a group, the last period ending now. Each episode counts by itself."""
    at_least_one("days", days)
    at_least_one("every", every)
    if by not in GROUPS:
        raise InvalidInput(f"by is {by!r}; use one of {', '.join(GROUPS)}")
    length = timedelta(days=every)
    first = tx.now - timedelta(days=days)
    counts, successes = Counter[tuple[int, str]](), Counter[tuple[int, str]]()
    for episode in tx.episodes.stream(where.replace(happened=TimeRange(since=first, before=tx.now + _INSTANT))):
        if episode.consolidation is not None:
            continue
        # A period begins with its first moment: rounded up, as its end belongs to the next.
        ago = max(0, -((episode.at - tx.now) // length) - 1)
        for group in GROUPS[by](episode):
            counts[ago, group] += 1
            successes[ago, group] += episode.outcome.status is OutcomeStatus.SUCCESS
    found = []
    for ago, group in sorted(counts, key=lambda each: (-each[0], each[1])):
        before = tx.now - ago * length
        found.append(Trend(max(first, before - length), before, group, counts[ago, group], successes[ago, group]))
    return tuple(found)


def at_least_one(name: str, number: object) -> None:
    if type(number) is not int or number < 1:
        raise InvalidInput(f"{name} is {number!r}; give a whole number of at least 1")


def _placed(tx: Transaction, event: Moment) -> tuple[datetime, Threads]:
    """When it happened, and in which session: of a moment, or of whatever is kept under an id."""
    if not isinstance(event, str):
        return timestamp_of(event, tx.now), {}
    if (episode := tx.episodes.get(event)) is not None:
        return episode.at, _thread(episode)
    if (turn := tx.turns.get(event)) is not None:
        return turn.at, {turn.session: None}
    if (happened := tx.events.get(event)) is not None:
        return happened.at, {happened.session: None}
    if (record := tx.knowledge.get(event)) is not None:
        return record.created_at, {record.session: None} if record.session else {}
    try:
        return timestamp_of(event, tx.now), {}
    except InvalidInput:
        raise NotFound(f"{event!r} is neither the id of something that happened nor a date") from None


def _thread(episode: Episode) -> Threads:
    return {episode.session: None} if episode.session else {episode.id: episode}


def _threads(
    tx: Transaction, where: EpisodeFilter, count: int, *, descending: bool, but: Iterable[str] = ()
) -> Threads:
    """The nearest sessions that have an episode."""
    found: dict[str, Episode | None] = {}
    left_out, after = frozenset(but), None
    while True:
        page = tx.episodes.find(where, order=Order(by="at", descending=descending), limit=_PAGE, after=after)
        for episode in page.items:
            found |= {name: lone for name, lone in _thread(episode).items() if name not in left_out}
            if len(found) == count:
                return found
        after = page.next
        if after is None:
            return found


def _of(tx: Transaction, where: EpisodeFilter, threads: Threads) -> tuple[list[Episode], tuple[str, ...]]:
    """All episodes of these sessions, in the order in which they happened."""
    lone = [episode for episode in threads.values() if episode is not None]
    sessions = tuple(name for name, episode in threads.items() if episode is None)[:LABELS]
    if not sessions:
        return sorted(lone, key=_when), ()
    found = tx.episodes.newest(where.replace(sessions=sessions), limit=_MOST)
    return sorted((*lone, *(match.value for match in found)), key=_when), found.unreadable


def _answer(
    tx: Transaction, where: EpisodeFilter, episodes: Iterable[Episode], unreadable: tuple[str, ...]
) -> EpisodeAnswer:
    standing = represented(tx, episodes, where)
    return EpisodeAnswer("", tuple(plain_hit(each.episode, each.stands_for) for each in standing), {}, unreadable)


def _when(episode: Episode) -> tuple[datetime, str]:
    return episode.at, episode.id
