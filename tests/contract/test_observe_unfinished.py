"""Sessions that nothing finished end as abandoned after a day; `doctor` shows them and errors of observation."""

from datetime import datetime, timedelta

import pytest

from tests.conftest import OpenMemory
from tests.observed import DEAD_END, RULE, failing, observe, records, turns
from tests.session_events import ROOT, START, Session
from treering.core.events import SessionOutcome
from treering.memory import Memory
from treering.observe.scratchpad import Scratchpad
from treering.observe.signals import Note, notes_of
from treering.observe.watch import Watch
from treering.ports.store import Check

HOUR = timedelta(hours=1)


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


def interrupted(memory: Memory, session: str = "s1") -> Watch:
    """A session with a checkpoint, whose process then dies."""
    watch = memory.observe(session, root=ROOT, type="insights", agent="codex")
    for event in Session().prompt(RULE).read("tides/tide.go").think(DEAD_END).events:
        watch.event(event)
    watch.checkpoint()
    return watch


def check(memory: Memory) -> Check | None:
    return next((each for each in memory.doctor().checks if each.name == "observed sessions"), None)


def test_a_session_without_an_end_is_abandoned_after_a_day(open_memory: OpenMemory) -> None:
    clock = Clock()
    memory = open_memory(clock=clock, principal="ada")
    interrupted(memory)
    worker = open_memory(clock=clock)
    for hours, expected in ((23, 0), (2, 1), (48, 1)):
        clock.now += hours * HOUR
        worker.maintenance.run("consolidate")
        assert len(worker.sessions.list()) == expected
    report = worker.sessions.get("s1")
    session = report.session
    assert (session.outcome, session.type, session.agent, session.root) == (
        SessionOutcome.ABANDONED,
        "insights",
        "codex",
        ROOT,
    )
    assert session.owner == "ada"
    assert sorted(each.type for each in report.promoted) == ["dead_end", "preference"]
    worker.settle()
    assert [(each.text, each.owner) for each in turns(worker)] == [(RULE, "ada"), (DEAD_END, "ada")]
    assert len(records(worker, "preference")) == 1


def test_an_abandoned_session_goes_on(open_memory: OpenMemory) -> None:
    clock = Clock()
    memory = open_memory(clock=clock)
    observe(memory, "s0", failing())
    watch = interrupted(memory)
    clock.now += 25 * HOUR
    memory.maintenance.run("consolidate")
    for number, event in enumerate(failing().events):
        watch.event({**event, "id": f"later-{number}", "call_id": f"later-{event['call_id']}"})
    report = watch.finish()
    assert report.session.outcome is SessionOutcome.SUCCESS
    assert len(records(memory, "preference")) == 1
    memory.settle()
    assert [each.text for each in turns(memory)] == [RULE, DEAD_END]


def test_a_rehearsal_finishes_nothing(open_memory: OpenMemory) -> None:
    clock = Clock()
    memory = open_memory(clock=clock)
    interrupted(memory)
    clock.now += 25 * HOUR
    (run,) = memory.maintenance.run("consolidate", dry_run=True)
    assert run.counts["abandoned"] == 1
    assert memory.sessions.list() == ()


def test_the_doctor_shows_unfinished_sessions(open_memory: OpenMemory) -> None:
    clock = Clock()
    memory = open_memory(clock=clock)
    assert check(memory) is None
    interrupted(memory)
    observe(memory, "s2", failing())
    fine = check(memory)
    assert fine is not None
    assert fine.fine
    clock.now += 25 * HOUR
    found = check(memory)
    assert found is not None
    assert (found.fine, found.detail) == (True, "1 observed, 1 unfinished for more than a day")
    assert "treering maintain consolidate" in found.advice
    memory.maintenance.run("consolidate")
    again = check(memory)
    assert again is not None
    assert (again.fine, again.detail) == (True, "2 observed")


def test_the_doctor_shows_events_that_raised(open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = open_memory(clock=Clock())

    def fail(*_given: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(Scratchpad, "_advance_step", fail)
    assert observe(memory, "s1", failing()).session.ignored["errors"] == len(failing().events)
    monkeypatch.undo()
    monkeypatch.setattr(Watch, "_note_time", fail)
    assert observe(memory, "s2", failing()).session.ignored["errors"] == len(failing().events)
    found = check(memory)
    assert found is not None
    assert not found.fine
    assert "2 of the last days" in found.detail


def test_the_doctor_shows_unreadable_checkpoints(open_memory: OpenMemory) -> None:
    clock = Clock()
    memory = open_memory(clock=clock)
    interrupted(memory)
    with memory.store.transaction(memory.scope, START) as tx:
        saved = tx.scratchpads.get("s1")
        assert saved is not None
        tx.scratchpads.put_many([saved.replace(state="[]")])
    clock.now += 25 * HOUR
    memory.maintenance.run("consolidate")
    session = memory.sessions.get("s1").session
    assert (session.events, dict(session.ignored)) == (0, {"unreadable_checkpoints": 1})
    found = check(memory)
    assert found is not None
    assert not found.fine


def test_a_broken_session_does_not_stop_the_others(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    memory = open_memory(clock=clock)
    for session in ("s1", "s2", "s3"):
        interrupted(memory, session)
    clock.now += 25 * HOUR

    def fail_in_s2(pad: Scratchpad) -> tuple[Note, ...]:
        if pad.session == "s2":
            raise ZeroDivisionError("a mistake in a detector")
        return notes_of(pad)

    monkeypatch.setattr("treering.observe.watch.notes_of", fail_in_s2)
    (run,) = memory.maintenance.run("consolidate")
    assert run.counts["abandoned"] == 2
    assert {each.id for each in memory.sessions.list()} == {"s1", "s3"}
    assert "s2 was not finished: a mistake in a detector" in caplog.text
    found = check(memory)
    assert found is not None
    assert not found.fine
    assert "1 could not be finished (s2: ZeroDivisionError)" in found.detail
    monkeypatch.undo()
    clock.now += HOUR
    memory.maintenance.run("consolidate")
    again = check(memory)
    assert again is not None
    assert (again.fine, again.detail) == (True, "3 observed")
