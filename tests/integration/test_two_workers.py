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
from uuid import uuid4

import pytest

import treering
from tests.lengths import at_length
from treering.compose import now
from treering.core.jobs import Job, JobState
from treering.core.queries import JobFilter
from treering.core.runs import RunState
from treering.core.settings import Settings
from treering.learn.jobs import Worker
from treering.learn.stages import StageRun
from treering.learn.upkeep.queueing import MAINTAIN
from treering.learn.upkeep.schedule import Stage
from treering.learn.upkeep.verbs import Upkeep
from treering.memory import Memory

JOBS = at_length(150, full=300)
NIGHTS = at_length(20, full=60)
STEPS = 150
BEGIN = datetime(2026, 1, 1, 12, tzinfo=UTC)
_PATIENCE = 120


def opened(place: str, tenant: str, blobs: str, *, clock: Callable[[], datetime] = now, lease: float = 1.0) -> Memory:
    settings = Settings.make(jobs={"lease_seconds": lease, "poll_seconds": 0.05}, upkeep={"timezone": "UTC"})
    return treering.open(place, tenant=tenant, blobs=blobs, settings=settings, clock=clock, background=False)


def put_down(file: str, line: str) -> None:
    """Whole lines only, whoever else writes."""
    handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(handle, f"{line}\n".encode())
    os.close(handle)


def meet(file: str) -> None:
    """Begin together: whoever starts sooner would be done before the other is there."""
    ready = f"{file}.ready"
    put_down(ready, str(os.getpid()))
    until = time.monotonic() + _PATIENCE
    while len(Path(ready).read_text().splitlines()) < 2 and time.monotonic() < until:
        time.sleep(0.005)


def do_jobs(file: str, *place: str) -> None:
    """Do what is queued until nothing is left."""
    with opened(*place) as memory:
        meet(file)

        def count(_scope: object, job: Job, _now: object) -> None:
            put_down(file, f"{job.id} {os.getpid()}")
            time.sleep(0.01)

        worker = Worker(memory.store, {"count": count}, now, memory.settings.jobs, name=str(os.getpid()))
        worker.run_forever(memory.scope, lambda: None, every=60, idle=0.5)


def live_through_nights(file: str, *place: str) -> None:
    """A worker that looks at the schedule night after night, at its own pace: its leases outlast them all."""
    moment = [BEGIN]
    with opened(*place, clock=lambda: moment[0], lease=NIGHTS * 100_000) as memory:
        meet(file)

        def stage(run: StageRun) -> None:
            put_down(file, f"{run.now:%Y-%m-%d} {os.getpid()}")
            time.sleep(0.02)
            run.progress.advance(None)

        upkeep = keeping(memory, stage)
        for _ in range(NIGHTS):
            # At no even pace: else the one that is ahead stays so, and whoever waits for it lives through all nights.
            time.sleep(random.uniform(0, 0.06))
            moment[0] += timedelta(days=1)
            upkeep.queue_due()
            upkeep.worker.run_due(memory.scope)


def go_step_by_step(file: str, *place: str) -> None:
    """One long stage, each step of which is told when it is done."""
    with opened(*place) as memory:

        def stage(run: StageRun) -> None:
            begin = 0 if run.cursor is None else int(run.cursor) + 1
            for step in range(begin, STEPS):
                put_down(file, str(step))
                run.progress.advance(str(step), steps_taken=1)

        upkeep = keeping(memory, stage)
        while upkeep.runs(1)[0].state is not RunState.DONE:
            upkeep.worker.run_forever(memory.scope, lambda: None, every=60, idle=0)
            time.sleep(0.02)


def keeping(memory: Memory, work: Callable[[StageRun], None]) -> Upkeep[object]:
    stages = (Stage("tidy", "0 3 * * *", work),)
    maintenance = replace(memory.upkeep.maintenance, stages=stages)
    settings, clock = memory.settings.jobs, maintenance.clock
    worker = Worker(memory.store, {MAINTAIN: maintenance.do}, clock, settings, name=str(os.getpid()))
    return replace(memory.upkeep, maintenance=maintenance, worker=worker)


def start(work: Callable[..., None], file: Path, place: tuple[str, str, str]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "tests.integration.test_two_workers", work.__name__, str(file), *place],
        cwd=Path(__file__).parents[2],
    )


