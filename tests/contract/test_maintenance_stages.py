"""Stages: once for each moment of the schedule, on where they stopped, tried again; a rehearsal writes nothing."""

import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import OpenMemory
from tests.samples import sample
from treering.compose import now
from treering.core.episodes import Episode
from treering.core.errors import Conflict, InvalidInput
from treering.core.jobs import Job, JobState
from treering.core.queries import JobFilter
from treering.core.records import Knowledge
from treering.core.runs import Run, RunState
from treering.core.scope import Scope
from treering.core.settings import Settings
from treering.jobs.stage import StageRun, StageWork
from treering.jobs.worker import Worker
from treering.maintenance.api import Maintenance
from treering.maintenance.queue import MAINTAIN
from treering.maintenance.schedule import Stage
from treering.maintenance.stages import STAGES, in_sequence
from treering.memory import Memory

MONDAY = datetime(2026, 11, 9, 12, tzinfo=UTC)
NIGHT = timedelta(days=1)
PAGES = ("a", "b", "c", "d")


class Clock:
    def __init__(self, now: datetime = MONDAY) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


def pages(done: list[str], stumble: Callable[[str], None] = lambda _page: None) -> StageWork:
    """A stage of four pages that reports each finished page."""

    def work(run: StageRun) -> None:
        left = [page for page in PAGES if run.cursor is None or page > run.cursor]
        run.progress.expect(len(left))
        for page in left:
            stumble(page)
            done.append(page)
            run.progress.advance(page, pages=1)

    return work


class Kept:
    """A memory with given stages and a clock that the test sets."""

    def __init__(self, open_memory: OpenMemory, *stages: Stage, clock: Clock | None = None, **options: Any) -> None:
        self.clock = clock or Clock()
        settings = Settings.make(maintenance={"timezone": "UTC", "keep_runs": 10})
        self.memory: Memory = open_memory(clock=self.clock, settings=settings, **options)
        found = self.memory.maintenance
        runner = replace(found.runner, stages=stages, stop=threading.Event(), zone=UTC)
        handlers = {MAINTAIN: runner.run_job}
        self.stop = runner.stop
        self.worker = Worker(
            self.memory.store, handlers, self.clock, settings.jobs, name=f"w{id(self)}", stop=runner.stop
        )
        self.maintenance: Maintenance = replace(found, runner=runner, worker=self.worker)

    def work(self) -> int:
        return self.worker.run_due(self.memory.scope)

    def jobs(self, *states: JobState) -> list[Job]:
        with self.memory.store.reading(self.memory.scope, self.clock()) as tx:
            return list(tx.jobs.stream(JobFilter(kinds=(MAINTAIN,), states=states)))

    def run(self) -> Run:
        (run,) = self.maintenance.runs(1)
        return run


def everything(memory: Memory) -> list[str]:
    with memory.store.reading(memory.scope, MONDAY) as tx:
        kept: list[Any] = [tx.knowledge, tx.turns, tx.sessions, tx.episodes, tx.patterns, tx.entities, tx.entity_links]
        kept += [tx.revisions, tx.audit, tx.runs, tx.jobs, tx.observed_sessions]
        return [record.to_json() for records in kept for record in records.stream(None)]


def test_a_new_project_has_missed_nothing(open_memory: OpenMemory) -> None:
    kept = Kept(open_memory, Stage("tidy", "0 3 * * *", pages([])))
    assert kept.maintenance.due() == ()
    kept.memory.remember("it begins at noon")
    assert kept.maintenance.due() == ()
    kept.clock.now += NIGHT
    assert [(due.stage, due.slot) for due in kept.maintenance.due()] == [
        ("tidy", datetime(2026, 11, 10, 3, tzinfo=UTC))
    ]


