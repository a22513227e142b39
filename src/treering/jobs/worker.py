"""Runs durable jobs: takes a lease, does the work, finishes or tries again later."""

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

Handler = Callable[[Scope, Job, datetime], None]
# Beats in a lease: what is left between two of them is how far clocks may be apart, and how long a beat may be late.
_BEATS = 5


class Stopped(Exception):
    """The worker was asked to stop: the job it is at goes back to the queue, as far as it came."""


@dataclass(frozen=True, slots=True)
class Settled:
    """What was done, what still waits (for its time, or for another worker), and what failed for good."""

    done: int
    waiting: int
    dead: int


@dataclass(frozen=True, slots=True)
class Lease:
    """What a long job calls between two steps, when no transaction is open."""

    store: Store
    scope: Scope
    job: Job
    clock: Clock
    seconds: float
    stop: threading.Event

    def keep(self) -> None:
        """Hold the job for longer. `Conflict` where another worker has taken over, `Stopped` where this one is to."""
        if not self.extend():
            raise lost(self.job)
        self.heed()

    def extend(self) -> bool:
        """Hold the job for longer; False if another worker has taken over."""
        duration = timedelta(seconds=self.seconds)
        return self.store.write(self.scope, self.clock(), lambda tx: tx.jobs.extend(self.job, duration))

    def heed(self) -> None:
        if self.stop.is_set():
            raise Stopped


class Heartbeat:
    """Keeps a lease while one step takes long, such as an answer of a slow model: from a thread, up to a limit.

    After it the job counts as stuck, and another worker may take over.
    """

    def __init__(self, lease: Lease, limit: float) -> None:
        self._lease = lease
        self._limit = limit
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="treering-heartbeat", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_raised: object) -> None:
        self._over.set()
        self._thread.join()

    def _beat(self) -> None:
        lease, began = self._lease, time.monotonic()
        while not self._over.wait(lease.seconds / _BEATS) and time.monotonic() - began < self._limit:
            # Where the database is away, the next beat comes soon enough, or the lease runs out as it should.
            with suppress(TreeringError):
                if not lease.extend():
                    return


def lost(job: Job) -> Conflict:
    return Conflict(f"the lease of {job.kind} {job.key or job.id} ran out and another worker took over; leave it alone")


class Worker:
    """Does the jobs it has handlers for, until `stop` is set."""

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
        """A worker that leaves all other kinds alone."""
        handlers = {kind: handler for kind, handler in self._handlers.items() if kind in kinds}
        return Worker(self._store, handlers, self._clock, self._settings, name=self._name, stop=self._stop)

    def run_due(self, scope: Scope, limit: int = 10) -> int:
        """Do up to `limit` jobs that are due; how many were taken is returned."""
        return len(self._round(scope, limit))

    def run_forever(
        self,
        scope: Scope,
        look: Callable[[], object],
        *,
        every: float,
        idle: float | None = None,
        tell: Callable[[int], object] = lambda _done: None,
        pause: Callable[[float], object] | None = None,
    ) -> None:
        """Do what is due as it comes, until stopped or (with `idle`) so many seconds without work.

        Every `every` seconds `look` may queue what the schedule says; `tell` hears how many jobs were done. Whoever
        gives a `pause` is woken by it for new jobs, and so sleeps, and stays, until the next attempt of a failed one.
        """
        looked, worked = -math.inf, time.monotonic()
        sleep = pause or self._stop.wait
        while not self._stop.is_set():
            if time.monotonic() - looked >= every:
                looked = time.monotonic()
                look()
            if self._count(scope, JobState.QUEUED, JobState.LEASED) and (begun := self._round(scope)):
                worked = time.monotonic()
                tell(sum(begun))
            elif pause is not None and (wait := self._until_next(scope)) <= MAX_BACKOFF_SECONDS:
                sleep(min(max(wait, POLL_SECONDS), every))
            elif idle is not None and time.monotonic() - worked >= idle:
                return
            else:
                sleep(min(POLL_SECONDS, every))

    def run_named(self, scope: Scope, kind: str, key: str) -> bool | None:
        """Do the job with this key now, though its time may not have come; None where another worker is at it."""
        jobs = self._lease(scope, (kind,), limit=1, key=key)
        return self._run(scope, jobs[0]) if jobs else None

    def settle(self, scope: Scope, timeout: float, more: Callable[[], bool] = lambda: False) -> Settled:
        """Work until nothing of its kinds is due or in another worker's hands, or `timeout` seconds have passed.

        When nothing waits, `more` is asked to queue what is left to do, until it has nothing.
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
            # Other workers may have finished every job in the meantime: then `more` is asked again.
            elif 0 < self._until_next(scope) < math.inf:
                break
        with self._store.reading(scope, self._clock()) as tx:
            waiting = tx.jobs.count(JobFilter(states=(JobState.QUEUED, JobState.LEASED)))
            dead = tx.jobs.count(JobFilter(states=(JobState.DEAD,)))
        return Settled(done=done, waiting=waiting, dead=dead)

    def _round(self, scope: Scope, limit: int = 10) -> list[bool]:
        """Take what is due; of each job that was begun, whether it is done. What was not begun goes back."""
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
        """Those before it may have taken long: a lease that is half over is renewed, unless somebody else has it."""
        lease, now = timedelta(seconds=self._settings.lease_seconds), self._clock()
        if job.lease_until is not None and job.lease_until - now > lease / 2:
            return True
        return self._store.write(scope, now, lambda tx: tx.jobs.extend(job, lease))

    def _count(self, scope: Scope, *states: JobState) -> int:
        """How many jobs that it has handlers for are in one of `states`."""
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
        lease = Lease(self._store, scope, job, self._clock, seconds, self._stop)
        try:
            with Heartbeat(lease, self._settings.stuck_seconds):
                self._handlers[job.kind](scope, job, self._clock())
        except Stopped:
            self._release(scope, [job])
            return False
        except Exception as exc:  # noqa: BLE001 - a job is a door: whatever it raises is kept with it and shown by doctor
            now, error = self._clock(), failure_of(job, exc)
            retry_at = now + retry_after(job.attempts)
            self._store.write(scope, now, lambda tx: tx.jobs.fail(job, error, retry_at=retry_at))
            return False
        except BaseException:
            self._release(scope, [job])
            raise
        return self._store.write(scope, self._clock(), lambda tx: tx.jobs.finish(job))

    def _release(self, scope: Scope, jobs: Collection[Job]) -> None:
        self._store.write(scope, self._clock(), lambda tx: [tx.jobs.release(job) for job in jobs])


def retry_after(attempts: int) -> timedelta:
    """How long a job waits that failed so often."""
    seconds = BACKOFF_SECONDS * 2 ** max(0, attempts - 1)
    return timedelta(seconds=min(seconds, MAX_BACKOFF_SECONDS))


def failure_of(job: Job, error: Exception) -> str:
    """What is kept of an error. Whoever looks after the project sees it: of what was said in a session, only where."""
    if job.kind not in (LEARN_SESSION, LINK_ENTITIES) or isinstance(error, TreeringError):
        return told(error)
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {last.name}, {Path(last.filename).name}:{last.lineno}"


def told(error: BaseException) -> str:
    """What an error says, in text that can be stored."""
    return f"{type(error).__name__}: {error}".replace("\x00", "").encode("utf-8", "replace").decode()
