"""Records of what one session alone says: open work, serious findings of checks, behaviour of a screen."""

import pytest

from tests.conftest import OpenMemory
from tests.observed import observe, records
from tests.session_events import GO_FAILURE, Session
from treering.core.payloads import E2EObservation, ErrorPattern, ObservationKind, WorkState
from treering.core.records import Source
from treering.memory import Memory

PLAN = [
    {"content": "Move the tide table", "status": "completed"},
    {"content": "Read the moon's phase", "status": "in_progress"},
    {"content": "Draw the chart", "status": "pending"},
]
ISSUE = {
    "severity": "critical",
    "description": "The tide table is read without a lock",
    "file": "tides/table.go",
    "what_was_tried": "a retry",
    "recommendation": "hold the lock while reading",
}


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    return open_memory(background=False)


def planned(status: str = "in_progress") -> Session:
    items = [*PLAN[:1], {**PLAN[1], "status": status}, *PLAN[2:]]
    return Session().prompt("Show the tides").call("TodoWrite", "ok", todos=items).edit("tides/table.go")


def state_of(memory: Memory) -> WorkState:
    [record] = records(memory, "work_state")
    assert isinstance(record.payload, WorkState)
    return record.payload


def test_unfinished_work_is_kept_with_the_next_step(memory: Memory) -> None:
    observe(memory, "s1", planned())
    memory.settle()
    [record] = records(memory, "work_state")
    assert record.content == (
        "Left unfinished on 2026-03-02: “Read the moon's phase”; next: “Draw the chart”; done: “Move the tide table”; "
        "edited: `tides/table.go`"
    )
    assert state_of(memory) == WorkState(
        completed=("Move the tide table",), in_progress="Read the moon's phase", next_step="Draw the chart"
    )
    assert record.confidence == 0.9
    assert not record.needs_review
    assert memory.context.briefing().in_progress == (record,)


def test_a_session_that_finished_everything_leaves_no_work_state(memory: Memory) -> None:
    done = [{**item, "status": "completed"} for item in PLAN]
    observe(memory, "s1", Session().prompt("Show the tides").call("TodoWrite", "ok", todos=done))
    memory.settle()
    assert records(memory, "work_state") == []


def test_a_later_session_that_finishes_the_work_corrects_the_state(memory: Memory) -> None:
    observe(memory, "s1", planned())
    memory.settle()
    done = [{**item, "status": "completed"} for item in PLAN]
    observe(memory, "s2", Session().prompt("Go on").call("TodoWrite", "ok", todos=done))
    memory.settle()
    assert state_of(memory).in_progress is None
    assert "Read the moon's phase" in state_of(memory).completed


def test_an_abandoned_session_keeps_what_was_asked_and_the_last_failure(memory: Memory) -> None:
    events = (
        Session().prompt("Make the tide test pass").edit("tides/tide.go").run("go test ./tides", GO_FAILURE, fails=True)
    )
    observe(memory, "s1", events, outcome="abandoned")
    memory.settle()
    [record] = records(memory, "work_state")
    assert "“Make the tide test pass”" in record.content
    assert "last failure" in record.content


def test_a_decision_of_the_user_is_part_of_the_state(memory: Memory) -> None:
    events = planned().prompt("No, use pnpm instead of npm.")
    observe(memory, "s1", events)
    memory.settle()
    assert state_of(memory).decisions == ("No, use pnpm instead of npm.",)


def test_work_after_outside_content_is_tainted(memory: Memory) -> None:
    events = Session().prompt("Show the tides").fetch().call("TodoWrite", "ok", todos=PLAN)
    observe(memory, "s1", events)
    memory.settle()
    [record] = records(memory, "work_state")
    assert record.taint is not None
    assert record.needs_review


def test_serious_findings_become_error_patterns_at_once(memory: Memory) -> None:
    minor = {"severity": "low", "description": "A comment has a typo"}
    observe(memory, "s1", Session().event("qa_report", metadata={"passed": False, "issues": [ISSUE, minor]}))
    memory.settle()
    [record] = records(memory, "error_pattern")
    assert record.content == (
        "A review found in `tides/table.go`: The tide table is read without a lock (tried: a retry); recommended: hold "
        "the lock while reading"
    )
    assert record.payload == ErrorPattern(
        message="The tide table is read without a lock", resolution="hold the lock while reading"
    )
    assert (record.source, record.confidence, record.needs_review) == (Source.QA_AUTO, 0.8, False)
    assert {"qa_failure", "severity:critical"} <= set(record.tags)
    assert record.files == ("tides/table.go",)


def test_a_finding_that_is_reported_twice_is_one_record(memory: Memory) -> None:
    for session in ("s1", "s2"):
        observe(memory, session, Session().event("qa_report", metadata={"passed": False, "issues": [ISSUE]}))
        memory.settle()
    assert len(records(memory, "error_pattern")) == 1


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("The save button is disabled until a title is entered.", ObservationKind.PRECONDITION),
        ("The list was still loading after the click.", ObservationKind.TIMING),
        ("First click the row, and the menu follows.", ObservationKind.TEST_SEQUENCE),
        ("No such element: #save was covered.", ObservationKind.GOTCHA),
        ("Saving redirects to the overview page.", ObservationKind.UI_BEHAVIOR),
    ],
)
def test_what_a_screen_does_is_classified_and_waits_for_review(
    memory: Memory, text: str, kind: ObservationKind
) -> None:
    observe(memory, "s1", Session().call("mcp__electron__click_by_text", text, text="Save"))
    memory.settle()
    [record] = records(memory, "e2e_observation")
    assert record.payload == E2EObservation(kind=kind, tool="click_by_text")
    assert record.source is Source.MCP_AUTO
    assert record.needs_review
    assert record.taint is not None


def test_a_screen_that_says_nothing_becomes_no_record(memory: Memory) -> None:
    observe(memory, "s1", Session().call("mcp__electron__eval", "[1, 2, 3] and some markup", code="1"))
    memory.settle()
    assert records(memory, "e2e_observation") == []
