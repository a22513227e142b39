"""Queries by time: recent episodes, between two times, around an event, trends."""

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
# Episodes read of the chosen sessions; more than an answer may have.
_MAX_EPISODES = 1_000
_NONE = "none"

SessionEpisodes = Mapping[str, Episode | None]
"""Sessions by name, with None; an episode without a session by its id, with the episode."""

GROUPS: Mapping[str, Callable[[Episode], Iterable[str]]] = {
    "domain": lambda episode: (episode.metadata.domain or _NONE,),
    "task_type": lambda episode: (episode.metadata.task_type or _NONE,),
    "tool": lambda episode: episode.metadata.tools or (_NONE,),
}


def recent(tx: Transaction, where: EpisodeFilter, limit: int, sessions: int | None) -> EpisodeAnswer:
    """The newest episodes, or those of the last `sessions` sessions."""
    if sessions is None:
        found = tx.episodes.newest(where, limit=limit)
        return _answer(tx, where, [match.value for match in found], found.unreadable)
    require_positive("sessions", sessions)
    episodes, unreadable = _episodes_of(tx, where, _nearest_sessions(tx, where, sessions, descending=True))
    return _answer(tx, where, episodes[::-1][:limit], unreadable)


def during(tx: Transaction, where: EpisodeFilter, limit: int) -> EpisodeAnswer:
    """Oldest first."""
    found = tx.episodes.newest(where, limit=limit)
    return _answer(tx, where, [match.value for match in found][::-1], found.unreadable)


def around(tx: Transaction, event: Moment, sessions: int, limit: int) -> EpisodeAnswer:
    """Episodes of `sessions` sessions before and after the event and of its own session, oldest first."""
    require_positive("sessions", sessions)
    at, own = _time_and_session(tx, event)
    before, after = (EpisodeFilter(happened=span) for span in (TimeRange(before=at), TimeRange(since=at)))
    earlier = _nearest_sessions(tx, before, sessions, descending=True, excluded=own)
    later = _nearest_sessions(tx, after, sessions, descending=False, excluded=(*own, *earlier))
    episodes, unreadable = _episodes_of(tx, EpisodeFilter(), {**earlier, **own, **later})
    nearest = sorted(episodes, key=lambda episode: abs(episode.at - at))[:limit]
    return _answer(tx, EpisodeFilter(), sorted(nearest, key=_chronological), unreadable)


def trend(tx: Transaction, *, days: int, by: str, every: int, where: EpisodeFilter) -> tuple[Trend, ...]:
    """Counts by period of `every` days and group; the last period ends now. Consolidated episodes are not counted."""
    require_positive("days", days)
    require_positive("every", every)
    if by not in GROUPS:
        raise InvalidInput(f"by is {by!r}; use one of {', '.join(GROUPS)}")
    length = timedelta(days=every)
    first = tx.now - timedelta(days=days)
    counts, successes = Counter[tuple[int, str]](), Counter[tuple[int, str]]()
    for episode in tx.episodes.stream(where.replace(happened=TimeRange(since=first, before=tx.now + _INSTANT))):
        if episode.consolidation is not None:
            continue
        # Rounded up, since the end of a period belongs to the next one.
        ago = max(0, -((episode.at - tx.now) // length) - 1)
        for group in GROUPS[by](episode):
            counts[ago, group] += 1
            successes[ago, group] += episode.outcome.status is OutcomeStatus.SUCCESS
    found = []
    for ago, group in sorted(counts, key=lambda each: (-each[0], each[1])):
        before = tx.now - ago * length
        found.append(Trend(max(first, before - length), before, group, counts[ago, group], successes[ago, group]))
    return tuple(found)


def require_positive(name: str, number: object) -> None:
    if type(number) is not int or number < 1:
        raise InvalidInput(f"{name} is {number!r}; give a whole number of at least 1")


def _time_and_session(tx: Transaction, event: Moment) -> tuple[datetime, SessionEpisodes]:
    """Time and session of an event: of a time itself, or of the record with this id."""
    if not isinstance(event, str):
        return timestamp_of(event, tx.now), {}
    if (episode := tx.episodes.get(event)) is not None:
        return episode.at, _session_of(episode)
    if (turn := tx.turns.get(event)) is not None:
        return turn.at, {turn.session: None}
    if (observed := tx.observed_sessions.get(event)) is not None:
        return observed.started_at, {observed.id: None}
    if (record := tx.knowledge.get(event)) is not None:
        return record.created_at, {record.session: None} if record.session else {}
    try:
        return timestamp_of(event, tx.now), {}
    except InvalidInput:
        raise NotFound(f"{event!r} is neither the id of a record nor a date; give one of them") from None


def _session_of(episode: Episode) -> SessionEpisodes:
    return {episode.session: None} if episode.session else {episode.id: episode}


def _nearest_sessions(
    tx: Transaction, where: EpisodeFilter, count: int, *, descending: bool, excluded: Iterable[str] = ()
) -> SessionEpisodes:
    """The nearest `count` sessions that have an episode."""
    found: dict[str, Episode | None] = {}
    skipped, after = frozenset(excluded), None
    while True:
        page = tx.episodes.find(where, order=Order(by="at", descending=descending), limit=_PAGE, after=after)
        for episode in page.items:
            found |= {name: lone for name, lone in _session_of(episode).items() if name not in skipped}
            if len(found) == count:
                return found
        after = page.next
        if after is None:
            return found


def _episodes_of(
    tx: Transaction, where: EpisodeFilter, sessions_found: SessionEpisodes
) -> tuple[list[Episode], tuple[str, ...]]:
    """All episodes of these sessions, oldest first."""
    lone = [episode for episode in sessions_found.values() if episode is not None]
    sessions = tuple(name for name, episode in sessions_found.items() if episode is None)[:LABELS]
    if not sessions:
        return sorted(lone, key=_chronological), ()
    found = tx.episodes.newest(where.replace(sessions=sessions), limit=_MAX_EPISODES)
    return sorted((*lone, *(match.value for match in found)), key=_chronological), found.unreadable


def _answer(
    tx: Transaction, where: EpisodeFilter, episodes: Iterable[Episode], unreadable: tuple[str, ...]
) -> EpisodeAnswer:
    shown = represented(tx, episodes, where)
    return EpisodeAnswer("", tuple(plain_hit(each.episode, each.stands_for) for each in shown), {}, unreadable)


def _chronological(episode: Episode) -> tuple[datetime, str]:
    return episode.at, episode.id
