"""Runs durable jobs: takes a lease, does the work, finishes or tries again later."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from treering.core.jobs import Job, JobState
from treering.core.queries import JobFilter
from treering.core.scope import Scope
from treering.core.settings import JobSettings
from treering.ports.clock import Clock
from treering.ports.store import Store

Handler = Callable[[Scope, Job, datetime], None]


@dataclass(frozen=True, slots=True)
class Settled:
    """What was done, what still waits (for its time, or for another worker), and what failed for good."""

    done: int
    waiting: int
    dead: int


class Worker:
    """Does the jobs it has handlers for."""

    def __init__(
        self, store: Store, handlers: Mapping[str, Handler], clock: Clock, settings: JobSettings, name: str
    ) -> None:
        self._store = store
        self._handlers = handlers
        self._clock = clock
        self._settings = settings
        self._name = name

    def only(self, *kinds: str) -> "Worker":
        """A worker that leaves all other kinds alone."""
        handlers = {kind: handler for kind, handler in self._handlers.items() if kind in kinds}
        return Worker(self._store, handlers, self._clock, self._settings, self._name)

    def run_due(self, scope: Scope, limit: int = 10) -> int:
        """Do up to `limit` jobs that are due; how many were taken is returned."""
        return len(self._round(scope, limit))

    def settle(self, scope: Scope, timeout: float, more: Callable[[], bool] = lambda: False) -> Settled:
        """Work until nothing of its kinds is due or in another worker's hands, or `timeout` seconds have passed.

        When nothing waits, `more` is asked to queue what is left to do, until it has nothing.
        """
        deadline, done = time.monotonic() + timeout, 0
        while self._count(scope, JobState.QUEUED, JobState.LEASED) or more():
            if time.monotonic() >= deadline:
                break
            finished = self._round(scope)
            done += sum(finished)
            if not finished:
                if not self._count(scope, JobState.LEASED):
                    break
                time.sleep(0.02)
        with self._store.reading(scope, self._clock()) as tx:
            waiting = tx.jobs.count(JobFilter(states=(JobState.QUEUED, JobState.LEASED)))
            dead = tx.jobs.count(JobFilter(states=(JobState.DEAD,)))
        return Settled(done=done, waiting=waiting, dead=dead)

    def _round(self, scope: Scope, limit: int = 10) -> list[bool]:
        """Take what is due; of each job, whether it is done."""
        lease = timedelta(seconds=self._settings.lease_seconds)
        with self._store.transaction(scope, self._clock()) as tx:
            jobs = tx.jobs.lease(self._name, tuple(self._handlers), limit=limit, duration=lease)
        return [self._run(scope, job) for job in jobs]

    def _count(self, scope: Scope, *states: JobState) -> int:
        """How many jobs that it has handlers for are in one of `states`."""
        with self._store.reading(scope, self._clock()) as tx:
            return tx.jobs.count(JobFilter(kinds=tuple(self._handlers), states=states))

    def _run(self, scope: Scope, job: Job) -> bool:
        try:
            self._handlers[job.kind](scope, job, self._clock())
        except Exception as exc:  # noqa: BLE001 - a job is a door: whatever it raises is kept with it and shown by doctor
            now = self._clock()
            with self._store.transaction(scope, now) as tx:
                tx.jobs.fail(job, _told(exc), retry_at=now + self._wait(job.attempts))
            return False
        with self._store.transaction(scope, self._clock()) as tx:
            return tx.jobs.finish(job)

    def _wait(self, attempts: int) -> timedelta:
        seconds = self._settings.backoff_seconds * 2 ** max(0, attempts - 1)
        return timedelta(seconds=min(seconds, self._settings.backoff_limit_seconds))


def _told(error: Exception) -> str:
    """What an error says, in text that can be stored."""
    return f"{type(error).__name__}: {error}".replace("\x00", "").encode("utf-8", "replace").decode()
