"""Durable work: one worker at a time, tried again after failures, never queued twice, never lost."""

import threading
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any

import pytest

from tests.conftest import OpenMemory
from tests.samples import NOW, SMALL_BLOBS, sample
from treering.adapters.sql.index_base import SqlIndex
from treering.core.errors import Conflict, NotFound
from treering.core.jobs import Job, JobState, learning_job
from treering.core.queries import JobFilter
from treering.core.settings import JobSettings
from treering.core.turns import Session
from treering.jobs.worker import BLOCKED_SECONDS, JobUnfinished, Worker
from treering.memory import Memory
from treering.search.embedding import EmbeddingRun, run_embedding_job

MINUTE = timedelta(minutes=1)


class Queue:
    """The verbs of the queue, each in a transaction of its own, at a chosen moment."""

    def __init__(self, memory: Memory, owner: str = "worker") -> None:
        self._memory, self._owner = memory, owner

    def at(self, now: datetime, verb: str, *arguments: Any, **options: Any) -> Any:
        with self._memory.store.transaction(self._memory.scope, now) as tx:
            return getattr(tx.jobs, verb)(*arguments, **options)

    def add(self, id: str = "j", **fields: Any) -> bool:
        return bool(self.at(NOW, "enqueue", sample(Job, id, **fields)))

    def lease(self, now: datetime = NOW, limit: int = 10) -> list[Job]:
        return list(self.at(now, "lease", self._owner, ("tidy",), limit=limit, duration=MINUTE))

    def get(self, id: str = "j") -> Job:
        job: Job = self.at(NOW, "get", id)
        return job


def test_a_leased_job_is_nobody_elses_until_the_lease_runs_out(open_memory: OpenMemory) -> None:
    first, second = Queue(open_memory(), "first"), Queue(open_memory(), "second")
    first.add()

    (mine,) = first.lease()
    assert (mine.state, mine.lease_owner, mine.lease_until) == (JobState.LEASED, "first", NOW + MINUTE)
    assert second.lease() == []
    assert second.lease(NOW + MINUTE - timedelta(microseconds=1)) == []

    (theirs,) = second.lease(NOW + MINUTE)
    assert (theirs.id, theirs.attempts, theirs.lease_owner) == ("j", 2, "second")


def test_whoever_lost_the_lease_can_neither_finish_fail_nor_extend(open_memory: OpenMemory) -> None:
    first, second = Queue(open_memory(), "first"), Queue(open_memory(), "second")
    first.add()
    (lost,) = first.lease()
    (held,) = second.lease(NOW + MINUTE)

    assert first.at(NOW, "finish", lost) is False
    assert first.at(NOW, "fail", lost, "late", retry_at=NOW) is False
    assert first.at(NOW, "extend", lost, MINUTE) is False
    assert first.get() == held
    assert second.at(NOW, "finish", held) is True
    assert second.at(NOW, "finish", held) is False


def test_a_worker_that_takes_its_own_job_again_has_lost_the_first_lease(memory: Memory) -> None:
    queue = Queue(memory)
    queue.add()
    (before,) = queue.lease()
    (again,) = queue.lease(NOW + MINUTE)
    assert queue.at(NOW, "finish", before) is False
    assert queue.at(NOW, "finish", again) is True


def test_a_worker_that_released_its_job_cannot_finish_it_for_the_next_worker(open_memory: OpenMemory) -> None:
    """A release takes the attempt back, so that only the lease owner tells the two leases apart."""
    first, second = Queue(open_memory(), "first"), Queue(open_memory(), "second")
    first.add()
    (released,) = first.lease()
    assert first.at(NOW, "release", released) is True
    (held,) = second.lease()
    assert held.attempts == released.attempts

    assert first.at(NOW, "finish", released) is False
    assert second.at(NOW, "finish", held) is True


def test_an_extended_lease_holds_longer(memory: Memory) -> None:
    queue = Queue(memory)
    queue.add()
    (job,) = queue.lease()
    assert queue.at(NOW + MINUTE / 2, "extend", job, MINUTE) is True
    assert queue.lease(NOW + MINUTE) == []
    assert len(queue.lease(NOW + MINUTE * 3 / 2)) == 1


def test_jobs_are_taken_when_due_the_oldest_first_and_by_kind(memory: Memory) -> None:
    queue = Queue(memory)
    queue.add("later", run_at=NOW + MINUTE)
    queue.add("second", run_at=NOW - MINUTE)
    queue.add("first", run_at=NOW - 2 * MINUTE)
    queue.add("other", kind="unknown")
    assert [job.id for job in queue.lease(limit=1)] == ["first"]
    assert [job.id for job in queue.lease()] == ["second"]
    assert [job.id for job in queue.lease(NOW + MINUTE / 2)] == []


