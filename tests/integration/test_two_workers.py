"""Two processes at once: no job and no slot is done twice, and what a killed one was at is gone on with."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import treering
from tests.integration.crew import Crew
from tests.integration.fork_server import tell
from tests.lengths import at_length
from treering.compose import now
from treering.core.jobs import Job, JobState
from treering.core.queries import JobFilter
from treering.core.runs import RunState
from treering.core.settings import Settings
from treering.jobs import worker
from treering.jobs.stage import StageRun
from treering.jobs.worker import Worker
from treering.maintenance.api import Maintenance
from treering.maintenance.queue import MAINTAIN
from treering.maintenance.schedule import Stage
from treering.memory import Memory

JOBS = at_length(40, full=300)
NIGHTS = at_length(10, full=60)
STEPS = 150
KILLS = at_length(3, full=8)
LEASE = 60.0
BEGIN = datetime(2026, 1, 1, 12, tzinfo=UTC)
_PATIENCE = 120


def opened(place: str, tenant: str, blobs: str, *, clock: Callable[[], datetime] = now, lease: float = LEASE) -> Memory:
    worker.POLL_SECONDS = 0.05  # these are processes of their own
    settings = Settings.make(jobs={"lease_seconds": lease}, maintenance={"timezone": "UTC"})
    return treering.open(place, tenant=tenant, blobs=blobs, settings=settings, clock=clock, background=False)


def meet(folder: str) -> None:
    """Begin together: a process that starts sooner would be done before the other is there."""
    Path(folder, f"{os.getpid()}.ready").touch()
    until = time.monotonic() + _PATIENCE
    while len([*Path(folder).glob("*.ready")]) < 2 and time.monotonic() < until:
        time.sleep(0.005)


def do_jobs(folder: str, **place: Any) -> None:
    """Do what is queued until nothing is left."""
    with opened(**place) as memory:
        meet(folder)

        def count(_scope: object, job: Job, _now: object) -> None:
            tell(job=job.id, process=os.getpid())
            time.sleep(0.01)

        worker = Worker(memory.store, {"count": count}, now, memory.settings.jobs, name=str(os.getpid()))
        worker.run_forever(memory.scope, lambda: None, every=60, idle=0.5)


def live_through_nights(folder: str, **place: Any) -> None:
    """A worker that looks at the schedule night after night, at its own pace: its leases outlast them all.

    One that a busy machine kept from every night goes on until it has one.
    """
    moment, pace, taken = [BEGIN], random.Random(os.getpid()), list[datetime]()
    with opened(**place, clock=lambda: moment[0], lease=NIGHTS * 100_000) as memory:
        meet(folder)

        def stage(run: StageRun) -> None:
            tell(night=f"{run.now:%Y-%m-%d}", process=os.getpid())
            taken.append(run.now)
            time.sleep(0.02)
            run.progress.advance(None)

        upkeep = keeping(memory, stage)
        while moment[0] < BEGIN + timedelta(days=NIGHTS) or not taken:
            # At no even pace: else the one that is ahead stays so, and the other waits through all nights.
            time.sleep(pace.uniform(0, 0.06))
            moment[0] += timedelta(days=1)
            upkeep.queue_due()
            upkeep.worker.run_due(memory.scope)


def go_step_by_step(later: float, **place: Any) -> None:
    """One long stage, each step of which is told when it is done, by a clock that is `later` seconds fast."""
    with opened(**place, clock=lambda: now() + timedelta(seconds=later)) as memory:

        def stage(run: StageRun) -> None:
            begin = 0 if run.cursor is None else int(run.cursor) + 1
            for step in range(begin, STEPS):
                tell(step=step)
                run.progress.advance(str(step), steps_taken=1)

        keeping(memory, stage).worker.run_due(memory.scope)


def keeping(memory: Memory, work: Callable[[StageRun], None]) -> Maintenance:
    stages = (Stage("tidy", "0 3 * * *", work),)
    runner = replace(memory.maintenance.runner, stages=stages)
    settings, clock = memory.settings.jobs, runner.clock
    worker = Worker(memory.store, {MAINTAIN: runner.run_job}, clock, settings, name=str(os.getpid()))
    return replace(memory.maintenance, runner=runner, worker=worker)


def test_no_job_is_done_twice_by_two_processes(place: dict[str, Any], tmp_path: Path, crew: Crew) -> None:
    with opened(**place) as memory:
        with memory.store.transaction(memory.scope, now()) as tx:
            jobs = [Job(id=f"job-{number}", kind="count", run_at=now(), created_at=now()) for number in range(JOBS)]
            assert sum(tx.jobs.enqueue(job) for job in jobs) == JOBS
        for pid in [crew.start(do_jobs, folder=str(tmp_path), **place) for _ in range(2)]:
            crew.join(pid)
        assert Counter(crew.told("job")) == Counter(job.id for job in jobs)
        assert len(set(crew.told("process"))) == 2
        with memory.store.reading(memory.scope, now()) as tx:
            assert tx.jobs.count(JobFilter(states=(JobState.DONE,))) == JOBS


def test_no_slot_is_run_twice_by_two_processes(place: dict[str, Any], tmp_path: Path, crew: Crew) -> None:
    with opened(**place, clock=lambda: BEGIN) as memory:
        memory.remember("the project begins")
        for pid in [crew.start(live_through_nights, folder=str(tmp_path), **place) for _ in range(2)]:
            crew.join(pid)
        runs = keeping(memory, lambda _run: None).runs(1_000)
        slots: list[Any] = [run.slot for run in runs]
        assert len(set(slots)) == len(slots)
        assert {(run.state, run.attempts) for run in runs} == {(RunState.DONE, 1)}
        assert len(crew.told("night")) == len(runs)
        assert len(set(crew.told("process"))) == 2
        # The process that is days behind may have begun it by its own clock.
        assert max(slots) >= (BEGIN + timedelta(days=NIGHTS)).replace(hour=3)


def test_a_stage_whose_workers_are_killed_loses_no_step(place: dict[str, Any], crew: Crew) -> None:
    moments = random.Random(1)
    with opened(**place) as memory:
        upkeep = keeping(memory, lambda _run: None)
        from treering.maintenance.queue import queue_now

        queue_now(memory.scope, memory.store, now(), stage="tidy", new_id=upkeep.runner.new_id)
        for kill in range(KILLS):
            news = len(crew.news)
            pid = crew.start(go_step_by_step, later=kill * LEASE, **place)
            crew.hear_of(news, step=moments.randrange(2, STEPS // KILLS // 2))
            crew.kill(pid)
            assert upkeep.runs(1)[0].attempts == kill + 1
        crew.join(crew.start(go_step_by_step, later=KILLS * LEASE, **place))
        (run,) = upkeep.runs()
    taken = Counter(crew.told("step"))
    assert sorted(taken) == list(range(STEPS))
    # Only what was done and not told yet is done again.
    assert sum(taken.values()) <= STEPS + KILLS
    assert (run.state, run.attempts, run.done) == (RunState.DONE, KILLS + 1, STEPS)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_worker_in_the_foreground_ends_in_good_order(tmp_path: Path, number: signal.Signals) -> None:
    place = str(tmp_path / "memory.db")
    with opened(place, "local", str(tmp_path / "blobs")) as memory:
        command = [str(Path(sys.executable).with_name("treering")), "work", "--db", place, "--project", "default"]
        worker = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        with memory.store.transaction(memory.scope, now()) as tx:
            job = Job(id="j", kind="sweep_blobs", payload={"digests": ()}, run_at=now(), created_at=now())
            tx.jobs.enqueue(job)
        _wait_for(lambda: memory.stats().jobs["done"] == 1)
        assert worker.poll() is None
        worker.send_signal(number)
        told, _said = worker.communicate(timeout=20)
        assert (worker.returncode, told) == (0, "✓ worked 1 jobs done, 0 waiting, 0 failed for good\n")


def test_a_worker_that_works_once_ends_when_nothing_is_due(tmp_path: Path) -> None:
    place = str(tmp_path / "memory.db")
    with opened(place, "local", str(tmp_path / "blobs")) as memory:
        with memory.store.transaction(memory.scope, now()) as tx:
            for number in range(12):
                job = Job(id=f"j{number}", kind="sweep_blobs", payload={"digests": ()}, run_at=now(), created_at=now())
                tx.jobs.enqueue(job)
        command = [
            str(Path(sys.executable).with_name("treering")),
            "work",
            "--once",
            "--db",
            place,
            "--project",
            "default",
        ]
        done = subprocess.run([*command, "--json"], capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stdout) == (0, '{"done": 12, "waiting": 0, "dead": 0}\n'), done.stderr


def _wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)
