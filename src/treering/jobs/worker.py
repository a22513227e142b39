"""Runs durable jobs: leases a job, does the work, then finishes it or schedules a retry."""

from __future__ import annotations

import math
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from treering.core.errors import Conflict, TreeringError
from treering.core.jobs import LEARN_SESSION, LINK_ENTITIES, MAX_BACKOFF_SECONDS, Job, JobState
from treering.core.queries import JobFilter, Order
from treering.core.scope import Scope

if TYPE_CHECKING:
    from treering.core.settings import JobSettings
    from treering.ports.clock import Clock
    from treering.ports.store import Store

BACKOFF_SECONDS = 5.0  # first wait after a failure; doubles with each attempt
POLL_SECONDS = 1.0  # an idle worker looks for work this often: soon enough, and one small query
BLOCKED_SECONDS = 1.0  # wait of a job that made no progress, because other transactions lock what it needs

Handler = Callable[[Scope, Job, datetime], None]
# Heartbeats per lease: the time between two of them bounds clock skew and the delay of a heartbeat.
_HEARTBEATS = 5


class WorkerStopped(Exception):
    """The worker was asked to stop: its job returns to the queue with the progress made."""


class JobUnfinished(Exception):
    """Raised by a job that has more to do: it returns to the queue, so that other jobs have their turn.

    A job without `progress` is due again after `BLOCKED_SECONDS`, else at once.
    """

    def __init__(self, *, progress: bool = True) -> None:
        super().__init__()
        self.progress = progress


@dataclass(frozen=True, slots=True)
class SettleReport:
    """Numbers of finished, waiting (not due, or leased by another worker) and dead jobs."""

    done: int
    waiting: int
    dead: int


@dataclass(frozen=True, slots=True)
class JobLease:
    """Called by a long job between two steps, when no transaction is open."""

    store: Store
    scope: Scope
    job: Job
    clock: Clock
    seconds: float
    stop: threading.Event

    def keep(self) -> None:
        """Extend the lease; `Conflict` if another worker has taken over, `WorkerStopped` if this one must stop."""
        if not self.extend():
            raise lease_lost(self.job)
        self.check_stop()

    def extend(self) -> bool:
        """Extend the lease; False if another worker has taken over."""
        duration = timedelta(seconds=self.seconds)
        return self.store.write(self.scope, self.clock(), lambda tx: tx.jobs.extend(self.job, duration))

    def check_stop(self) -> None:
        if self.stop.is_set():
            raise WorkerStopped


class Heartbeat:
    """Extends a lease from a thread during one long step, such as a call to a slow model, up to a limit.

    After the limit the job counts as stuck, and another worker may take over.
    """

    def __init__(self, lease: JobLease, limit: float) -> None:
        self._lease = lease
        self._limit = limit
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="treering-heartbeat", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_raised: object) -> None:
        self._ended.set()
        self._thread.join()

    def _beat(self) -> None:
        lease, started = self._lease, time.monotonic()
        while not self._ended.wait(lease.seconds / _HEARTBEATS) and time.monotonic() - started < self._limit:
            # If the database is unreachable, the next heartbeat is soon enough, or the lease expires as intended.
            with suppress(TreeringError):
                if not lease.extend():
                    return


def lease_lost(job: Job) -> Conflict:
    return Conflict(f"the lease of {job.kind} {job.key or job.id} expired and another worker took over; do nothing")