def test_a_failing_job_is_tried_again_and_at_last_is_a_dead_letter_that_can_be_revived(memory: Memory) -> None:
    queue = Queue(memory)
    queue.add(max_attempts=2)
    (job,) = queue.lease()
    assert queue.at(NOW, "fail", job, "boom", retry_at=NOW + MINUTE) is True
    assert queue.lease() == []
    (job,) = queue.lease(NOW + MINUTE)
    assert queue.at(NOW, "fail", job, "boom again", retry_at=NOW + MINUTE) is True

    dead = queue.get()
    assert (dead.state, dead.error, dead.finished_at, dead.lease_owner) == (JobState.DEAD, "boom again", NOW, None)
    assert queue.lease(NOW + 1000 * MINUTE) == []

    assert queue.at(NOW, "revive", "j") is True
    assert queue.at(NOW, "revive", "j") is False
    (job,) = queue.lease()
    assert job.attempts == 1
    assert queue.at(NOW, "finish", job) is True
    with pytest.raises(NotFound):
        queue.at(NOW, "revive", "missing")


def test_work_with_a_key_waits_in_the_queue_once(memory: Memory) -> None:
    queue = Queue(memory)
    assert queue.add("a", key="same") is True
    assert queue.add("b", key="same") is False
    assert queue.add("c", key="other") is True
    assert queue.add("d", key="same", kind="another kind") is True
    (job, _) = queue.lease()
    assert queue.add("e", key="same") is False
    queue.at(NOW, "finish", job)
    assert queue.add("f", key="same") is True
    with pytest.raises(Conflict):
        queue.add("f")


