"""`memory.context.prefetch` with observed sessions."""

import pytest

from treering.core.errors import InvalidInput
from treering.memory import Memory

ROOT = "/home/dev/harbour"


def observe(memory: Memory, session: str, day: int, prompt: str, *edited: str) -> None:
    watch = memory.observe(session=session, type="build", root=ROOT)
    watch.event({"kind": "prompt", "at": f"2026-01-{day:02}T09:00:00Z", "text": prompt})
    for number, path in enumerate(edited, 1):
        at = f"2026-01-{day:02}T09:{number:02}"
        call = {"tool": "Edit", "call_id": f"{session}-{number}"}
        change = {"file_path": f"{ROOT}/{path}", "old_string": "a", "new_string": "b"}
        watch.event({"kind": "tool_call", "at": f"{at}:00Z", **call, "arguments": change})
        watch.event({"kind": "tool_result", "at": f"{at}:01Z", **call, "text": "The file has been updated."})
    watch.finish(outcome="success")


def test_files_of_earlier_sessions_are_offered(memory: Memory) -> None:
    observe(memory, "one", 1, "plan the berths by tide", "berths/plan.go", "berths/plan_test.go")
    observe(memory, "two", 2, "send invoices every month", "billing/invoices.go")
    memory.settle()
    ranked = memory.context.prefetch("the berths overlap at high tide", limit=2)
    assert {file.path for file in ranked} == {"berths/plan.go", "berths/plan_test.go"}
    assert all(0 < file.share < 1 and file.reason for file in ranked)


def test_a_running_session_is_not_counted(memory: Memory) -> None:
    watch = memory.observe(session="one", type="build", root=ROOT)
    watch.event({"kind": "prompt", "at": "2026-01-01T09:00:00Z", "text": "plan the berths"})
    assert memory.context.prefetch("plan the berths") == ()


def test_files_at_hand_lead_to_companions(memory: Memory) -> None:
    for day in (1, 2, 3):
        observe(memory, f"s{day}", day, f"task {day}", "berths/plan.go", "docs/berths.md")
    observe(memory, "other", 4, "other", "radio/client.go")
    ranked = memory.context.prefetch("go on", ["berths/plan.go"])
    assert ranked[0].path == "docs/berths.md"
    assert "berths/plan.go" not in [file.path for file in ranked]


@pytest.mark.parametrize("limit", [0, 101])
def test_limit_is_checked(memory: Memory, limit: int) -> None:
    with pytest.raises(InvalidInput, match="limit must be from 1 to 100"):
        memory.context.prefetch("x", limit=limit)
