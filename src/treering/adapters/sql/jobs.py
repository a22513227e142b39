"""The durable queue: leases, retries and dead letters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import ColumnElement, Select, Update, and_, bindparam, delete, or_, select, true, update

from treering.adapters.sql.codec import micros
from treering.adapters.sql.kinds import JOBS
from treering.adapters.sql.records import LogRecords, Writes
from treering.adapters.sql.rows import insert_later
from treering.core.history import Action
from treering.core.jobs import MAX_BACKOFF_SECONDS, Job, JobState

if TYPE_CHECKING:
    from sqlalchemy.sql.dml import ReturningDelete

    from treering.adapters.sql.context import TransactionContext

SWEEP_BLOBS = "sweep_blobs"
_NEVER_REPORTED = "its last worker took it and never reported back; see what stops the worker, then revive the job"
_WAITING = frozenset({JobState.QUEUED.value, JobState.LEASED.value})
# Cooperating clocks never differ by this much: times further ahead were written by a wrong clock.
_AHEAD = timedelta(days=1)


_COLUMNS = JOBS.table.c
_ANY_STATE = true()
_DEAD = _COLUMNS.state == JobState.DEAD.value
_DEAD_NAMED = and_(_DEAD, _COLUMNS.kind == bindparam("named"), _COLUMNS.key == bindparam("keyed"))
_LEASE_HELD = and_(
    _COLUMNS.state == JobState.LEASED.value,
    _COLUMNS.lease_owner == bindparam("held_by"),
    _COLUMNS.attempts == bindparam("held_at"),
)
# A job never ends before it is due; the condition on both lets the index answer.
_OLD = and_(
    _COLUMNS.state == bindparam("ended"),
    _COLUMNS.run_at < bindparam("before"),
    _COLUMNS.finished_at < bindparam("before"),
)


# Statements are cached by scope: building them costs more than running them.
@lru_cache(maxsize=1_000)
def _waiting(seen: ColumnElement[bool]) -> Select[tuple[str]]:
    same = (_COLUMNS.kind == bindparam("named"), _COLUMNS.key == bindparam("keyed"))
    return select(_COLUMNS.id).where(seen, *same, _COLUMNS.state.in_(_WAITING)).limit(1)


@lru_cache(maxsize=1_000)
def _unfinished(seen: ColumnElement[bool]) -> Select[Any]:
    same = (_COLUMNS.kind == bindparam("named"), _COLUMNS.key.in_(bindparam("keyed", expanding=True)))
    return select(_COLUMNS.key, _COLUMNS.state, _COLUMNS.run_at).where(seen, *same, _COLUMNS.state.in_(_WAITING))


@lru_cache(maxsize=1_000)
def _change(seen: ColumnElement[bool], condition: ColumnElement[bool]) -> Update:
    return update(JOBS.table).where(seen, _COLUMNS.id == bindparam("wanted"), condition)


@lru_cache(maxsize=1_000)
def _removal(seen: ColumnElement[bool], condition: ColumnElement[bool]) -> ReturningDelete[Any]:
    # Skip rows locked by another transaction, which removes or is about to use them.
    free = select(_COLUMNS.id).where(seen, condition).with_for_update(skip_locked=True)
    return delete(JOBS.table).where(seen, _COLUMNS.id.in_(free)).returning(JOBS.table)


class KeyState(NamedTuple):
    """State of a job with a key: whether it is queued or leased, and whether it is queued and due."""

    waits: bool
    is_due: bool


class SqlJobQueue(Writes[Job]):
    """Jobs of one project. A lease belongs to its worker until it expires; then any worker may take over."""

    def __init__(self, context: TransactionContext) -> None:
        super().__init__(JOBS, context)

    def enqueue(self, job: Job) -> bool:
        if job.key is not None:
            return self.enqueue_first((job,))
        self._queue(job)
        return True

    def enqueue_first(self, jobs: Sequence[Job]) -> bool:
        """Takes no lock, which would be held until the transaction ends."""
        free = self._free_alternatives(jobs)
        if not free:
            self._context.queued.extend(job.kind for job in jobs[:1])
            return False
        # Validated first, so that an invalid job fails immediately.
        self._context.deferred_jobs.append(tuple(self._clean(job) for job in free))
        return True

    def enqueue_later(self, jobs: Sequence[Job]) -> None:
        self._context.deferred_jobs.append(tuple(self._clean(job) for job in jobs))

    def _free_alternatives(self, jobs: Sequence[Job]) -> list[Job]:
        """Jobs whose keys are free; none if one of the jobs is planned or due, because it has yet to begin."""
        keys = [job.key for job in jobs]
        if any(job.kind == jobs[0].kind and job.key in keys for group in self._context.deferred_jobs for job in group):
            return []
        values = {"named": jobs[0].kind, "keyed": keys}
        found = self._context.connection.execute(_unfinished(self._visible()), values).all()
        now = micros(self._context.now)
        if any(state == JobState.QUEUED.value and run_at <= now for _, state, run_at in found):
            return []
        taken = {key for key, *_ in found}
        return [job for job in jobs if job.key not in taken]

    def queue_deferred(self) -> None:
        """Queue jobs whose keys are still free. The locks keep others from queueing these keys until the commit.

        These are the last locks of every transaction, taken in one order by all.
        """
        groups, planned = self._context.deferred_jobs, set[tuple[str, str]]()
        found = self._locked_states({(job.kind, str(job.key)) for group in groups for job in group})
        for group in groups:
            self._context.queued.extend(job.kind for job in group[:1])
            keys = [(job.kind, str(job.key)) for job in group]
            if not planned.isdisjoint(keys) or any(state.is_due for key in keys for state in found[key]):
                continue  # one of them has yet to begin
            free = (job for key, job in zip(keys, group, strict=True) if not any(each.waits for each in found[key]))
            if job := next(free, None):
                key = (job.kind, str(job.key))
                planned.add(key)
                if found[key]:
                    self._remove(_DEAD_NAMED, {"named": job.kind, "keyed": job.key})
                self._queue(job)
        groups.clear()

    def _locked_states(self, keys: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], list[KeyState]]:
        """States of the unfinished and dead jobs with these keys; a key is locked unless a job with it is waiting."""
        found, now = defaultdict[tuple[str, str], list[KeyState]](list), micros(self._context.now)
        for kind, key, state, run_at in self._context.dialect.lock_job_keys(self._context, sorted(keys)):
            waits = state in _WAITING
            found[kind, key].append(KeyState(waits, state == JobState.QUEUED.value and run_at <= now))
        return found

    def _queue(self, job: Job) -> None:
        """The id of a job that is queued here is new."""
        cleaned = self._clean(job)
        encoded = self._encode(cleaned)
        insert_later(self._context.connection, self._table, tuple(encoded.row), [tuple(encoded.row.values())])
        self._derivation.add([(cleaned, encoded)])
        self._context.queued.append(job.kind)

    def create_many(self, values: Iterable[Job], action: Action = Action.CREATE) -> int:
        return LogRecords(JOBS, self._context).create_many(values, action)

    def lease(
        self, owner: str, kinds: Sequence[str], *, limit: int, duration: timedelta, key: str | None = None
    ) -> Sequence[Job]:
        columns = self._table.c
        expired = self._expired(duration)
        self._remove_old()
        self._mark_dead(self._free(kinds, and_(expired, columns.attempts >= columns.max_attempts)))
        waits = columns.state == JobState.QUEUED.value
        due = or_(and_(waits, self._is_due()), expired) if key is None else or_(waits, expired)
        wanted = due if key is None else and_(due, columns.key == key)
        until = self._context.now + duration
        taken = [
            job.replace(state=JobState.LEASED, lease_owner=owner, lease_until=until, attempts=job.attempts + 1)
            for job in self._free(kinds, wanted, limit)
        ]
        for job in taken:
            self._set(job, _ANY_STATE)
        return taken

    def extend(self, job: Job, duration: timedelta) -> bool:
        return self._set_held(job, job.replace(lease_until=self._context.now + duration))

    def finish(self, job: Job) -> bool:
        done = job.replace(state=JobState.DONE, lease_owner=None, lease_until=None, finished_at=self._context.now)
        return self._set_held(job, done)

    def release(self, job: Job, *, run_at: datetime | None = None) -> bool:
        back = job.replace(
            state=JobState.QUEUED,
            attempts=job.attempts - 1,
            run_at=run_at or job.run_at,
            lease_owner=None,
            lease_until=None,
        )
        return self._set_held(job, back)

    def fail(self, job: Job, error: str, *, retry_at: datetime) -> bool:
        dead = job.attempts >= job.max_attempts
        failed = job.replace(
            state=JobState.DEAD if dead else JobState.QUEUED,
            error=error,
            run_at=job.run_at if dead else retry_at,
            lease_owner=None,
            lease_until=None,
            finished_at=self._context.now if dead else None,
        )
        return self._set_held(job, self._clean(failed))

    def revive(self, id: str) -> bool:
        job = self._existing(id).value
        if job.key is not None:
            self._lock(job.kind, job.key)
            if self._waits(job):
                return False
        revived = job.replace(state=JobState.QUEUED, attempts=0, run_at=self._context.now, finished_at=None)
        if not self._set(revived, _DEAD):
            return False
        self._context.queued.append(job.kind)
        return True

    def _is_due(self) -> Any:
        """Jobs that are due, or that a clock far ahead has queued or postponed and that would wait for years."""
        columns, now = self._table.c, self._context.now
        longest = timedelta(seconds=MAX_BACKOFF_SECONDS)
        put_off = and_(columns.attempts > 0, columns.run_at > micros(now + longest + _AHEAD))
        return or_(columns.run_at <= micros(now), columns.created_at > micros(now + _AHEAD), put_off)

    def _expired(self, duration: timedelta) -> Any:
        """Expired leases, and those of a clock far ahead, which would last for years."""
        columns, now = self._table.c, self._context.now
        over = or_(columns.lease_until <= micros(now), columns.lease_until > micros(now + 2 * duration + _AHEAD))
        return and_(columns.state == JobState.LEASED.value, over)

    def _free(self, kinds: Sequence[str], condition: Any, limit: int | None = None) -> list[Job]:
        """Jobs that no other transaction is leasing, oldest first."""
        columns = self._table.c
        statement = (
            select(self._table)
            .where(self._visible(), columns.kind.in_(kinds), condition)
            .order_by(columns.run_at, columns.id)
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        return [self._decode(row) for row in self._context.connection.execute(statement).mappings()]

    def _mark_dead(self, jobs: Sequence[Job]) -> None:
        """Mark jobs as dead whose workers died and could not report a failure."""
        for job in jobs:
            dead = job.replace(
                state=JobState.DEAD,
                error=f"attempt {job.attempts} of {job.max_attempts}: {_NEVER_REPORTED}",
                lease_owner=None,
                lease_until=None,
                finished_at=self._context.now,
            )
            self._set_held(job, dead)

    def _remove_old(self) -> None:
        settings = self._context.settings.jobs
        for state, days in ((JobState.DONE, settings.keep_done_days), (JobState.DEAD, settings.keep_dead_days)):
            before = micros(self._context.now - timedelta(days=days))
            self._remove(_OLD, {"ended": state.value, "before": before})

    def _remove(self, condition: ColumnElement[bool], values: Mapping[str, object]) -> None:
        removal = _removal(self._visible(), condition)
        removed = self._context.connection.execute(removal, values).mappings().all()
        spilled = [row["id"] for row in removed if self._codec.stored(row).blobs]
        queue_blob_sweep(self._context, [digest for id in spilled for digest in self._derivation.forget(id)])

    def _lock(self, kind: str, key: str) -> None:
        self._context.dialect.lock(self._context.connection, self._context.scope, f"job {kind} {key}")

    def _waits(self, job: Job) -> bool:
        """Whether a job with the same key is queued or leased."""
        values = {"named": job.kind, "keyed": job.key}
        return self._context.connection.execute(_waiting(self._visible()), values).first() is not None

    def _set_held(self, held: Job, changed: Job) -> bool:
        """Change a job if its lease is still the one in `held`."""
        return self._set(changed, _LEASE_HELD, held_by=held.lease_owner, held_at=held.attempts)

    def _set(self, job: Job, condition: ColumnElement[bool], **values: object) -> bool:
        statement = _change(self._visible(), condition)
        values |= {"wanted": job.id, **self._encode(job).row}
        return self._context.connection.execute(statement, values).rowcount == 1


def queue_deferred(context: TransactionContext) -> None:
    """The last step of a write transaction."""
    SqlJobQueue(context).queue_deferred()


def queue_blob_sweep(context: TransactionContext, digests: Sequence[str]) -> None:
    """Queue a job that deletes these blobs if no record refers to them after the commit."""
    if digests:
        SqlJobQueue(context).enqueue(
            Job(
                id=context.new_id(),
                kind=SWEEP_BLOBS,
                payload={"digests": sorted(set(digests))},
                run_at=context.now,
                created_at=context.now,
            )
        )
