"""When a stage is due: moments of a cron expression on somebody's clock, and which of them were missed."""

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

SCHEDULE_SECONDS = 60.0  # a worker looks at the schedule this often: cron's own step

_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
# No clock is put forward or back by more than this.
_SHIFT = timedelta(hours=2)
# What lies further ahead was put down by a clock that was wrong: it covers nothing.
_AHEAD = timedelta(hours=1)
_MOST_RUNS = 1_000


@dataclass(frozen=True, slots=True)
class Stage:
    """What is to be done, and when; an empty `cron` leaves it to whoever asks for it."""

    name: str
    cron: str
    work: StageWork


@dataclass(frozen=True, slots=True)
class Due:
    """A stage whose last moment has passed without a run."""

    stage: str
    slot: datetime


def zone_named(name: str) -> tzinfo | None:
    """The zone called so; None, the zone of this machine, for no name."""
    if not name:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidInput(f"there is no time zone {name!r}; write one like Europe/Berlin, or none") from None


def last_slot(cron: str, now: datetime, zone: tzinfo | None) -> datetime | None:
    """The latest moment of the schedule that has come; None where there is not a schedule."""
    return next((slot for slot in _slots(cron, now, zone, onwards=False) if slot <= now), None)


def next_slot(cron: str, now: datetime, zone: tzinfo | None) -> datetime | None:
    """The first moment of the schedule that is still to come."""
    return next((slot for slot in _slots(cron, now, zone, onwards=True) if slot > now), None)


def due_stages(tx: Transaction, stages: Iterable[Stage], zone: tzinfo | None) -> list[Due]:
    """Stages whose last moment was missed, in their order: once, however many nights that were.

    What was to be done before the project began is not missed.
    """
    began = _began(tx)
    if began is None:
        return []
    slots = [Due(stage.name, slot) for stage in stages if (slot := last_slot(stage.cron, tx.now, zone)) is not None]
    return [due for due in slots if due.slot > max(began, _covered(runs_of(tx, due.stage), tx.now))]


def runs_of(tx: Transaction, stage: str, limit: int = _MOST_RUNS) -> Sequence[Run]:
    """The runs of a stage, the latest first."""
    return tx.runs.find(RunFilter(stages=(stage,)), order=Order(by="started_at"), limit=limit).items


def has_come(moment: datetime, now: datetime) -> bool:
    """Whether a moment that was put down can be believed: no clock is ahead of another by much."""
    return moment <= now + _AHEAD


def _covered(runs: Iterable[Run], now: datetime) -> datetime:
    """Up to which moment the schedule was seen to: by a run for it, however that ended, or by one that was wanted."""
    moments = (run.slot or (run.started_at if run.state is RunState.DONE else _LONG_AGO) for run in runs)
    return max((moment for moment in moments if has_come(moment, now)), default=_LONG_AGO)


def _began(tx: Transaction) -> datetime | None:
    first = tx.audit.find(order=Order(by="at", descending=False), limit=1).items
    return first[0].at if first else None


def _slots(cron: str, now: datetime, zone: tzinfo | None, *, onwards: bool) -> Iterator[datetime]:
    """Moments around `now` in one direction, beginning a little on the other side of it.

    They are reckoned on the clock on the wall: what stands at an hour that is left out comes as much later, what
    stands at an hour that comes twice comes once, the first time.
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
