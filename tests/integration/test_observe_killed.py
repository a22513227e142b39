"""SIGKILL while sessions are observed, saved and finished: the next process goes on, nothing counts twice."""

import random
import time
from datetime import timedelta
from typing import Any

from tests.integration.crew import Crew
from tests.integration.crew_members import open_place
from tests.integration.observing_member import (
    events_of,
    observe_all,
    observe_forever,
    observe_share,
    observe_share_in_one_watch,
    share_of,
)
from tests.integration.written import assert_healthy
from tests.lengths import at_length
from tests.observed import RULE, evidence, records, turns
from tests.session_events import ROOT
from treering.compose import now
from treering.core.events import SessionOutcome
from treering.core.queries import ObservedSessionFilter
from treering.memory import Memory
from treering.observe.scratchpad import Signal
from treering.observe.synthesis.statistics import FILE_SESSIONS, MODULE_SESSIONS

SESSIONS = ["a", "b", "c"]
KILLS = at_length(8, full=60)
LATER = timedelta(hours=2)
STEPS = ("event", "checkpoint", "finishing", "promoting", "storing_turns")


def assert_counted_once(memory: Memory, sessions: list[str]) -> None:
    """Every session is finished; evidence, records and turns are those of sessions that were never interrupted."""
    expected = set(sessions)
    observed = {each.id: each for each in memory.sessions.list(limit=1_000)}
    assert set(observed) == expected
    for session in observed.values():
        assert session.finished_at is not None
        assert session.events - session.ignored.get("duplicates", 0) == len(events_of(session.id))
    states = [each for each in records(memory) if each.type == "work_state"]
    assert all(each.payload.in_progress is None for each in states)  # of sessions that were abandoned and went on
    found = [each for each in records(memory) if each not in states]
    assert sorted(each.type for each in found) == ["error_pattern", "preference"]
    for record in found:
        assert sorted(record.provenance_sessions) == sorted(expected)
    for each in evidence(memory).values():
        if each.signal in set(Signal):
            assert len(each.sessions) == len(set(each.sessions)) == each.occurrences
        if each.signal in ("error_retry", "self_correction"):
            assert set(each.sessions) == expected
        if each.signal in (FILE_SESSIONS, MODULE_SESSIONS):
            assert each.occurrences == len(expected)
    said = sorted((each.session, each.text) for each in turns(memory))
    assert said == sorted(
        (name, text) for name in sessions for text in (RULE, f"I looked at {name}.", f"This is {name}.")
    )
    with memory.store.reading(memory.scope, now()) as tx:
        assert tx.observed_sessions.count(ObservedSessionFilter(finished=False)) == 0
    assert_healthy(memory)


def test_a_kill_after_any_commit_leaves_nothing_half_done(place: dict[str, Any], crew: Crew) -> None:
    commits = list(range(1, 16)) if place["place"].endswith(".db") else list(range(1, 16, 4))
    for kill in commits:
        pid = crew.start(observe_all, sessions=SESSIONS, commits=kill, **place)
        crew.await_end(pid)
        crew.kill(pid)
    _finish_and_check(crew, place)


def test_a_kill_at_any_step_leaves_nothing_half_done(place: dict[str, Any], crew: Crew) -> None:
    moments = random.Random(8)
    for kill in range(KILLS):
        news, step = len(crew.news), STEPS[kill % len(STEPS)]
        pid = crew.start(observe_all, sessions=SESSIONS, **place)
        crew.hear_of(news, **{step: moments.randint(1, 3)})
        time.sleep(moments.uniform(0, 0.02))
        crew.kill(pid)
    _finish_and_check(crew, place)


def _finish_and_check(crew: Crew, place: dict[str, Any]) -> None:
    crew.join(crew.start(observe_all, sessions=SESSIONS, **place))
    # The killed processes hold leases for a while.
    with open_place(clock=lambda: now() + LATER, **place) as memory:
        memory.settle()
        assert_counted_once(memory, SESSIONS)


def test_two_processes_that_finish_the_same_sessions_count_them_once(place: dict[str, Any], crew: Crew) -> None:
    with open_place(**place):
        pids = [crew.start(observe_all, sessions=SESSIONS, **place) for _ in range(3)]
    for pid in pids:
        crew.join(pid)
    with open_place(**place) as memory:
        memory.settle()
        assert_counted_once(memory, SESSIONS)


def test_sessions_of_killed_processes_are_finished_by_maintenance(place: dict[str, Any], crew: Crew) -> None:
    pids = [crew.start(observe_forever, worker=worker, **place) for worker in ("x", "y")]
    crew.hear_of(0, checkpoint=9)
    for pid in pids:
        crew.kill(pid)
    with open_place(clock=lambda: now() + timedelta(days=2), **place) as memory:
        with memory.store.reading(memory.scope, now()) as tx:
            begun = {each.id for each in tx.scratchpads.stream()}
        memory.maintenance.run("consolidate")
        memory.settle()
        observed = {each.id: each for each in memory.sessions.list(limit=1_000)}
        assert set(observed) == begun
        done = {each for each in observed if observed[each].outcome is SessionOutcome.SUCCESS}
        assert done >= set(crew.told("finished"))
        assert all(observed[each].outcome is SessionOutcome.ABANDONED for each in begun - done)
        for record in records(memory):
            assert len(set(record.provenance_sessions)) == len(record.provenance_sessions)
        # They go on where they stopped.
        for session in sorted(begun - done):
            watch = memory.observe(session, root=ROOT)
            for event in events_of(session):
                watch.event(event)
            watch.finish()
        memory.settle()
        assert_counted_once(memory, sorted(begun))


def test_processes_that_share_a_session_and_are_killed_lose_nothing(place: dict[str, Any], crew: Crew) -> None:
    workers, moments = 3, random.Random(21)
    with open_place(**place):  # creates the schema
        pass
    for _ in range(KILLS // 2):
        news = len(crew.news)
        pids = [crew.start(observe_share, worker=worker, workers=workers, **place) for worker in range(workers)]
        crew.hear_of(news, checkpoint=moments.randint(3, 20))
        time.sleep(moments.uniform(0, 0.02))
        for pid in pids:
            crew.kill(pid)
    for pid in [crew.start(observe_share, worker=worker, workers=workers, **place) for worker in range(workers)]:
        crew.join(pid)
    assert_shared_session_is_whole(place, workers)


def test_watches_of_two_processes_join_at_each_checkpoint(place: dict[str, Any], crew: Crew) -> None:
    workers = 2
    with open_place(**place):  # creates the schema
        pass
    pids = [
        crew.start(observe_share_in_one_watch, worker=worker, workers=workers, **place) for worker in range(workers)
    ]
    for pid in pids:
        crew.join(pid)
    assert sorted(crew.told("opened")) == [*range(workers)]
    assert_shared_session_is_whole(place, workers)


def assert_shared_session_is_whole(place: dict[str, Any], workers: int) -> None:
    """The session has the events of all processes, each once, and is counted once."""
    with open_place(clock=lambda: now() + LATER, **place) as memory:
        memory.settle()
        session = memory.sessions.get("shared").session
        seen = session.events - session.ignored.get("duplicates", 0)
        assert seen == sum(len(share_of(worker, workers)) for worker in range(workers))
        assert session.finished_at is not None
        edited = {each.path: each.edits for each in session.files if each.edits}
        assert edited == {f"tides/w{w}n{n}.go": 1 for w in range(workers) for n in range(12)} | {"tides/tide.go": 1}
        assert {each.text for each in turns(memory)} >= {RULE, "This is shared."}
        assert len(records(memory, "preference")) == 1
        assert_healthy(memory)
