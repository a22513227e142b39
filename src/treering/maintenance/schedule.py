"""Due times of stages: the slots of a cron expression in a time zone, and those that were missed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from treering.core.errors import InvalidInput
from treering.core.queries import Order, RunFilter
from treering.core.runs import Run, RunState

if TYPE_CHECKING:
    from treering.jobs.stage import StageWork
    from treering.ports.store import Transaction

_NEVER = datetime(1970, 1, 1, tzinfo=UTC)
# Daylight-saving time shifts a clock by less than this.
_SHIFT = timedelta(hours=2)
# A stored time further in the future comes from a wrong clock and is ignored.
_MAX_CLOCK_SKEW = timedelta(hours=1)
_MAX_RUNS = 1_000


@dataclass(frozen=True, slots=True)
class Stage:
    """A unit of maintenance work and its schedule; with an empty `cron` it runs on request only."""

    name: str
    cron: str
    work: StageWork


@dataclass(frozen=True, slots=True)
class DueStage:
    """A stage whose last slot has passed without a run."""

    stage: str
    slot: datetime


def zone_named(name: str) -> tzinfo | None:
    """The time zone with this name; None, the local zone, if the name is empty."""
    if not name:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidInput(f"unknown time zone {name!r}; use a name such as Europe/Berlin, or leave it empty") from None


def last_slot(cron: str, now: datetime, zone: tzinfo | None) -> datetime | None:
    """The latest slot that has passed; None without a schedule."""
    return next((slot for slot in _slots(cron, now, zone, onwards=False) if slot <= now), None)


def next_slot(cron: str, now: datetime, zone: tzinfo | None) -> datetime | None:
    """The first slot in the future; None without a schedule."""
    return next((slot for slot in _slots(cron, now, zone, onwards=True) if slot > now), None)


def due_stages(tx: Transaction, stages: Iterable[Stage], zone: tzinfo | None) -> list[DueStage]:
    """Stages whose last slot was missed, in their order, once however many slots were missed.

    Slots before the project's first audit entry do not count.
    """
    began = _began(tx)
    if began is None:
        return []
    slots = [
        DueStage(stage.name, slot) for stage in stages if (slot := last_slot(stage.cron, tx.now, zone)) is not None
    ]
    return [due for due in slots if due.slot > max(began, _covered(runs_of(tx, due.stage), tx.now))]


def runs_of(tx: Transaction, stage: str, limit: int = _MAX_RUNS) -> Sequence[Run]:
    """The runs of a stage, latest first."""
    return tx.runs.find(RunFilter(stages=(stage,)), order=Order(by="started_at"), limit=limit).items


def has_come(moment: datetime, now: datetime) -> bool:
    """Whether a stored time lies in the past, allowing for clock skew between machines."""
    return moment <= now + _MAX_CLOCK_SKEW


def _covered(runs: Iterable[Run], now: datetime) -> datetime:
    """The latest slot that needs no run: by any scheduled run, or by a successful run on request."""
    moments = (run.slot or (run.started_at if run.state is RunState.DONE else _NEVER) for run in runs)
    return max((moment for moment in moments if has_come(moment, now)), default=_NEVER)


def _began(tx: Transaction) -> datetime | None:
    first = tx.audit.find(order=Order(by="at", descending=False), limit=1).items
    return first[0].at if first else None


def _slots(cron: str, now: datetime, zone: tzinfo | None, *, onwards: bool) -> Iterator[datetime]:
    """Slots from around `now` in one direction, starting `_SHIFT` on the other side of it.

    Computed in local wall-clock time: a slot in an hour skipped by daylight-saving time moves by the shift, and a slot
    in a repeated hour occurs once, the first time.
    """
    if not cron:
        return
    from croniter import CroniterError, croniter

    wall = now.astimezone(zone).replace(tzinfo=None, fold=0)
    try:
        moments = croniter(cron, wall - _SHIFT if onwards else wall + _SHIFT, ret_type=datetime)
        step = moments.get_next if onwards else moments.get_prev
        while True:
            yield step().replace(tzinfo=zone).astimezone(UTC)
    except CroniterError as exc:
        raise InvalidInput(
            f"{cron!r} is not a schedule ({exc}); write five fields, such as 0 3 * * * for 3:00"
        ) from exc