class Worker:
    """Runs the jobs that it has handlers for, until `stop` is set."""

    def __init__(
        self,
        store: Store,
        handlers: Mapping[str, Handler],
        clock: Clock,
        settings: JobSettings,
        *,
        name: str,
        stop: threading.Event | None = None,
    ) -> None:
        self._store = store
        self._handlers = handlers
        self._clock = clock
        self._settings = settings
        self._name = name
        self._stop = stop or threading.Event()

    def only(self, *kinds: str) -> Worker:
        """A worker for these kinds only."""
        handlers = {kind: handler for kind, handler in self._handlers.items() if kind in kinds}
        return Worker(self._store, handlers, self._clock, self._settings, name=self._name, stop=self._stop)

    def run_due(self, scope: Scope, limit: int = 10) -> int:
        """Run up to `limit` due jobs; return how many were started."""
        return len(self._round(scope, limit))

    def run_forever(
        self,
        scope: Scope,
        schedule: Callable[[], object],
        *,
        every: float,
        idle: float | None = None,
        round_seconds: float = 0.0,
        on_done: Callable[[int], object] = lambda _done: None,
        pause: Callable[[float], object] | None = None,
    ) -> None:
        """Run due jobs until stopped or, with `idle`, for that many seconds without work.

        Every `every` seconds, `schedule` may queue scheduled jobs; `on_done` receives the number of finished jobs. A
        `pause` that returns early for new jobs lets the worker sleep until the next retry of a failed one, instead of
        polling. A round of jobs begins at least `round_seconds` after the one before it, so that records stored
        meanwhile share a round.
        """
        scheduled, worked = -math.inf, time.monotonic()
        sleep = pause or self._stop.wait
        while not self._stop.is_set():
            if time.monotonic() - scheduled >= every:
                scheduled = time.monotonic()
                schedule()
            begun = time.monotonic()
            if self._count(scope, JobState.QUEUED, JobState.LEASED) and (started := self._round(scope)):
                worked = time.monotonic()
                on_done(sum(started))
                self._stop.wait(max(0.0, begun + round_seconds - worked))
            elif pause is not None and (wait := self._until_next(scope)) <= MAX_BACKOFF_SECONDS:
                sleep(min(max(wait, POLL_SECONDS), every))
            elif idle is not None and time.monotonic() - worked >= idle:
                return
            else:
                sleep(min(POLL_SECONDS, every))

    def run_named(self, scope: Scope, kind: str, key: str) -> bool | None:
        """Run the job with this key now, even before it is due; None if another worker has leased it."""
        jobs = self._lease(scope, (kind,), limit=1, key=key)
        return self._run(scope, jobs[0]) if jobs else None

    def settle(self, scope: Scope, timeout: float, more: Callable[[], bool] = lambda: False) -> SettleReport:
        """Run jobs until none of its kinds is due or leased by another worker, or `timeout` seconds have passed.

        Waits for a job that is due within `BLOCKED_SECONDS`. When no job is queued, `more` is called to queue the rest
        of the work, until it returns False.
        """
        deadline, done = time.monotonic() + timeout, 0
        while self._count(scope, JobState.QUEUED, JobState.LEASED) or more():
            if time.monotonic() >= deadline or self._stop.is_set():
                break
            finished = self._round(scope)
            done += sum(finished)
            if finished:
                continue
            if self._count(scope, JobState.LEASED):
                time.sleep(0.02)
            # Other workers may have finished every job in the meantime: then `more` is called again.
            elif 0 < (wait := self._until_next(scope)) < math.inf:
                if wait > BLOCKED_SECONDS:
                    break
                self._stop.wait(min(wait, max(0.0, deadline - time.monotonic())))
        with self._store.reading(scope, self._clock()) as tx:
            waiting = tx.jobs.count(JobFilter(states=(JobState.QUEUED, JobState.LEASED)))
            dead = tx.jobs.count(JobFilter(states=(JobState.DEAD,)))
        return SettleReport(done=done, waiting=waiting, dead=dead)

    def _round(self, scope: Scope, limit: int = 10) -> list[bool]:
        """Lease due jobs; for each started job, whether it finished. Jobs that were not started are released."""
        taken = deque(self._lease(scope, tuple(self._handlers), limit=limit))
        done = []
        try:
            while taken and not self._stop.is_set():
                job = taken.popleft()
                if self._still_held(scope, job):
                    done.append(self._run(scope, job))
        finally:
            if taken:
                self._release(scope, taken)
        return done

    def _lease(self, scope: Scope, kinds: Sequence[str], *, limit: int, key: str | None = None) -> Sequence[Job]:
        duration = timedelta(seconds=self._settings.lease_seconds)
        return self._store.write(
            scope,
            self._clock(),
            lambda tx: tx.jobs.lease(self._name, kinds, limit=limit, duration=duration, key=key),
        )

    def _still_held(self, scope: Scope, job: Job) -> bool:
        """Renew a lease that is half over after earlier jobs of the round; False if another worker has taken over."""
        lease, now = timedelta(seconds=self._settings.lease_seconds), self._clock()
        if job.lease_until is not None and job.lease_until - now > lease / 2:
            return True
        return self._store.write(scope, now, lambda tx: tx.jobs.extend(job, lease))

    def _count(self, scope: Scope, *states: JobState) -> int:
        """Number of jobs in one of `states` that it has handlers for."""
        with self._store.reading(scope, self._clock()) as tx:
            return tx.jobs.count(JobFilter(kinds=tuple(self._handlers), states=states))

    def _until_next(self, scope: Scope) -> float:
        """Seconds until the first queued job is due; infinite if none is queued."""
        now = self._clock()
        where = JobFilter(kinds=tuple(self._handlers), states=(JobState.QUEUED,))
        with self._store.reading(scope, now) as tx:
            first = tx.jobs.find(where, order=Order(by="run_at", descending=False), limit=1).items
        return (first[0].run_at - now).total_seconds() if first else math.inf

    def _run(self, scope: Scope, job: Job) -> bool:
        seconds = self._settings.lease_seconds
        lease = JobLease(self._store, scope, job, self._clock, seconds, self._stop)
        try:
            with Heartbeat(lease, self._settings.stuck_seconds):
                self._handlers[job.kind](scope, job, self._clock())
        except WorkerStopped:
            self._release(scope, [job])
            return False
        except JobUnfinished as unfinished:
            wait = timedelta(seconds=0.0 if unfinished.progress else BLOCKED_SECONDS)
            self._release(scope, [job], wait)
            return False
        except Exception as exc:  # noqa: BLE001 - a job is a boundary: its error is stored with it and shown by doctor
            now, error = self._clock(), stored_error(job, exc)
            retry_at = now + retry_after(job.attempts)
            self._store.write(scope, now, lambda tx: tx.jobs.fail(job, error, retry_at=retry_at))
            return False
        except BaseException:
            self._release(scope, [job])
            raise
        return self._store.write(scope, self._clock(), lambda tx: tx.jobs.finish(job))

    def _release(self, scope: Scope, jobs: Collection[Job], wait: timedelta | None = None) -> None:
        now = self._clock()
        run_at = now + wait if wait else None
        self._store.write(scope, now, lambda tx: [tx.jobs.release(job, run_at=run_at) for job in jobs])


def retry_after(attempts: int) -> timedelta:
    """Delay before the next attempt of a job that has failed `attempts` times."""
    seconds = BACKOFF_SECONDS * 2 ** max(0, attempts - 1)
    return timedelta(seconds=min(seconds, MAX_BACKOFF_SECONDS))


def stored_error(job: Job, error: Exception) -> str:
    """Text of an error to store. Administrators read it, so errors of jobs on private text give only their location."""
    if job.kind not in (LEARN_SESSION, LINK_ENTITIES) or isinstance(error, TreeringError):
        return error_text(error)
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {last.name}, {Path(last.filename).name}:{last.lineno}"


def error_text(error: BaseException) -> str:
    """Type and message of an error, as storable text."""
    return f"{type(error).__name__}: {error}".replace("\x00", "").encode("utf-8", "replace").decode()
