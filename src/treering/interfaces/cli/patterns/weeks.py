"""Outcomes of a pattern by week."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treering.patterns.validation import SessionCount

_WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class PatternWeek:
    """A week from Monday: its sessions and their success rate; a partial success counts half."""

    since: datetime
    sessions: int
    success_rate: float | None


def weeks_of(sessions: "Iterable[SessionCount]", now: datetime, days: float) -> list[PatternWeek]:
    """From the first week with a session in the last `days` to the present one; empty if there is none."""
    shares: dict[datetime, list[float]] = {}
    for each in sessions:
        if now - timedelta(days=days) < each.at <= now:
            shares.setdefault(_monday(each.at), []).append((each.successes + 0.5 * each.partial) / each.n)
    if not shares:
        return []
    first = min(shares)
    count = (_monday(now) - first) // _WEEK + 1
    return [_week(monday, shares.get(monday, [])) for monday in (first + place * _WEEK for place in range(count))]


def _week(monday: datetime, shares: list[float]) -> PatternWeek:
    return PatternWeek(monday, len(shares), sum(shares) / len(shares) if shares else None)


def _monday(moment: datetime) -> datetime:
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight - timedelta(days=moment.weekday())