def test_a_key_waits_once_even_when_many_bring_it_at_once(open_memory: OpenMemory) -> None:
    memories = [open_memory() for _ in range(4)]
    start = threading.Barrier(len(memories))

    def bring(memory: Memory, number: int) -> None:
        start.wait()
        for round in range(5):
            Queue(memory).add(f"{number}-{round}", key=f"key {round}")

    threads = [threading.Thread(target=bring, args=(memory, number)) for number, memory in enumerate(memories)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with memories[0].store.reading(memories[0].scope, NOW) as tx:
        assert sorted(str(job.key) for job in tx.jobs.stream()) == [f"key {round}" for round in range(5)]


def test_workers_that_lease_at_once_share_the_work_without_overlap(open_memory: OpenMemory) -> None:
    memories = [open_memory() for _ in range(3)]
    for number in range(30):
        Queue(memories[0]).add(f"j{number:02}")
    taken: list[str] = []

    def work(memory: Memory, name: str) -> None:
        while jobs := Queue(memory, name).lease(limit=2):
            taken.extend(job.id for job in jobs)

    threads = [threading.Thread(target=work, args=(memory, f"w{n}")) for n, memory in enumerate(memories)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == [f"j{number:02}" for number in range(30)]


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treering.jobs.worker.BACKOFF_SECONDS", 10)
    monkeypatch.setattr("treering.jobs.worker.MAX_BACKOFF_SECONDS", 25)


def worker(memory: Memory, clock: Clock, handler: Any) -> Worker:
    return Worker(memory.store, {"tidy": handler}, clock, JobSettings(), name="w")


@pytest.mark.parametrize("message", ["boom", "nul \x00 and \ud800 surrogate"])
def test_the_wait_after_each_failure_doubles_up_to_its_limit(memory: Memory, message: str) -> None:
    clock = Clock()

    def fail(*_: object) -> None:
        raise RuntimeError(message)

    busy = worker(memory, clock, fail)
    Queue(memory).add(max_attempts=5)
    waits = []
    for _ in range(4):
        assert busy.run_due(memory.scope) == 1
        job = Queue(memory).get()
        assert job.error is not None
        assert job.error.startswith("RuntimeError: ")
        waits.append((job.run_at - clock.now).total_seconds())
        clock.now = job.run_at
    assert waits == [10, 20, 25, 25]
    busy.run_due(memory.scope)
    assert Queue(memory).get().state is JobState.DEAD
    assert busy.settle(memory.scope, 1).dead == 1


def test_a_job_that_another_worker_took_over_meanwhile_is_not_begun(memory: Memory) -> None:
    """The first job of a round outlasts the leases of the whole round."""
    clock, begun = Clock(), list[str]()
    another = Queue(memory, "another")
    another.add("first")
    another.add("second")

    def outlast(_scope: object, job: Job, _now: datetime) -> None:
        begun.append(job.id)
        clock.now += timedelta(seconds=2 * JobSettings().lease_seconds)
        another.lease(clock.now)

    worker(memory, clock, outlast).run_due(memory.scope)

    assert begun == ["first"]
    assert {another.get(id).lease_owner for id in ("first", "second")} == {"another"}


def test_settling_goes_on_with_what_another_worker_left_when_it_ended(memory: Memory) -> None:
    """The last job in other hands may end between two looks; what is left to do is queued and done all the same."""
    done: list[str] = []
    theirs = Queue(memory, "another")
    theirs.add("theirs")
    (held,) = theirs.lease()

    class LookedTooEarly(Worker):
        def _round(self, *arguments: Any) -> list[bool]:
            finished = super()._round(*arguments)
            theirs.at(NOW, "finish", held)
            return finished

    settings = JobSettings()
    ours = LookedTooEarly(
        memory.store, {"tidy": lambda _scope, job, _now: done.append(job.id)}, Clock(), settings, name="w"
    )
    ours.settle(memory.scope, 5, lambda: not done and theirs.add("left"))
    assert done == ["left"]


def test_settling_asks_for_more_however_soon_another_worker_finishes_a_job(memory: Memory) -> None:
    theirs, left = Queue(memory, "another"), ["first", "second", "third"]

    class Outpaced(Worker):
        def _round(self, *arguments: Any) -> list[bool]:
            for job in theirs.lease():
                theirs.at(NOW, "finish", job)
            return super()._round(*arguments)

    ours = Outpaced(memory.store, {"tidy": lambda *_: None}, Clock(), JobSettings(), name="w")
    settled = ours.settle(memory.scope, 5, lambda: bool(left) and theirs.add(left.pop(0)))
    assert (left, settled.waiting) == ([], 0)


def test_settling_does_what_is_due_and_says_what_waits(memory: Memory) -> None:
    done: list[str] = []
    Queue(memory).add("now")
    Queue(memory).add("later", run_at=NOW + MINUTE)
    settled = worker(memory, Clock(), lambda _scope, job, _now: done.append(job.id)).settle(memory.scope, 5)
    assert done == ["now"]
    assert (settled.done, settled.waiting, settled.dead) == (1, 1, 0)
    with memory.store.reading(memory.scope, NOW) as tx:
        assert [job.id for job in tx.jobs.stream(JobFilter(states=(JobState.DONE,)))] == ["now"]


def test_a_job_that_kills_its_worker_dies_after_its_last_attempt(memory: Memory) -> None:
    queue = Queue(memory)
    queue.add(max_attempts=2)
    for attempt in (1, 2):
        assert [job.attempts for job in queue.lease(NOW + attempt * MINUTE)] == [attempt]

    assert queue.lease(NOW + 3 * MINUTE) == []

    dead = queue.get()
    assert (dead.state, dead.attempts, dead.lease_owner) == (JobState.DEAD, 2, None)
    assert dead.error is not None
    assert dead.error.startswith("attempt 2 of 2: its last worker took it and never reported back")
    assert queue.at(NOW, "revive", "j") is True


def test_dead_jobs_take_no_place_among_those_that_are_leased(memory: Memory) -> None:
    queue = Queue(memory)
    queue.add("poison", max_attempts=1, run_at=NOW - MINUTE)
    queue.lease()
    queue.add("good")
    assert [job.id for job in queue.lease(NOW + MINUTE, limit=1)] == ["good"]


def test_jobs_done_long_ago_are_removed_and_nothing_else(memory: Memory) -> None:
    queue, kept = Queue(memory), timedelta(days=JobSettings().keep_done_days)
    queue.add("done")
    queue.at(NOW, "finish", *queue.lease())
    queue.add("waiting", run_at=NOW + timedelta(days=100))
    queue.add("dead", max_attempts=1)
    queue.at(NOW, "fail", *queue.lease(), "boom", retry_at=NOW)

    queue.lease(NOW + kept)
    assert queue.get("done").state is JobState.DONE

    queue.lease(NOW + kept + MINUTE)
    assert queue.get("done") is None
    assert (queue.get("waiting").state, queue.get("dead").state) == (JobState.QUEUED, JobState.DEAD)


def test_the_blob_of_a_job_leaves_with_it(open_memory: OpenMemory) -> None:
    memory = open_memory(settings=SMALL_BLOBS)
    queue = Queue(memory)
    queue.add(payload={"text": "long " * 1_000})
    queue.at(NOW, "finish", *queue.lease())
    queue.lease(NOW + timedelta(days=30))
    memory.settle()
    assert memory.store.sizes(memory.scope)["blobs"] == 0


def test_only_finished_jobs_are_counted_as_done(memory: Memory) -> None:
    def fail_bad_ones(_scope: object, job: Job, _now: object) -> None:
        if job.id == "bad":
            raise RuntimeError

    Queue(memory).add("bad")
    Queue(memory).add("good")
    settled = worker(memory, Clock(), fail_bad_ones).settle(memory.scope, 5)
    assert (settled.done, settled.waiting) == (1, 1)


def test_settling_does_not_wait_for_work_of_other_kinds(memory: Memory) -> None:
    Queue(memory).add("other", kind="foreign")
    Queue(memory).at(NOW, "lease", "elsewhere", ("foreign",), limit=1, duration=MINUTE)
    Queue(memory).add("later", run_at=NOW + MINUTE)
    settled = worker(memory, Clock(), lambda *_: None).settle(memory.scope, 3_600)
    assert settled.waiting == 2


def die(queue: Queue, id: str, key: str | None = None) -> None:
    queue.add(id, key=key, max_attempts=1)
    queue.at(NOW, "fail", *queue.lease(), "boom", retry_at=NOW)


def test_a_dead_job_stays_dead_while_its_key_waits(memory: Memory) -> None:
    queue = Queue(memory)
    with memory.store.transaction(memory.scope, NOW) as tx:
        tx.jobs.create_many(sample(Job, id, key="same", state=JobState.DEAD) for id in ("a", "b"))
    assert queue.at(NOW, "revive", "a") is True
    assert queue.at(NOW, "revive", "b") is False
    assert [job.id for job in queue.lease()] == ["a"]
    assert queue.at(NOW, "revive", "b") is False


def test_two_that_revive_a_key_at_once_bring_back_one_job(open_memory: OpenMemory) -> None:
    memories = [open_memory() for _ in range(4)]
    with memories[0].store.transaction(memories[0].scope, NOW) as tx:
        tx.jobs.create_many(sample(Job, f"j{n}", key="same", state=JobState.DEAD) for n in range(4))
    start, results = threading.Barrier(len(memories)), list[bool]()

    def revive(memory: Memory, number: int) -> None:
        start.wait()
        results.append(Queue(memory).at(NOW, "revive", f"j{number}"))

    threads = [threading.Thread(target=revive, args=(memory, n)) for n, memory in enumerate(memories)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [False, False, False, True]


def test_repair_brings_back_the_latest_job_of_each_key(memory: Memory) -> None:
    with memory.store.transaction(memory.scope, NOW) as tx:
        dead = {"state": JobState.DEAD, "error": "boom"}
        tx.jobs.create_many(
            [
                sample(Job, "older", key="same", **dead),
                sample(Job, "newer", key="same", **dead | {"created_at": NOW + MINUTE}),
                sample(Job, "other", **dead),
            ]
        )
    assert "queued 2 dead jobs again" in memory.doctor(repair=True).repaired
    states = {id: Queue(memory).get(id).state.value for id in ("older", "newer", "other")}
    assert states == {"older": "dead", "newer": "queued", "other": "queued"}


def test_a_new_job_takes_the_place_of_the_dead_one_with_its_key(memory: Memory) -> None:
    queue = Queue(memory)
    die(queue, "first", "same")
    die(queue, "bystander", "other")
    assert queue.add("second", key="same") is True
    assert queue.get("first") is None
    assert (queue.get("second").state, queue.get("bystander").state) == (JobState.QUEUED, JobState.DEAD)


def test_dead_letters_are_removed_after_their_time(memory: Memory) -> None:
    queue, kept = Queue(memory), timedelta(days=JobSettings().keep_dead_days)
    die(queue, "dead")
    queue.lease(NOW + kept)
    assert queue.get("dead").state is JobState.DEAD
    queue.lease(NOW + kept + MINUTE)
    assert queue.get("dead") is None


def test_jobs_are_found_by_kind_key_and_state(memory: Memory) -> None:
    queue = Queue(memory)
    die(queue, "dead", "s1")
    queue.add("waiting", key="s2")
    queue.add("without a key")
    where = JobFilter(kinds=("tidy",), keys=("s1", "s2", "s3"), states=(JobState.DEAD,))
    assert [job.key for job in queue.at(NOW, "find", where).items] == ["s1"]
    assert queue.at(NOW, "count", where.replace(states=())) == 2


def test_what_a_clock_far_ahead_queued_put_off_or_took_does_not_wait_for_years(memory: Memory) -> None:
    queue, later = Queue(memory), NOW + timedelta(days=3650)
    queue.at(later, "enqueue", sample(Job, "queued", run_at=later, created_at=later))
    queue.add("put off")
    queue.at(later, "fail", *queue.lease(limit=1), "boom", retry_at=later + MINUTE)
    queue.add("taken")
    assert {job.id for job in queue.lease(later)} == {"queued", "taken"}
    assert {job.id for job in queue.lease()} == {"queued", "put off", "taken"}


def test_a_clock_that_is_a_little_ahead_takes_nothing_from_a_worker_that_lives(memory: Memory) -> None:
    """Between two beats, which may come late, with what the settings say."""
    queue, lease = Queue(memory), timedelta(seconds=JobSettings().lease_seconds)
    queue.add()
    queue.at(NOW, "lease", "first", ("tidy",), limit=1, duration=lease)
    skew = timedelta(minutes=2)
    assert queue.at(NOW + lease / 5 + skew, "lease", "second", ("tidy",), limit=1, duration=lease) == []


def test_a_session_is_tried_three_times(memory: Memory) -> None:
    session = sample(Session, "s", owner="anna")
    assert learning_job(session, NOW, "j").max_attempts == 3


def test_a_job_with_more_to_do_returns_to_the_queue(memory: Memory) -> None:
    rounds = []

    def work(_scope: object, job: Job, _now: object) -> None:
        rounds.append(job.attempts)
        if len(rounds) < 3:
            raise JobUnfinished

    Queue(memory).add()
    settled = worker(memory, Clock(), work).settle(memory.scope, 5)
    assert (settled.done, settled.waiting) == (1, 0)
    assert rounds == [1, 1, 1]


def test_a_job_without_progress_is_due_again_after_a_while(memory: Memory) -> None:
    def work(*_: object) -> None:
        raise JobUnfinished(progress=False)

    queue, wait = Queue(memory), timedelta(seconds=BLOCKED_SECONDS)
    queue.add()
    worker(memory, Clock(), work).run_due(memory.scope)
    job = queue.get()
    assert (job.state, job.attempts, job.run_at) == (JobState.QUEUED, 0, NOW + wait)
    assert queue.lease(NOW + wait / 2) == []
    assert len(queue.lease(NOW + wait)) == 1


def test_settling_waits_for_a_job_without_progress(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treering.jobs.worker.BLOCKED_SECONDS", 0.2)
    started = list[float]()

    def work(*_: object) -> None:
        started.append(monotonic())
        if len(started) == 1:
            raise JobUnfinished(progress=False)

    Queue(memory).add()
    real = Worker(memory.store, {"tidy": work}, lambda: datetime.now(UTC), JobSettings(), name="w")
    settled = real.settle(memory.scope, 30)
    assert (settled.done, settled.waiting) == (1, 0)
    assert started[1] - started[0] > 0.15


@pytest.mark.parametrize("owner", ["local", "another"])
def test_documents_that_cannot_be_stored_do_not_keep_the_worker_busy(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch, owner: str
) -> None:
    """As if another transaction held them."""
    memory = open_memory(background=False)
    runs = list[EmbeddingRun]()

    def counted(*arguments: Any, **options: Any) -> EmbeddingRun:
        runs.append(run_embedding_job(*arguments, **options))
        return runs[-1]

    with monkeypatch.context() as patched:
        patched.setattr(SqlIndex, "add_vectors", lambda *_: 0)
        patched.setattr("treering.search.embedding.run_embedding_job", counted)
        open_memory(background=False, principal=owner).remember("The ferry leaves at noon", visibility="personal")
        settled = memory.settle(BLOCKED_SECONDS / 2)
    assert runs == [EmbeddingRun(stored=0, unfinished=True)]
    assert settled.waiting == 1
    assert memory.settle().waiting == 0


def test_alternatives_wait_for_the_one_that_has_yet_to_begin(memory: Memory) -> None:
    queue, alternatives = Queue(memory), [sample(Job, name, key=name) for name in ("one", "two")]
    assert queue.at(NOW, "enqueue_first", alternatives)
    assert not queue.at(NOW, "enqueue_first", alternatives)
    assert [job.id for job in queue.lease()] == ["one"]
    assert queue.at(NOW, "enqueue_first", alternatives)
    assert not queue.at(NOW, "enqueue_first", alternatives)
    assert [job.id for job in queue.lease()] == ["two"]


def test_an_alternative_that_is_put_off_delays_no_other(memory: Memory) -> None:
    queue, alternatives = Queue(memory), [sample(Job, name, key=name) for name in ("one", "two")]
    queue.add("one", key="one", run_at=NOW + MINUTE)
    assert queue.at(NOW, "enqueue_first", alternatives)
    assert [job.id for job in queue.lease()] == ["two"]
