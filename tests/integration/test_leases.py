"""A job is done by one worker at a time, and a dead worker's job by the next."""

from collections import Counter
from datetime import timedelta
from typing import Any

from tests.integration.crew import Crew
from tests.integration.crew_members import open_place, work_off
from treering.compose import now
from treering.core.jobs import Job, JobState
from treering.core.queries import JobFilter
from treering.memory import Memory

JOBS = 40
LEASE = 60.0


def _queue(memory: Memory, count: int) -> None:
    with memory.store.transaction(memory.scope, now()) as tx:
        for number in range(count):
            assert tx.jobs.enqueue(Job(id=f"job-{number}", kind="count", run_at=now(), created_at=now()))


def _done(memory: Memory) -> int:
    with memory.store.reading(memory.scope, now()) as tx:
        return tx.jobs.count(JobFilter(states=(JobState.DONE,)))


def test_workers_at_once_never_do_the_same_job_twice(place: dict[str, Any], crew: Crew) -> None:
    with open_place(**place) as memory:
        _queue(memory, JOBS)
        pids = [crew.start(work_off, worker=f"w{number}", seconds=0.01, lease=LEASE, **place) for number in range(3)]
        for pid in pids:
            crew.join(pid)
        assert Counter(crew.told("did")) == Counter(f"job-{number}" for number in range(JOBS))
        assert len(set(crew.told("worker"))) > 1
        assert _done(memory) == JOBS


def test_the_jobs_of_a_killed_worker_are_taken_over_when_its_lease_ends(place: dict[str, Any], crew: Crew) -> None:
    with open_place(**place) as memory:
        _queue(memory, 2)
        killed = crew.start(work_off, worker="killed", seconds=600, lease=LEASE, **place)
        crew.hear(1)
        crew.kill(killed)
        with memory.store.transaction(memory.scope, now()) as tx:
            assert tx.jobs.lease("early", ["count"], limit=2, duration=timedelta(seconds=LEASE)) == []
        crew.join(crew.start(work_off, worker="next", seconds=0, lease=LEASE, later=LEASE, **place))
        took_over = [(news["did"], news["attempt"]) for news in crew.news if news.get("worker") == "next"]
        assert sorted(took_over) == [("job-0", 2), ("job-1", 2)]
        assert _done(memory) == 2