def test_a_missed_week_is_made_up_for_once(open_memory: OpenMemory) -> None:
    done: list[str] = []
    kept = Kept(open_memory, Stage("tidy", "0 3 * * *", pages(done)))
    kept.memory.remember("the project begins")
    kept.clock.now += 7 * NIGHT
    assert [due.stage for due in kept.maintenance.queue_due()] == ["tidy"]
    assert kept.maintenance.queue_due() == ()
    assert kept.work() == 1
    assert kept.maintenance.queue_due() == ()
    assert done == list(PAGES)
    run = kept.run()
    assert (run.state, run.slot, run.done, run.total) == (RunState.DONE, datetime(2026, 11, 16, 3, tzinfo=UTC), 4, 4)
    assert dict(run.counts) == {"pages": 4}
    kept.clock.now += NIGHT
    assert len(kept.maintenance.queue_due()) == 1


def test_a_stage_run_on_request_after_the_last_slot_is_not_due(open_memory: OpenMemory) -> None:
    done: list[str] = []
    kept = Kept(open_memory, Stage("tidy", "0 3 * * *", pages(done)))
    kept.memory.remember("the project begins")
    kept.clock.now += NIGHT
    (run,) = kept.maintenance.run("tidy")
    assert (run.state, run.slot, run.attempts) == (RunState.DONE, None, 1)
    assert kept.maintenance.due() == ()
    kept.clock.now += NIGHT
    assert [due.stage for due in kept.maintenance.due()] == ["tidy"]


def test_several_workers_queue_one_slot_once(open_memory: OpenMemory) -> None:
    crew = [Kept(open_memory, Stage("tidy", "0 3 * * *", pages([]))) for _ in range(4)]
    crew[0].memory.remember("the project begins")
    start, queued = threading.Barrier(len(crew)), list[str]()

    def look(kept: Kept) -> None:
        kept.clock.now += NIGHT
        start.wait()
        queued.extend(due.stage for due in kept.maintenance.queue_due())

    threads = [threading.Thread(target=look, args=(kept,)) for kept in crew]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert queued == ["tidy"]
    assert len(crew[0].jobs()) == len(crew[0].maintenance.runs()) == 1


def test_a_failing_stage_is_tried_again_where_it_stopped_and_at_last_is_a_dead_letter(open_memory: OpenMemory) -> None:
    done: list[str] = []

    def stumble(page: str) -> None:
        if page == "c":
            raise RuntimeError("the third page is torn")

    kept = Kept(open_memory, Stage("tidy", "0 3 * * *", pages(done, stumble)))
    kept.memory.remember("the project begins")
    kept.clock.now += NIGHT
    kept.maintenance.queue_due()
    for attempt in range(1, 6):
        assert kept.work() == 1
        run = kept.run()
        assert (run.state, run.cursor, run.attempts) == (RunState.FAILED, "b", attempt)
        assert kept.work() == 0
        kept.clock.now += timedelta(hours=2)
    assert done == ["a", "b"]
    (dead,) = kept.jobs(JobState.DEAD)
    assert dead.error == run.error == "RuntimeError: the third page is torn"
    assert len(kept.maintenance.runs()) == 1
    assert kept.maintenance.queue_due() == ()

    check = kept.maintenance.check()
    assert (check.fine, check.detail) == (False, "tidy: RuntimeError: the third page is torn")
    assert [job.kind for job in kept.memory.doctor().dead_jobs] == [MAINTAIN]


def test_another_worker_goes_on_where_the_first_was_killed(open_memory: OpenMemory) -> None:
    done: list[str] = []

    def die(page: str) -> None:
        if page == "c":
            raise SystemExit

    first = Kept(open_memory, Stage("tidy", "0 3 * * *", pages(done, die)))
    first.memory.remember("the project begins")
    first.clock.now += NIGHT
    first.maintenance.queue_due()
    first.worker._release = lambda *_: None  # type: ignore[method-assign] # a killed process gives nothing back
    with pytest.raises(SystemExit):
        first.work()
    assert first.run().state is RunState.RUNNING

    second = Kept(open_memory, Stage("tidy", "0 3 * * *", pages(done)), clock=first.clock)
    assert second.work() == 0
    first.clock.now += timedelta(minutes=4)
    assert second.work() == 1
    assert done == list(PAGES)
    run = second.run()
    assert (run.id, run.state, run.attempts, run.done) == (first.run().id, RunState.DONE, 2, 4)