@pytest.fixture
def place(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> tuple[str, str, str]:
    where = str(tmp_path / "memory.db") if engine == "sqlite" else request.getfixturevalue("postgres_url")
    return where, f"t-{uuid4().hex[:12]}", str(tmp_path / "blobs")


def test_no_job_is_done_twice_by_two_processes(place: tuple[str, str, str], tmp_path: Path) -> None:
    file = tmp_path / "done.txt"
    with opened(*place) as memory:
        with memory.store.transaction(memory.scope, now()) as tx:
            jobs = [Job(id=f"job-{number}", kind="count", run_at=now(), created_at=now()) for number in range(JOBS)]
            assert sum(tx.jobs.enqueue(job) for job in jobs) == JOBS
        workers = [start(do_jobs, file, place) for _ in range(2)]
        assert [worker.wait(_PATIENCE) for worker in workers] == [0, 0]
        done = [line.split() for line in file.read_text().splitlines()]
        assert Counter(id for id, _ in done) == Counter(job.id for job in jobs)
        assert len({process for _, process in done}) == 2
        with memory.store.reading(memory.scope, now()) as tx:
            assert tx.jobs.count(JobFilter(states=(JobState.DONE,))) == JOBS


def test_no_slot_is_run_twice_by_two_processes(place: tuple[str, str, str], tmp_path: Path) -> None:
    file = tmp_path / "nights.txt"
    with opened(*place, clock=lambda: BEGIN) as memory:
        memory.remember("the project begins")
        workers = [start(live_through_nights, file, place) for _ in range(2)]
        assert [worker.wait(_PATIENCE) for worker in workers] == [0, 0]
        runs = keeping(memory, lambda _run: None).runs(1_000)
        slots = [run.slot for run in runs]
        assert len(set(slots)) == len(slots)
        assert {(run.state, run.attempts) for run in runs} == {(RunState.DONE, 1)}
        done = file.read_text().splitlines()
        assert len(done) == len(runs)
        assert len({line.split()[1] for line in done}) == 2
        # Whoever is days behind may have begun it by its own clock.
        assert max(slots) == (BEGIN + timedelta(days=NIGHTS)).replace(hour=3)


def test_a_stage_whose_workers_are_killed_loses_no_step(place: tuple[str, str, str], tmp_path: Path) -> None:
    file, moments, kills = tmp_path / "steps.txt", random.Random(1), 4
    with opened(*place) as memory:
        upkeep = keeping(memory, lambda _run: None)
        from treering.learn.upkeep.queueing import queue_now

        queue_now(memory.scope, memory.store, now(), stage="tidy", new_id=upkeep.maintenance.new_id)
        for kill in range(kills):
            worker, known = start(go_step_by_step, file, place), _lines(file)
            _wait_for(lambda known=known: _lines(file) > known + moments.randrange(1, STEPS // kills // 2))
            worker.send_signal(signal.SIGKILL)
            worker.wait(_PATIENCE)
            assert upkeep.runs(1)[0].attempts == kill + 1
        assert start(go_step_by_step, file, place).wait(_PATIENCE) == 0
        (run,) = upkeep.runs()
    taken = Counter(map(int, file.read_text().split()))
    assert sorted(taken) == list(range(STEPS))
    # Only what was done and not told yet is done again.
    assert sum(taken.values()) <= STEPS + kills
    assert (run.state, run.attempts, run.done) == (RunState.DONE, kills + 1, STEPS)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_worker_in_the_foreground_ends_in_good_order(tmp_path: Path, number: signal.Signals) -> None:
    place = str(tmp_path / "memory.db")
    with opened(place, "local", str(tmp_path / "blobs")) as memory:
        command = [Path(sys.executable).with_name("treering"), "work", "--db", place, "--project", "default"]
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
        command = [Path(sys.executable).with_name("treering"), "work", "--once", "--db", place, "--project", "default"]
        done = subprocess.run([*command, "--json"], capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stdout) == (0, '{"done": 12, "waiting": 0, "dead": 0}\n'), done.stderr


def _lines(file: Path) -> int:
    return len(file.read_text().split()) if file.exists() else 0


def _wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


if __name__ == "__main__":
    {work.__name__: work for work in (do_jobs, live_through_nights, go_step_by_step)}[sys.argv[1]](*sys.argv[2:])
