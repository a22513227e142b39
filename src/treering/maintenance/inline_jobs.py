"""Jobs that a process runs before it exits: those that need no model, within a time limit."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from treering.core.jobs import LINK_ENTITIES, Job, JobState
from treering.core.queries import JobFilter

if TYPE_CHECKING:
    from treering.core.scope import Scope
    from treering.core.settings import Settings
    from treering.ports.clock import Clock, NewId
    from treering.ports.store import Store, Transaction

_BATCH = 20  # records linked between two looks at the clock
_LAST_SECONDS = 0.05  # how long storing a job's result may wait for another writer after the time limit


@dataclass(frozen=True, slots=True)
class JobsLeft:
    """Number of jobs that are queued or running, and the first error, if any."""

    pending: int
    error: str = ""


@dataclass(frozen=True, slots=True)
class SmallJobs:
    """Links new records to entities. Vectors, facts of sessions and maintenance are left to a worker."""

    scope: Scope
    store: Store
    clock: Clock
    new_id: NewId
    settings: Settings

    def run(self, seconds: float) -> JobsLeft:
        """Run jobs for at most about `seconds`, including waits for another writer. Unfinished jobs stay queued."""
        until = monotonic() + seconds
        errors = [self._run(job, until) for job in (self._leased(until) if seconds else ())]
        with self.store.reading(self.scope, self.clock()) as tx:
            pending = tx.jobs.count(JobFilter(states=(JobState.QUEUED, JobState.LEASED)))
        return JobsLeft(pending, next(filter(None, errors), ""))

    def _leased(self, until: float) -> list[Job]:
        taken = list[Job]()
        owner, duration = f"{os.uname().nodename}:{os.getpid()}", timedelta(seconds=self.settings.jobs.lease_seconds)

        def lease(tx: Transaction) -> None:
            taken[:] = tx.jobs.lease(owner, (LINK_ENTITIES,), limit=2, duration=duration)

        return taken if self._write(lease, until - monotonic()) else []

    def _run(self, job: Job, until: float) -> str:
        """The error message; empty if the job succeeded."""
        from treering.jobs.worker import retry_after, stored_error

        error = ""
        try:
            done = self._link(job, until)
        except Exception as exc:  # noqa: BLE001 - the error is stored with the job and reported
            error, retry_at = stored_error(job, exc), self.clock() + retry_after(job.attempts, self.settings.jobs)
            end: Callable[[Transaction], object] = lambda tx: tx.jobs.fail(job, error, retry_at=retry_at)  # noqa: E731
        else:
            end = partial(_finish if done else _release, job)
        # If this write fails, the lease runs out and another worker takes over.
        self._write(end, max(until - monotonic(), _LAST_SECONDS))
        return error

    def _link(self, job: Job, until: float) -> bool:
        from treering.entities.link_jobs import link_new

        own = self.scope.replace(principal=job.payload["principal"])
        limits = self.settings.entities.replace(batch=min(_BATCH, self.settings.entities.batch))
        max_wait = max(until - monotonic(), 0.0)
        return link_new(
            own, self.store, self.clock, limits, self.new_id, between=lambda: monotonic() < until, max_wait=max_wait
        )

    def _write(self, work: Callable[[Transaction], object], seconds: float) -> bool:
        return self.store.write_if_free(self.scope, self.clock(), work, seconds=max(seconds, 0.0))


def _finish(job: Job, tx: Transaction) -> bool:
    return tx.jobs.finish(job)


def _release(job: Job, tx: Transaction) -> bool:
    return tx.jobs.release(job)