def test_whoever_lost_the_lease_stops_and_leaves_the_run_alone(open_memory: OpenMemory) -> None:
    done: list[str] = []
    clock = Clock()
    second = Kept(open_memory, Stage("tidy", "0 3 * * *", pages(done)), clock=clock)

    def fall_asleep(page: str) -> None:
        if page == "b":
            clock.now += timedelta(minutes=4)
            assert second.work() == 1

    first = Kept(open_memory, Stage("tidy", "0 3 * * *", pages(done, fall_asleep)), clock=clock)
    first.memory.remember("the project begins")
    clock.now += NIGHT
    first.maintenance.queue_due()
    assert first.work() == 1
    assert done == ["a", "b", "c", "d", "b"]
    run = first.run()
    assert (run.state, run.done, run.attempts, run.error) == (RunState.DONE, 4, 2, None)
    assert [job.state for job in first.jobs()] == [JobState.DONE]


def test_a_worker_that_is_stopped_gives_its_job_back_as_far_as_it_came(open_memory: OpenMemory) -> None:
    done: list[str] = []

    def stop(page: str) -> None:
        if page == "b":
            first.stop.set()

    first = Kept(open_memory, Stage("tidy", "0 3 * * *", pages(done, stop)), Stage("other", "0 4 * * *", pages([])))
    first.memory.remember("the project begins")
    first.clock.now += NIGHT
    assert [due.stage for due in first.maintenance.queue_due()] == ["tidy"]
    first.work()
    assert done == ["a", "b"]
    assert [(job.state, job.attempts) for job in first.jobs()] == [(JobState.QUEUED, 0)]

    second = Kept(open_memory, Stage("tidy", "0 3 * * *", pages(done)), *first.maintenance.runner.stages[1:])
    second.clock.now = first.clock.now
    assert (second.work(), second.work()) == (1, 1)
    assert done == list(PAGES)
    assert {run.state for run in second.maintenance.runs()} == {RunState.DONE}


def pipeline(open_memory: OpenMemory, done: list[str], **stumble: Callable[[str], None]) -> Kept:
    """Three stages that are all due; each tells its name for each of its pages."""

    def named(name: str) -> StageWork:
        def work(run: StageRun) -> None:
            pages([], stumble.get(name, lambda _page: None))(run)
            done.append(name)

        return work

    kept = Kept(open_memory, *(Stage(name, "0 3 * * *", named(name)) for name in ("first", "second", "third")))
    kept.memory.remember("the project begins")
    kept.clock.now += NIGHT
    return kept


def test_a_stage_is_queued_when_the_one_before_it_has_ended(open_memory: OpenMemory) -> None:
    done: list[str] = []
    kept = pipeline(open_memory, done)
    for stage in ("first", "second", "third"):
        kept.maintenance.queue_due()
        assert kept.maintenance.queue_due() == ()
        assert [job.key for job in kept.jobs(JobState.QUEUED)] == [stage]
        assert kept.work() == 1
    assert done == ["first", "second", "third"]
    assert (kept.maintenance.due(), kept.maintenance.queue_due()) == ((), ())


def test_one_look_at_the_schedule_runs_all_stages(open_memory: OpenMemory) -> None:
    done: list[str] = []
    kept = pipeline(open_memory, done)
    kept.maintenance.work(once=True)
    assert done == ["first", "second", "third"]


def test_workers_side_by_side_keep_the_order(open_memory: OpenMemory) -> None:
    done: list[str] = []
    crew = [pipeline(open_memory, done) for _ in range(2)]
    crew[0].maintenance.queue_due()
    for _ in range(6):
        for kept in crew:
            kept.work()
    assert done == ["first", "second", "third"]


