"""Several watches of one session, in one process or several: nothing that they saw is lost, nothing counts twice."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from threading import Barrier, Thread
from typing import Any

import pytest

from tests.conftest import OpenMemory
from tests.observed import RULE, evidence, failing, observe, records, turns
from tests.session_events import ROOT, START, Session
from treering.core.events import SessionOutcome
from treering.core.observations import ObservedSession
from treering.memory import Memory
from treering.observe import journal
from treering.observe.watch import Watch

OTHER_RULE = "Never push to the main branch without a review."


def take(watch: Watch, events: Sequence[dict[str, object]]) -> Watch:
    for event in events:
        watch.event(event)
    return watch


def seen(memory: Memory, session: str = "s1") -> ObservedSession:
    return memory.sessions.get(session).session


def counted(session: ObservedSession) -> int:
    return session.events - session.ignored.get("duplicates", 0)


def test_two_watches_with_different_events_lose_none(open_memory: OpenMemory) -> None:
    first, second = (open_memory().observe("s1", root=ROOT) for _ in range(2))
    events = Session().prompt(RULE).edit("tides/tide.go").prompt(OTHER_RULE).edit("tides/port.go").events
    take(first, events[:3]).checkpoint()
    take(second, events[3:]).checkpoint()
    first.finish()
    report = second.finish()
    assert {each.content for each in report.promoted} == {RULE, OTHER_RULE}
    assert counted(report.session) == len(events)
    assert {each.path: each.edits for each in report.session.files} == {"tides/tide.go": 1, "tides/port.go": 1}
    memory = open_memory()
    memory.settle()
    assert [each.text for each in turns(memory)] == [RULE, OTHER_RULE]


def test_the_watch_that_saw_less_is_not_dropped(open_memory: OpenMemory) -> None:
    first, second = (open_memory().observe("s1", root=ROOT) for _ in range(2))
    take(first, failing().edit("tides/port.go").events).finish()
    take(second, [{"kind": "prompt", "text": RULE, "at": START, "id": "late"}]).finish()
    assert [each.content for each in records(open_memory(), "preference")] == [RULE]


def test_a_call_and_its_result_may_come_by_different_watches(open_memory: OpenMemory) -> None:
    observe(open_memory(), "s0", failing())
    for event in failing().events:
        short_lived = open_memory().observe("s1", root=ROOT)
        short_lived.event(event)
        short_lived.checkpoint()
    (record,) = open_memory().observe("s1", root=ROOT).finish().promoted
    assert "resolved by editing `tides/tide.go`" in record.content
    assert not seen(open_memory()).ignored


def test_watches_that_save_at_once_lose_nothing(open_memory: OpenMemory) -> None:
    shared = Session().prompt(RULE).edit("tides/shared.go").events
    barrier = Barrier(4)

    def work(memory: Memory, name: str) -> None:
        barrier.wait()
        for number in range(5):
            watch = memory.observe("s1", root=ROOT)
            path = f"{ROOT}/tides/{name}{number}.go"
            watch.event(
                {
                    "kind": "tool_call",
                    "tool": "Edit",
                    "call_id": f"{name}{number}",
                    "arguments": {"file_path": path},
                    "at": START,
                }
            )
            take(watch, shared).checkpoint()
        watch.finish()

    threads = [Thread(target=work, args=(open_memory(), name)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    session = seen(open_memory())
    assert {each.path: each.edits for each in session.files} == {
        "tides/shared.go": 1,
        **{f"tides/{name}{number}.go": 1 for name in "abcd" for number in range(5)},
    }
    assert counted(session) == 20 + len(shared)
    assert [each.content for each in records(open_memory(), "preference")] == [RULE]


def test_a_message_that_a_hook_and_a_transcript_report_counts_once(open_memory: OpenMemory) -> None:
    hooks, replay = (open_memory().observe("s1", root=ROOT) for _ in range(2))
    for watch, source, delay in ((hooks, "hook", 0.0), (replay, "line", 0.4)):
        at = START + timedelta(seconds=delay)
        watch.event({"kind": "prompt", "text": RULE, "at": at, "id": f"{source}-1"})
        watch.event({"kind": "reasoning", "text": "I look at the tides.", "at": at, "id": f"{source}-2"})
        watch.checkpoint()
    session = replay.finish().session
    assert (counted(session), session.prompts) == (2, (RULE,))
    memory = open_memory()
    memory.settle()
    assert [each.text for each in turns(memory)] == [RULE, "I look at the tides."]


def test_the_same_words_later_are_another_message(memory: Memory) -> None:
    watch = memory.observe("s1", root=ROOT)
    for minutes in range(3):
        watch.event({"kind": "prompt", "text": "go on", "at": START + timedelta(minutes=minutes)})
    watch.event({"kind": "prompt", "text": "go on"})
    watch.event({"kind": "prompt", "text": "go on"})
    assert watch.new_events == 5


def test_events_without_ids_count_once_in_another_watch_and_each_time_in_one(open_memory: OpenMemory) -> None:
    events: list[dict[str, Any]] = [
        {"kind": "tool_call", "tool": "Edit", "arguments": {"file_path": f"{ROOT}/a.go"}, "at": START.isoformat()},
        {"kind": "tool_result", "tool": "Edit", "text": "updated", "at": START},
    ] * 2
    first, second = (open_memory().observe("s1", root=ROOT) for _ in range(2))
    take(first, events).checkpoint()
    session = take(second, events).finish().session
    assert (counted(session), session.files[0].edits) == (4, 2)


def test_a_finished_session_that_goes_on_waits_for_its_end(open_memory: OpenMemory) -> None:
    time = [START]

    def clock() -> datetime:
        return time[0]

    memory = open_memory(clock=clock)
    observe(memory, "s1", failing())
    watch = memory.observe("s1", root=ROOT)
    watch.event({"kind": "prompt", "text": RULE, "at": START, "id": "late"})
    watch.checkpoint()
    assert (seen(memory).finished_at, seen(memory).outcome) == (None, None)
    time[0] += timedelta(days=2)  # the process was killed
    memory.maintenance.run("consolidate")
    assert seen(memory).outcome is SessionOutcome.ABANDONED
    assert [each.content for each in records(memory, "preference")] == [RULE]
    assert all(each.occurrences == 1 for each in evidence(memory).values() if each.sessions)


def test_a_session_that_was_finished_meanwhile_is_not_abandoned(memory: Memory) -> None:
    watch = memory.observe("s1", root=ROOT)
    take(watch, failing().events).checkpoint()
    cleaner = memory.observe("s1", root=ROOT)
    watch.finish()
    assert cleaner.abandon().session.outcome is SessionOutcome.SUCCESS
    assert seen(memory).outcome is SessionOutcome.SUCCESS


def test_a_checkpoint_of_another_watch_does_not_remove_a_taint(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "MAX_EVENTS", 3)
    first, second = (open_memory().observe("s1", root=ROOT) for _ in range(2))
    take(first, Session().fetch().edit("tides/tide.go").edit("tides/port.go").think("I looked.").events)
    first.event({"kind": "reasoning", "text": "Actually, the tide is wrong: I must use UTC.", "at": START, "id": "x"})
    second.event({"kind": "prompt", "text": RULE, "at": START, "id": "p"})
    second.checkpoint()
    session = first.finish().session
    assert session.taints
    assert session.ignored["errors"]  # events that the journal could not hold; doctor shows them
    assert all(each.taint is not None for each in memory_candidates(session))


def memory_candidates(session: ObservedSession) -> list[Any]:
    return [each for each in session.candidates if each.text != RULE]


def test_words_that_were_forgotten_do_not_come_back_by_another_watch(open_memory: OpenMemory) -> None:
    memory = open_memory()
    first, second = (open_memory().observe("s1", root=ROOT) for _ in range(2))
    take(first, Session().prompt(RULE).events).finish()
    take(second, Session().prompt(RULE).events)
    (record,) = records(memory)
    memory.forget(record.id, hard=True)
    second.checkpoint()
    second.finish()
    assert records(memory) == []
