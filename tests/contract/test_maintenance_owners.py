"""Maintenance on a shared server: stages run for every owner, owners stay separate, and errors are reported."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.conftest import OpenMemory
from tests.contract.test_maintenance_stages import MONDAY, NIGHT, PAGES, Clock, Kept, pages
from tests.samples import sample
from treering.core.episodes import Episode, EpisodeStatus
from treering.core.jobs import JobState
from treering.core.queries import KnowledgeFilter
from treering.core.runs import RunState
from treering.core.scope import Visibility
from treering.core.settings import Settings
from treering.jobs.stage import StageRun
from treering.maintenance.owners import for_each_owner
from treering.maintenance.schedule import Stage
from treering.memory import Memory


def opened(open_memory: OpenMemory, clock: Clock, principal: str) -> Memory:
    settings = Settings.make(upkeep={"timezone": "UTC"})
    return open_memory(clock=clock, settings=settings, principal=principal)


def known(memory: Memory, *, deleted: bool | None = False) -> list[str]:
    with memory.store.reading(memory.scope, MONDAY) as tx:
        return [record.content for record in tx.knowledge.stream(KnowledgeFilter(deleted=deleted))]


def test_one_worker_runs_maintenance_for_every_owner(open_memory: OpenMemory) -> None:
    clock = Clock()
    anna, bob = (opened(open_memory, clock, name) for name in ("anna", "bob"))
    anna.remember("Anna works for all of them", pinned=True)
    secret = bob.remember("Bob has a secret", visibility="personal").id
    bob.forget(secret)
    bob.remember("Bob has a whim", visibility="personal", source="qa_auto", half_life_days=7)
    bob.turn(session="bob's", role="user", text="I live in Lyon.", visibility="personal", at=MONDAY)
    with bob.store.transaction(bob.scope, MONDAY) as tx:
        old = {"owner": "bob", "visibility": "personal", "at": MONDAY - 40 * NIGHT}
        tx.episodes.create(sample(Episode, "e", **old))
    before = known(anna)

    def pass_nights(count: int, *, apart: int = 1) -> None:
        for _ in range(count):
            clock.now += apart * NIGHT
            anna.maintenance.work(once=True)

    pass_nights(1)
    with bob.store.reading(bob.scope, clock.now) as tx:
        session, episode = tx.sessions.get("bob's"), tx.episodes.get("e")
        assert session is not None
        assert (session.learned, session.turns) == (1, 1)
        assert episode is not None
        assert episode.lifecycle.status is not EpisodeStatus.ACTIVE
        assert tx.knowledge.holds(secret, deleted=True)
        assert {each.visibility for each in tx.knowledge.stream() if "Lyon" in each.content} == {Visibility.PERSONAL}
    assert known(anna) == before

    pass_nights(8, apart=5)
    with bob.store.reading(bob.scope, clock.now) as tx:
        assert not tx.knowledge.holds(secret, deleted=True)
    # Nobody asked for it in all that time: it faded like anything else.
    assert "Bob has a whim" not in known(bob)
    assert not any("Lyon" in content or "secret" in content for content in known(anna, deleted=None))
    with anna.store.reading(anna.scope, clock.now) as tx:
        assert (tx.sessions.get("bob's"), tx.episodes.get("e")) == (None, None)


def test_owners_are_listed_for_any_principal_within_the_project(open_memory: OpenMemory) -> None:
    anna, bob, carl = (open_memory(principal=name) for name in ("anna", "bob", "carl"))
    elsewhere = open_memory(principal="dora", project="another")
    for memory in (carl, bob, elsewhere):
        memory.remember("mine alone", visibility="personal")
    anna.remember("for all")
    anna.turn(session="s", role="user", text="hello", visibility="personal")
    for memory in (anna, bob):
        with memory.store.reading(memory.scope, MONDAY) as tx:
            assert tx.owners_of_personal() == ["anna", "bob", "carl"]
            # Whoever asked sees no more than before.
            assert tx.knowledge.count() == (1 if memory is anna else 2)


class Crew:
    """A stage that puts down as whom, and on what, it works; three have personal records."""

    def __init__(self, open_memory: OpenMemory) -> None:
        self._open, self.clock = open_memory, Clock()
        self.done: list[tuple[str, str]] = []
        self.stumbles: dict[tuple[str, str], BaseException] = {}
        for name in ("anna", "bob", "carl"):
            open_memory(principal=name, clock=self.clock).remember("mine alone", visibility="personal")

    def worker(self, principal: str) -> Kept:
        stage = Stage("tidy", "", for_each_owner(self._work))
        return Kept(self._open, stage, clock=self.clock, principal=principal)

    def _work(self, run: StageRun) -> None:
        narrowed = run.scope.visible == {Visibility.PERSONAL}
        who = run.scope.principal if narrowed else f"all that {run.scope.principal} sees"
        for page in "ab":
            if run.cursor is None or page > run.cursor:
                if error := self.stumbles.pop((who, page), None):
                    raise error
                self.done.append((who, page))
                run.progress.advance(page)


def test_the_worker_comes_first_and_then_each_of_the_others(open_memory: OpenMemory) -> None:
    crew = Crew(open_memory)
    (run,) = crew.worker("bob").maintenance.run("tidy")
    seen = [(who, page) for who in ("all that bob sees", "anna", "carl") for page in "ab"]
    assert (crew.done, run.state, run.done) == (seen, RunState.DONE, 6)


@pytest.mark.parametrize("next_worker", ["bob", "carl"])
def test_an_interrupted_run_resumes_with_the_same_owner(open_memory: OpenMemory, next_worker: str) -> None:
    crew = Crew(open_memory)
    crew.stumbles["anna", "b"] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        crew.worker("bob").maintenance.run("tidy")
    crew.worker(next_worker).maintenance.run("tidy")
    assert crew.done == [(who, page) for who in ("all that bob sees", "anna", "carl") for page in "ab"]


def test_another_principal_restarts_the_first_part(open_memory: OpenMemory) -> None:
    crew = Crew(open_memory)
    crew.stumbles["all that bob sees", "b"] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        crew.worker("bob").maintenance.run("tidy")
    crew.worker("carl").maintenance.run("tidy")
    assert crew.done[1:] == [(who, page) for who in ("all that carl sees", "anna", "bob") for page in "ab"]


def test_what_is_wrong_with_one_owner_keeps_no_other_waiting_and_is_tried_again(open_memory: OpenMemory) -> None:
    crew = Crew(open_memory)
    crew.stumbles["anna", "b"] = RuntimeError("anna's page is torn")
    worker = crew.worker("bob")
    (failed,) = worker.maintenance.run("tidy")
    assert (failed.state, failed.error) == (RunState.FAILED, "RuntimeError: anna's page is torn")
    assert crew.done[-3:] == [("anna", "a"), ("carl", "a"), ("carl", "b")]
    (run,) = worker.maintenance.run("tidy")
    assert (run.id, run.state) == (failed.id, RunState.DONE)
    assert crew.done[5] == ("anna", "b")


def test_a_clock_that_was_ahead_does_not_stop_the_schedule(open_memory: OpenMemory) -> None:
    done: list[str] = []
    kept = Kept(open_memory, Stage("tidy", "0 3 * * *", pages(done)))
    kept.memory.remember("the project begins")
    kept.clock.now += 3650 * NIGHT
    kept.maintenance.queue_due()
    assert kept.work() == 1
    kept.maintenance.run("tidy")
    kept.clock.now = MONDAY + NIGHT
    assert [due.slot for due in kept.maintenance.queue_due()] == [datetime(2026, 11, 10, 3, tzinfo=UTC)]
    assert kept.work() == 1
    assert kept.maintenance.queue_due() == ()
    (plan,) = kept.maintenance.plan()
    assert plan.last is not None
    assert plan.last.started_at == kept.clock.now
    (run,) = kept.maintenance.run("tidy")
    assert run.started_at == kept.clock.now
    assert done == [*PAGES] * 4


def killed(open_memory: OpenMemory, clock: Clock) -> Kept:
    """A run whose workers are all killed at its second page."""

    def die(page: str) -> None:
        if page == "b":
            raise SystemExit

    kept = Kept(open_memory, Stage("tidy", "0 3 * * *", pages([], die)), clock=clock)
    kept.memory.remember("the project begins")
    clock.now += NIGHT
    kept.maintenance.queue_due()
    kept.worker._release = lambda *_: None  # type: ignore[method-assign] # a killed process gives nothing back
    for _ in range(5):
        with pytest.raises(SystemExit):
            kept.work()
        clock.now += timedelta(minutes=4)
    return kept


def test_a_run_whose_workers_were_all_killed_is_marked_as_failed(open_memory: OpenMemory) -> None:
    kept = killed(open_memory, Clock())
    before = kept.maintenance.check()
    assert (before.fine, before.detail) == (False, "tidy: each worker that took it ended without reporting a result")
    assert kept.work() == 0
    assert len(kept.jobs(JobState.DEAD)) == 1
    check = kept.maintenance.check()
    assert not check.fine
    assert "never reported back" in check.detail

    assert kept.maintenance.queue_due() == ()
    run = kept.run()
    assert (run.state, run.cursor) == (RunState.FAILED, "a")
    assert run.error is not None
    assert "never reported back" in run.error


def test_a_run_whose_workers_were_killed_can_be_resumed_on_request(open_memory: OpenMemory) -> None:
    clock, done = Clock(), list[str]()
    kept = killed(open_memory, clock)
    again = Kept(open_memory, Stage("tidy", "0 3 * * *", pages(done)), clock=clock)
    (run,) = again.maintenance.run("tidy")
    assert (run.id, run.state, done) == (kept.run().id, RunState.DONE, ["b", "c", "d"])
    assert again.maintenance.check().fine


def test_a_stage_that_keeps_failing_leaves_one_dead_job(open_memory: OpenMemory) -> None:
    def stumble(_page: str) -> None:
        raise RuntimeError("not today")

    kept = Kept(open_memory, Stage("tidy", "0 3 * * *", pages([], stumble)))
    kept.memory.remember("the project begins")
    for _ in range(3):
        kept.clock.now += NIGHT
        kept.maintenance.queue_due()
        for _ in range(5):
            kept.work()
            kept.clock.now += timedelta(hours=2)
        kept.clock.now -= timedelta(hours=10)
    assert [job.state for job in kept.jobs()] == [JobState.DEAD]
    assert len(kept.maintenance.runs()) == 3


def test_a_schedule_that_cannot_be_read_does_not_stop_jobs(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    from treering.maintenance import api as verbs

    done, heard = list[str](), list[str]()
    kept = Kept(open_memory, Stage("tidy", "0 3 * * *", pages(done)))
    kept.memory.remember("the project begins")
    kept.clock.now += NIGHT
    kept.maintenance.queue_due()

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("no schedule today")

    monkeypatch.setattr(verbs, "queue_due", fail)
    kept.maintenance.work(once=True, on_error=lambda error: heard.append(str(error)))
    assert (done, heard) == ([*PAGES], ["no schedule today"])
    with pytest.raises(RuntimeError):
        kept.maintenance.work(once=True)