def test_a_stage_that_fails_does_not_hold_up_the_stages_after_it(open_memory: OpenMemory) -> None:
    def stumble(_page: str) -> None:
        raise RuntimeError("torn")

    done: list[str] = []
    kept = pipeline(open_memory, done, first=stumble)
    kept.maintenance.work(once=True)
    assert done == ["second", "third"]
    assert {run.stage: run.state.value for run in kept.maintenance.runs()} == {
        "first": "failed",
        "second": "done",
        "third": "done",
    }


def test_a_killed_run_resumes_with_its_stage(open_memory: OpenMemory) -> None:
    def die(page: str) -> None:
        if page == "c":
            raise SystemExit

    done: list[str] = []
    kept = pipeline(open_memory, done, second=die)
    kept.worker._release = lambda *_: None  # type: ignore[method-assign] # a killed process gives nothing back
    kept.maintenance.queue_due()
    kept.work()
    with pytest.raises(SystemExit):
        kept.work()
    assert kept.maintenance.queue_due() == ()

    later = pipeline(open_memory, done)
    later.clock.now = kept.clock.now + timedelta(minutes=4)
    later.maintenance.work(once=True)
    assert done == ["first", "second", "third"]
    assert [run.attempts for run in later.maintenance.runs() if run.stage == "second"] == [2]


