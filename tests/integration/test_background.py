"""The thread in the background: there when there is work, gone when there is none, and in nobody's way."""

import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import treering
from tests.conftest import OpenMemory
from tests.lengths import at_length
from tests.samples import knowledge
from treering.compose import now
from treering.core.jobs import Job, JobState
from treering.core.queries import JobFilter
from treering.core.settings import Settings
from treering.jobs.stage import StageRun
from treering.memory import Memory

QUICK = Settings.make(maintenance={"close_seconds": 30.0})
_PATIENCE = 30
STEPS = 100_000


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treering.jobs.worker.POLL_SECONDS", 0.02)
    monkeypatch.setattr("treering.jobs.worker.BACKOFF_SECONDS", 0.05)
    monkeypatch.setattr("treering.compose.workers.IDLE_SECONDS", 0.3)


def wait_for(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.005)


def queue(memory: Memory, id: str, kind: str = "sweep_blobs", **payload: Any) -> None:
    payload = payload or {"digests": ()}
    with memory.store.transaction(memory.scope, now()) as tx:
        tx.jobs.enqueue(Job(id=id, kind=kind, payload=payload, run_at=now(), created_at=now()))


def is_done(memory: Memory, id: str) -> bool:
    return state_of(memory, id) is JobState.DONE


def state_of(memory: Memory, id: str) -> JobState:
    with memory.store.reading(memory.scope, now()) as tx:
        job = tx.jobs.get(id)
    assert job is not None
    return job.state


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "treering-background"]


@pytest.fixture
def slow_stage(monkeypatch: pytest.MonkeyPatch) -> tuple[threading.Event, threading.Event]:
    """Consolidation takes steps without end; the events say that it began, and keep a step from ending."""
    import treering.knowledge.session_learning

    began, hold = threading.Event(), threading.Event()
    hold.set()

    def work(run: StageRun) -> None:
        for step in range(STEPS):
            began.set()
            hold.wait(_PATIENCE)
            time.sleep(0.005)
            run.progress.advance(str(step))

    monkeypatch.setattr(treering.knowledge.session_learning, "consolidate_sessions", work)
    return began, hold


def queue_slow_stage(memory: Memory) -> None:
    from treering.maintenance.queue import queue_now

    queue_now(memory.scope, memory.store, now(), stage="consolidate", new_id=lambda: "slow-" + os.urandom(8).hex())


def test_it_begins_with_the_first_job_and_ends_when_nothing_is_left(open_memory: OpenMemory) -> None:
    memory = open_memory(settings=QUICK, background=True)
    memory.remember_many([knowledge("k", "nothing to do in the background")])
    memory.search("nothing")
    assert threads() == []
    for id in ("first", "second"):
        queue(memory, id)
        assert len(threads()) == 1
        wait_for(partial(is_done, memory, id), f"{id} is not done")
        wait_for(lambda: threads() == [], "the thread does not end")


def test_one_thread_does_whatever_is_queued_meanwhile(open_memory: OpenMemory) -> None:
    memory = open_memory(settings=QUICK, background=True)
    for number in range(30):
        queue(memory, f"j{number}")
        assert len(threads()) == 1
    wait_for(lambda: memory.stats().jobs["done"] == 30, "not everything is done")


@pytest.mark.parametrize("choice", [{"background": False}, {}])
def test_it_does_not_begin_where_nobody_wants_it(open_memory: OpenMemory, choice: dict[str, bool]) -> None:
    """TREERING_BACKGROUND is off in tests."""
    memory = open_memory(settings=QUICK, **choice)
    queue(memory, "j")
    time.sleep(0.2)
    assert threads() == []
    assert state_of(memory, "j") is JobState.QUEUED
    assert memory.settle().done == 1


