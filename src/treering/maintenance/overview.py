"""One page about a memory: size, use, a score with its parts, coverage of the code, and activity by day."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from treering.core.injections import ItemOutcome
from treering.core.queries import InjectedItemFilter, KnowledgeFilter, ObservedSessionFilter, TimeRange

if TYPE_CHECKING:
    from treering.core.scope import Scope
    from treering.maintenance.health_report import HealthReport
    from treering.ports.store import Store, Transaction

ACTIVE_DAYS = 30
MAX_MODULES = 24
_MAX_RECORDS_OF_MODULE = 1_000
_MAX_ITEMS = 5_000
_SURE = ("0.6 to 0.8", "0.8 to 1.0")
_CURRENT = KnowledgeFilter(deprecated=False)
_ACTIVE_GOAL = 0.5  # half of the records in use within a month is as good as it gets


@dataclass(frozen=True, slots=True)
class HealthScorePart:
    """One part of the score: a share from 0 to 1 and its weight, with the number of records that lower it."""

    name: str
    share: float
    weight: float
    lowered_by: int


@dataclass(frozen=True, slots=True)
class ModuleCoverage:
    """Files of a module, those that a record is about, and the number of these records."""

    module: str
    directory: str
    files: int
    covered: int
    records: int


@dataclass(frozen=True, slots=True)
class DayActivity:
    """What happened on one day (UTC)."""

    day: str
    records: int
    sessions: int


@dataclass(frozen=True, slots=True)
class Overview:
    """`score` is 0 to 100, None for an empty memory; `tokens_used` is text that sessions were given and used."""

    total: int
    active: int
    needs_review: int
    tokens_given: int
    tokens_used: int
    score: int | None
    parts: tuple[HealthScorePart, ...]
    modules: tuple[ModuleCoverage, ...]
    days: tuple[DayActivity, ...]


def overview(
    scope: Scope, store: Store, now: datetime, health: HealthReport, modules: Mapping[str, tuple[str, Sequence[str]]]
) -> Overview:
    """The overview; `modules` are the directory and files of each module of the code, if it is indexed."""
    since = TimeRange(since=now - timedelta(days=ACTIVE_DAYS))
    with store.reading(scope, now) as tx:
        total = tx.knowledge.count(_CURRENT)
        active = tx.knowledge.count(_CURRENT.replace(accessed=since))
        waiting = tx.knowledge.count(_CURRENT.replace(needs_review=True))
        stale = tx.knowledge.count(_CURRENT.replace(stale=True))
        given, used = _tokens(tx, since)
        coverage = tuple(_coverage(tx, modules))
        days = tuple(_days(tx, now))
    parts = score_parts(total, active=active, waiting=waiting, stale=stale, health=health)
    return Overview(total, active, waiting, given, used, score_of(parts), parts, coverage, days)


def score_parts(
    total: int, *, active: int, waiting: int, stale: int, health: HealthReport
) -> tuple[HealthScorePart, ...]:
    """The parts of the score; () for an empty memory. Weights add up to 1."""
    if total == 0:
        return ()
    read = sum(health.confidence.values())
    sure = sum(health.confidence.get(name, 0) for name in _SURE)
    failed = sum(health.dead_jobs.values()) + sum(run.error is not None for run in health.runs)
    return (
        HealthScorePart("confidence", _share(sure, read), 0.3, read - sure),
        HealthScorePart("reviewed", 1 - _share(waiting, total), 0.2, waiting),
        HealthScorePart("current", 1 - _share(stale, total), 0.2, stale),
        HealthScorePart("used", min(1.0, _share(active, total) / _ACTIVE_GOAL), 0.15, total - active),
        HealthScorePart("working", 1 / (1 + failed), 0.15, failed),
    )


def score_of(parts: Sequence[HealthScorePart]) -> int | None:
    """The weighted mean of the parts from 0 to 100; None without parts."""
    return round(100 * sum(each.share * each.weight for each in parts)) if parts else None


def _share(count: int, total: int) -> float:
    return min(1.0, count / total) if total else 1.0


def _tokens(tx: Transaction, since: TimeRange) -> tuple[int, int]:
    items = tx.injected_items.find(InjectedItemFilter(injected=since), limit=_MAX_ITEMS).items
    used = (each.tokens for each in items if each.outcome is ItemOutcome.USED)
    return sum(each.tokens for each in items), sum(used)


def _coverage(tx: Transaction, modules: Mapping[str, tuple[str, Sequence[str]]]) -> Iterator[ModuleCoverage]:
    for name, (directory, files) in list(modules.items())[:MAX_MODULES]:
        where = _CURRENT.replace(files=tuple(files))
        found = tx.knowledge.newest(where, limit=_MAX_RECORDS_OF_MODULE)
        covered = {file for match in found for file in match.value.files}.intersection(files)
        yield ModuleCoverage(name, directory, len(files), len(covered), tx.knowledge.count(where))


def _days(tx: Transaction, now: datetime) -> Iterator[DayActivity]:
    """The last `ACTIVE_DAYS` days, oldest first."""
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    for number in range(ACTIVE_DAYS - 1, -1, -1):
        day = today - timedelta(days=number)
        range_ = TimeRange(since=day, before=day + timedelta(days=1))
        records = tx.knowledge.count(KnowledgeFilter(created=range_))
        sessions = tx.observed_sessions.count(ObservedSessionFilter(started=range_))
        yield DayActivity(day.date().isoformat(), records, sessions)