def test_a_run_killed_between_two_stages_continues_with_the_next_look(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    from treering.maintenance import stage_runner

    def die(*_given: Any, **_named: Any) -> None:
        raise SystemExit

    done: list[str] = []
    kept = pipeline(open_memory, done)
    kept.maintenance.queue_due()
    with monkeypatch.context() as patched:
        patched.setattr(stage_runner, "queue_due", die)
        with pytest.raises(SystemExit):
            kept.work()
    kept.maintenance.work(once=True)
    assert done == ["first", "second", "third"]


def test_a_run_by_hand_goes_on_where_it_was_interrupted(open_memory: OpenMemory) -> None:
    done, interrupt = list[str](), [True]

    def once(page: str) -> None:
        if page == "c" and interrupt.pop():
            raise KeyboardInterrupt

    kept = Kept(open_memory, Stage("tidy", "", pages(done, once)))
    with pytest.raises(KeyboardInterrupt):
        kept.maintenance.run("tidy")
    interrupt.append(False)
    heard: list[int] = []
    (run,) = kept.maintenance.run("tidy", on_progress=lambda run: heard.append(run.done))
    assert done == list(PAGES)
    assert (run.state, run.done, run.attempts) == (RunState.DONE, 4, 2)
    assert sorted(set(heard)) == [2, 3, 4]
    assert len(kept.maintenance.runs()) == 1


def test_a_failed_run_by_hand_says_so_and_can_be_repeated_at_once(open_memory: OpenMemory) -> None:
    broken = [True]

    def stumble(_page: str) -> None:
        if broken:
            raise RuntimeError("not today")

    kept = Kept(open_memory, Stage("tidy", "", pages([], stumble)), Stage("other", "", pages([])))
    failed, other = kept.maintenance.run()
    assert (failed.state, failed.error, other.state) == (RunState.FAILED, "RuntimeError: not today", RunState.DONE)
    broken.clear()
    (run,) = kept.maintenance.run("tidy")
    assert (run.id, run.state, run.error) == (failed.id, RunState.DONE, None)


def test_two_workers_never_run_the_same_stage(open_memory: OpenMemory) -> None:
    clock = Clock()
    second = Kept(open_memory, Stage("tidy", "", pages([])), clock=clock)
    told: list[str] = []

    def meanwhile(page: str) -> None:
        if page == "b":
            with pytest.raises(Conflict, match=r"tidy is being run by .*; wait until it is done"):
                second.maintenance.run("tidy")
            told.extend(run.state.value for run in second.maintenance.run())

    first = Kept(open_memory, Stage("tidy", "", pages([], meanwhile)), clock=clock)
    first.maintenance.run("tidy")
    assert told == ["running"]


def test_a_stage_that_another_worker_takes_first_is_waited_for(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the background thread may: it leases the job before the caller does."""
    kept = Kept(open_memory, Stage("tidy", "", pages([])))
    memory, run_named, taken, calls = kept.memory, Worker.run_named, list[Job](), list[str]()

    def too_late(worker: Worker, scope: Scope, kind: str, key: str) -> bool | None:
        calls.append(key)
        with memory.store.transaction(scope, kept.clock()) as tx:
            if len(calls) == 1:
                taken.extend(tx.jobs.lease("faster", [kind], limit=1, duration=timedelta(minutes=3)))
            elif len(calls) == 3:
                tx.jobs.release(taken[0])
        return run_named(worker, scope, kind, key)

    monkeypatch.setattr(Worker, "run_named", too_late)
    (run,) = kept.maintenance.run("tidy")
    assert (run.state, len(calls)) == (RunState.DONE, 3)


def test_a_rehearsal_counts_and_writes_nothing_at_all(open_memory: OpenMemory) -> None:
    kept = Kept(open_memory, Stage("tidy", "0 3 * * *", pages([])))
    kept.memory.remember("the project begins")
    before = everything(kept.memory)
    (run,) = kept.maintenance.run("tidy", dry_run=True)
    assert (run.state, dict(run.counts)) == (RunState.DONE, {"pages": 4})
    assert everything(kept.memory) == before


def test_only_so_many_runs_of_a_stage_are_kept(open_memory: OpenMemory) -> None:
    kept = Kept(open_memory, Stage("tidy", "", pages([])), Stage("other", "", pages([])))
    kept.maintenance.run("other")
    for _ in range(13):
        kept.clock.now += timedelta(minutes=1)
        kept.maintenance.run("tidy")
    stages = [run.stage for run in kept.maintenance.runs(100)]
    assert stages == ["tidy"] * 10 + ["other"]


def test_an_unknown_stage_is_refused_with_the_names_of_the_known(open_memory: OpenMemory) -> None:
    kept = Kept(open_memory, Stage("tidy", "", pages([])), Stage("other", "", pages([])))
    with pytest.raises(InvalidInput, match="use one of tidy, other"):
        kept.maintenance.run("sweep")


def test_parts_of_a_stage_go_on_in_the_part_that_was_interrupted(open_memory: OpenMemory) -> None:
    done, interrupt = list[str](), [True]

    def once(page: str) -> None:
        if page == "b" and interrupt.pop():
            raise KeyboardInterrupt

    kept = Kept(open_memory, Stage("both", "", in_sequence(pages(done), pages(done, once))))
    with pytest.raises(KeyboardInterrupt):
        kept.maintenance.run()
    interrupt.append(False)
    (run,) = kept.maintenance.run()
    assert done == [*PAGES, *PAGES]
    assert (run.done, run.total, dict(run.counts)) == (8, 8, {"pages": 8})


def test_the_plan_says_what_comes_next_and_what_is_overdue(open_memory: OpenMemory) -> None:
    kept = Kept(open_memory, Stage("tidy", "0 3 * * *", pages([])), Stage("other", "", pages([])))
    kept.memory.remember("the project begins")
    tidy, other = kept.maintenance.plan()
    assert (tidy.next, tidy.overdue, tidy.last) == (datetime(2026, 11, 10, 3, tzinfo=UTC), False, None)
    assert (other.next, other.overdue) == (None, False)
    assert kept.maintenance.check().detail == "nothing was due yet"
    kept.clock.now += NIGHT
    check = kept.maintenance.check()
    assert (check.fine, check.detail) == (True, "overdue: tidy")
    assert "treering maintain" in check.advice
    kept.maintenance.run()
    assert kept.maintenance.check().detail.startswith("up to date, last run 2026-11-10")


def test_optimising_is_safe_in_the_middle_of_traffic(open_memory: OpenMemory) -> None:
    memory, other = open_memory(), open_memory()
    memory.remember("something to look at")
    with other.store.reading(other.scope, MONDAY) as tx:
        assert tx.knowledge.count() == 1
        memory.store.optimise()
        memory.remember("written meanwhile")
    assert memory.stats().records["knowledge"] == 2


@pytest.mark.parametrize(("stuck", "taken_over"), [(60.0, False), (0.1, True)])
def test_a_step_that_takes_long_keeps_its_job_unless_it_is_stuck(
    open_memory: OpenMemory, stuck: float, taken_over: bool
) -> None:
    settings = Settings.make(jobs={"lease_seconds": 0.6, "stuck_seconds": stuck})
    began, attempts = threading.Event(), list[int]()

    def think(_scope: object, job: Job, _moment: object) -> None:
        attempts.append(job.attempts)
        began.set()
        time.sleep(2.0 if job.attempts == 1 else 0)

    def worker(name: str) -> Worker:
        return Worker(open_memory().store, {"think": think}, now, settings.jobs, name=name)

    memory = open_memory()
    with memory.store.transaction(memory.scope, now()) as tx:
        tx.jobs.enqueue(Job(id="j", kind="think", run_at=now(), created_at=now()))
    first = threading.Thread(target=worker("first").run_due, args=(memory.scope,))
    first.start()
    assert began.wait(10)
    time.sleep(1.2)
    assert worker("second").run_due(memory.scope) == taken_over
    first.join()
    assert attempts == ([1, 2] if taken_over else [1])
    with memory.store.reading(memory.scope, now()) as tx:
        assert [job.state for job in tx.jobs.stream()] == [JobState.DONE]


@pytest.fixture
def lived_in(open_memory: OpenMemory) -> Kept:
    """A memory in which every real stage finds something, a quarter of a year later."""
    kept = Kept(open_memory)
    memory = kept.memory
    for number in range(3):
        memory.turn(
            session=f"s{number}", role="user", text=f"My name is Anna {number} and I live in Berlin.", at=MONDAY
        )
        memory.remember(f"The deploy job number {number} needs Node 22", files=[f"src/deploy{number}.ts"])
    memory.remember("Releases are made on Tuesdays", pinned=True)
    with memory.store.transaction(memory.scope, MONDAY) as tx:
        tx.episodes.create(sample(Episode, "e1", at=MONDAY - 40 * NIGHT))
    kept.clock.now += 90 * NIGHT
    return kept


def test_stages_run_in_the_order_of_the_requirement(memory: Memory) -> None:
    assert memory.maintenance.stages == STAGES
    required = ("consolidate", "episodes", "mine", "validate", "refine", "index", "report")
    assert tuple(stage for stage in STAGES if stage in required) == required


def test_a_stage_can_be_left_out_of_the_schedule(open_memory: OpenMemory) -> None:
    memory = open_memory(settings=Settings.make(maintenance={"by_hand": ["mine"], "weekly": ""}))
    unscheduled = [planned.stage for planned in memory.maintenance.plan() if not planned.cron]
    assert unscheduled == ["reflect", "synthesise", "mine"]


def test_a_misspelt_stage_in_the_settings_is_refused(open_memory: OpenMemory) -> None:
    with pytest.raises(InvalidInput, match="by_hand: unknown stage minig; use enrich"):
        open_memory(settings=Settings.make(maintenance={"by_hand": ["minig"]}))


@pytest.mark.parametrize("stage", STAGES)
def test_no_stage_writes_anything_in_a_rehearsal(lived_in: Kept, stage: str) -> None:
    before = everything(lived_in.memory)
    (run,) = lived_in.memory.maintenance.run(stage, dry_run=True)
    assert (run.state, run.error) == (RunState.DONE, None)
    assert everything(lived_in.memory) == before


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_that_is_run_twice_changes_nothing_the_second_time(lived_in: Kept, stage: str) -> None:
    memory = lived_in.memory
    (first,) = memory.maintenance.run(stage)
    assert (first.state, first.error) == (RunState.DONE, None)
    learned = records(memory)
    (second,) = memory.maintenance.run(stage)
    assert (second.state, second.error) == (RunState.DONE, None)
    assert second.id != first.id
    assert records(memory) == learned


def test_maintenance_leaves_a_report_and_a_healthy_memory(lived_in: Kept) -> None:
    memory = lived_in.memory
    runs = memory.maintenance.run()
    assert [(run.stage, run.state, run.error) for run in runs] == [(name, RunState.DONE, None) for name in STAGES]
    assert runs[-1].counts["records: sessions"] == 3
    assert runs[-1].counts["stages: consolidate: sessions"] == 3
    assert not any(runs[-1].counts[f"stages: {name}: failed"] for name in STAGES)
    found = memory.maintenance.report()
    assert {run.stage for run in found.runs} == set(STAGES)
    assert sum(found.confidence.values()) == found.looked_at > 0
    memory.settle()
    assert memory.doctor().healthy


def records(memory: Memory) -> list[str]:
    """All records except runs and jobs, which depend on time."""
    with memory.store.reading(memory.scope, MONDAY) as tx:
        kept: list[Any] = [tx.knowledge, tx.turns, tx.sessions, tx.episodes, tx.patterns, tx.entities, tx.entity_links]
        return [record.to_json() for found in kept for record in found.stream(None)]


def test_a_stage_that_fails_is_seen_by_whoever_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    import treering.knowledge.session_learning
    from treering.interfaces.cli.app import app
    from treering.interfaces.cli.exit_codes import run

    def fail(_run: StageRun) -> None:
        raise RuntimeError("the pages are torn")

    def command(*arguments: str) -> tuple[int, str]:
        code = run(app, [*arguments, "--db", str(tmp_path / "memory.db"), "--project", "p"])
        return code, capfd.readouterr().out

    with monkeypatch.context() as patched:
        patched.setattr(treering.knowledge.session_learning, "consolidate_sessions", fail)
        code, said = command("maintain")
    assert code == 1
    assert "✗  consolidate  RuntimeError: the pages are torn" in said
    assert "✓  report       done" in said
    code, said = command("maintain", "--history", "--json")
    (last,) = (run for run in json.loads(said)["runs"] if run["stage"] == "report")
    assert last["counts"]["stages: consolidate: failed"] == 1

    code, said = command("maintain", "--history")
    assert code == 0
    assert said.count("RuntimeError: the pages are torn") == 1
    assert "next" in said

    code, said = command("doctor")
    assert code == 1
    assert "✗ schedule" in said

    assert command("maintain", "consolidate") == (0, "✓  consolidate  done\n")
    assert command("doctor")[0] == 0
    code, said = command("report", "--json")
    assert code == 0
    assert {run["stage"]: run["state"] for run in json.loads(said)["runs"]} == dict.fromkeys(STAGES, "done")


@pytest.mark.parametrize("more", [["forget"], ["--dry-run"], ["forget", "--dry-run"]])
def test_history_takes_nothing_that_it_would_ignore(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], more: list[str]
) -> None:
    from treering.interfaces.cli.app import app
    from treering.interfaces.cli.exit_codes import run

    assert run(app, ["maintain", "--history", *more, "--db", str(tmp_path / "memory.db")]) == 2
    assert "leave out STAGE and --dry-run" in capfd.readouterr().err


def test_a_report_of_many_records_is_worked_out_from_some(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many as there are, in about the right places."""
    from treering.maintenance import health_report as report

    monkeypatch.setattr(report, "_MAX_RECORDS_READ", 200)
    kept = Kept(open_memory)
    moments = [MONDAY - timedelta(hours=number) for number in range(1_000)]
    kept.memory.remember_many(
        Knowledge.make(
            id=f"k{number}",
            type="decision",
            content=f"decision {number}",
            confidence=0.9 if number < 500 else 0.3,
            pinned=True,
            **dict.fromkeys(("created_at", "updated_at", "last_accessed_at"), moment),
        )
        for number, moment in enumerate(moments)
    )
    found = kept.memory.maintenance.report()
    assert found.looked_at <= 200
    assert sum(found.confidence.values()) == 1_000
    assert found.confidence["0.8 to 1.0"] == pytest.approx(500, abs=20)
    assert found.confidence["0.2 to 0.4"] == pytest.approx(500, abs=20)
    assert found.growth["7 days"]["knowledge"] == 169