def test_it_is_there_unless_the_environment_says_no(open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TREERING_BACKGROUND")
    memory = open_memory(settings=QUICK)
    queue(memory, "j")
    wait_for(lambda: state_of(memory, "j") is JobState.DONE, "the job is not done")


def test_a_job_that_was_rolled_back_wakes_nobody(open_memory: OpenMemory) -> None:
    memory = open_memory(settings=QUICK, background=True)

    def give_up() -> None:
        with memory.store.transaction(memory.scope, now()) as tx:
            tx.jobs.enqueue(Job(id="j", kind="sweep_blobs", run_at=now(), created_at=now()))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        give_up()
    assert threads() == []


def test_close_stops_it_at_once_and_the_job_goes_back(
    open_memory: OpenMemory, slow_stage: tuple[threading.Event, threading.Event]
) -> None:
    memory = open_memory(settings=QUICK, background=True)
    queue_slow_stage(memory)
    assert slow_stage[0].wait(_PATIENCE)
    memory.close()
    assert threads() == []
    with open_memory() as again:
        (run,) = again.maintenance.runs()
        with again.store.reading(again.scope, now()) as tx:
            (job,) = tx.jobs.stream(JobFilter(kinds=("maintain",)))
    assert (job.state, job.attempts) == (JobState.QUEUED, 0)
    assert 0 < run.done < STEPS


def test_close_does_not_wait_for_a_step_that_takes_long(
    open_memory: OpenMemory, slow_stage: tuple[threading.Event, threading.Event]
) -> None:
    settings = QUICK.replace(maintenance=QUICK.maintenance.replace(close_seconds=0.2))
    memory, (began, hold) = open_memory(settings=settings, background=True), slow_stage
    hold.clear()
    queue_slow_stage(memory)
    assert began.wait(_PATIENCE)
    memory.close()
    assert len(threads()) == 1, "the step has ended"
    hold.set()
    wait_for(lambda: threads() == [], "the thread does not end after its step")


def test_the_user_writes_while_a_stage_is_at_work(
    open_memory: OpenMemory, slow_stage: tuple[threading.Event, threading.Event]
) -> None:
    memory, (began, hold) = open_memory(settings=QUICK, background=True), slow_stage
    hold.clear()
    queue_slow_stage(memory)
    assert began.wait(_PATIENCE)
    for number in range(10):
        memory.remember(f"written while the model thinks, {number}")
    assert memory.maintenance.runs()[0].done == 0, "they waited for the step to end"
    hold.set()


def test_what_fails_in_the_background_is_kept_with_the_job(open_memory: OpenMemory, capfd: Any) -> None:
    memory = open_memory(settings=QUICK, background=True)
    queue(memory, "j", wrong="payload")

    def failed() -> bool:
        with memory.store.reading(memory.scope, now()) as tx:
            job = tx.jobs.get("j")
        return job is not None and job.error is not None

    wait_for(failed, "the job has no error")
    memory.remember("the user does not notice")
    wait_for(lambda: threads() == [], "the thread does not end")
    assert capfd.readouterr().err == ""


def test_a_failed_job_is_tried_again_before_the_thread_ends(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its wait is longer than the thread stays without work."""
    monkeypatch.setattr("treering.jobs.worker.BACKOFF_SECONDS", 3.0)
    monkeypatch.setattr("treering.compose.workers.IDLE_SECONDS", 0.1)
    memory, attempts = open_memory(settings=QUICK, background=True), list[float]()
    sweep = type(memory.store).sweep_blobs

    def stumble(*given: Any) -> int:
        attempts.append(time.monotonic())
        if len(attempts) == 1:
            raise RuntimeError("not yet")
        return sweep(*given)

    monkeypatch.setattr(type(memory.store), "sweep_blobs", stumble)
    queue(memory, "j")
    wait_for(lambda: len(attempts) == 1, "the job is not begun")
    time.sleep(0.3)
    # Whoever comes meanwhile does not wait for it, and nobody holds the database.
    queue(memory, "another")
    wait_for(lambda: state_of(memory, "another") is JobState.DONE, "the other job waits")
    assert state_of(memory, "j") is JobState.QUEUED
    wait_for(lambda: state_of(memory, "j") is JobState.DONE, "the job is not tried again")
    wait_for(lambda: threads() == [], "the thread does not end")
    assert attempts[-1] - attempts[0] >= 2.9


def test_close_wakes_a_thread_that_waits_for_an_attempt(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("treering.jobs.worker.BACKOFF_SECONDS", 600)
    memory = open_memory(settings=QUICK, background=True)
    queue(memory, "j", wrong="payload")
    wait_for(lambda: memory.stats().jobs["queued"] == 1, "the job did not fail")
    time.sleep(0.5)
    assert len(threads()) == 1
    memory.close()
    assert threads() == []


def test_what_goes_wrong_outside_of_jobs_stops_none_and_is_told_by_doctor(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    from treering.maintenance import api as verbs

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("no schedule today")

    memory = open_memory(settings=QUICK, background=True)
    with monkeypatch.context() as patched:
        patched.setattr(verbs, "queue_due", fail)
        queue(memory, "first")
        wait_for(lambda: state_of(memory, "first") is JobState.DONE, "the job is not done")
        wait_for(lambda: threads() == [], "the thread does not end")
    checks = {check.name: check for check in memory.doctor().checks}
    assert (checks["background"].fine, checks["background"].detail) == (False, "RuntimeError: no schedule today")

    queue(memory, "second")
    wait_for(lambda: state_of(memory, "second") is JobState.DONE, "the job is not done")
    wait_for(lambda: threads() == [], "the thread does not end")
    assert memory.doctor().healthy


def test_a_process_may_fork_while_it_works(
    open_memory: OpenMemory, slow_stage: tuple[threading.Event, threading.Event]
) -> None:
    memory = open_memory(settings=QUICK, background=True)
    memory.remember("before the forks")
    queue_slow_stage(memory)
    assert slow_stage[0].wait(_PATIENCE)
    for number in range(at_length(5, full=15)):
        with warnings.catch_warnings():
            # Newer Pythons warn of forks beside threads; here that is the point.
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid == 0:
            try:
                # What queues nothing: a job would begin a thread of the child's own.
                memory.remember_many([knowledge(f"child-{number}", f"said by child {number}")])
                os._exit(0 if threads() == [] else 2)
            except BaseException as exc:  # noqa: BLE001 - the parent shows it
                os.write(2, f"{type(exc).__name__}: {exc}\n".encode())
            os._exit(1)
        assert os.waitpid(pid, 0)[1] == 0
    assert len(threads()) == 1
    assert memory.stats().records["knowledge"] == 1 + at_length(5, full=15)


def test_a_child_has_a_thread_of_its_own(open_memory: OpenMemory) -> None:
    memory = open_memory(settings=QUICK, background=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        try:
            queue(memory, "of the child")
            wait_for(lambda: state_of(memory, "of the child") is JobState.DONE, "not done")
        except BaseException as exc:  # noqa: BLE001 - the parent shows it
            os.write(2, f"{type(exc).__name__}: {exc}\n".encode())
            os._exit(1)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    assert state_of(memory, "of the child") is JobState.DONE


def test_a_process_that_closes_nothing_ends_all_the_same(tmp_path: Path) -> None:
    program = """
import time, treering, treering.knowledge.session_learning
from treering.compose import now
from treering.maintenance.queue import queue_now
def forever(run):
    print("began", flush=True)
    time.sleep(600)
treering.knowledge.session_learning.consolidate_sessions = forever
memory = treering.open("memory.db")
queue_now(memory.scope, memory.store, now(), stage="consolidate", new_id=treering.compose.new_id)
time.sleep(1)
"""
    environment = {**os.environ, "TREERING_BACKGROUND": "on"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "began\n", "")
    with treering.open(tmp_path / "memory.db") as memory:
        memory.remember("the file is sound")
        assert memory.doctor().healthy
