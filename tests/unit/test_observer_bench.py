"""The bench that judges promoted records: where sessions worked, what happened in them, and which records are true."""

import json
from pathlib import Path

import pytest

from bench.observer import __main__ as bench
from bench.observer.facts import SessionFacts, facts_of
from bench.observer.judging import Later, Past, PromotedRecord, Verdict, judged
from bench.observer.recorded import RecordedSession, copied_events, event_of, load, session_roots
from bench.observer.repeated_errors import repeated_errors
from bench.observer.replay import replayed
from tests.session_events import GO_FAILURE, ROOT, Session


def recorded(name: str, session: Session, root: str = ROOT) -> RecordedSession:
    return RecordedSession(name, root, tuple(session.events))


def facts(session: Session) -> SessionFacts:
    return facts_of(recorded("s", session))


def record(signal: str, subject: str = "", **fields: object) -> PromotedRecord:
    known = {"id": "r", "place": 0, "session": "s", "type": "gotcha", "text": "", "files": (), "payload": {}}
    return PromotedRecord(**{"signal": signal, "subject": subject, "support": 1, **known, **fields})  # type: ignore[arg-type]


def verdict(made: PromotedRecord, earlier: list[Session], later: list[Session]) -> Verdict:
    past = Past()
    for each in earlier:
        past.add(facts(each))
    return judged(made, past, Later([facts(each) for each in later], [frozenset()] * len(later)))[0]


def test_lines_of_both_formats_become_the_same_event() -> None:
    ours = {"kind": "tool_call", "at": "2026-01-01", "tool": "Read", "call_id": "c", "arguments": {"file_path": "/a"}}
    other = {"kind": "tool_use", "ts": "2026-01-01", "tool": "Read", "id": "c", "input": {"file_path": "/a"}, "seq": 3}
    assert event_of(ours) == event_of(other) == ours


def test_sessions_come_in_the_order_of_time_with_their_events_by_place(tmp_path: Path) -> None:
    lines = [
        {"kind": "user_text", "text": "second", "session": "b", "seq": 0, "ts": "2026-01-02T00:00:00Z"},
        {"kind": "assistant_text", "text": "later", "session": "a", "seq": 1, "ts": "2026-01-01T00:00:01Z"},
        {"kind": "user_text", "text": "first", "session": "a", "seq": 0, "ts": "2026-01-01T00:00:00Z"},
    ]
    file = tmp_path / "events.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    found = load(file)
    assert [each.id for each in found] == ["a", "b"]
    assert [event["text"] for event in found[0].events] == ["first", "later"]


def test_events_copied_from_an_earlier_session_show_nothing() -> None:
    earlier, forked = Session().read("a.go"), Session().read("a.go").edit("b.go")
    copied = copied_events({"a": earlier.events, "b": forked.events, "c": Session().grep("x").events})
    assert copied == {"a": 0, "b": 2, "c": 0}
    found = facts_of(RecordedSession("b", ROOT, tuple(forked.events), copied["b"]))
    assert found.touched == {"b.go"}


def test_each_checkout_is_its_own_root() -> None:
    def edits(*paths: str) -> list[dict[str, object]]:
        return [{"kind": "tool_call", "tool": "Edit", "arguments": {"file_path": path}} for path in paths]

    sessions = {
        "main": edits("/home/dev/harbour/tides/tide.go", "/home/dev/.claude/plans/x.md"),
        "worktree": edits("/tmp/wt/harbour-2/tides/tide.go"),
        "elsewhere": edits("/home/dev/notes.txt"),
    }
    found = session_roots(sessions, {"tides/tide.go", "tide.go"})
    assert found == {"main": "/home/dev/harbour", "worktree": "/tmp/wt/harbour-2", "elsewhere": "/tmp/wt/harbour-2"}


def test_without_known_files_the_root_is_above_a_file_that_lies_at_the_top() -> None:
    event = {"kind": "tool_call", "tool": "Read", "arguments": {"file_path": "/home/dev/harbour/.github/ci.yml"}}
    assert session_roots({"s": [event]}) == {"s": "/home/dev/harbour"}


def test_facts_of_a_session_and_how_an_error_was_resolved() -> None:
    session = Session().read("tides/tide.go").run("go test ./tides/...", GO_FAILURE, fails=True)
    session.edit("tides/tide.go").run("make generate").run("go test ./tides/...")
    found = facts(session)
    assert (dict(found.reads), dict(found.edits)) == ({"tides/tide.go": 1}, {"tides/tide.go": 1})
    (error,) = found.failures
    (resolution,) = found.resolutions(error)
    assert resolution == {"tides/tide.go", "make generate"}


def test_a_pair_is_true_if_it_comes_together_more_often_than_by_frequency() -> None:
    pair = record("co_access", files=("a.go", "b.go"), payload={"cause": "a.go", "effects": ["b.go"]})
    both, one, neither = Session().edit("a.go").read("b.go"), Session().edit("a.go"), Session().edit("c.go")
    rare, always = [neither, neither], [both, both]
    assert verdict(pair, rare, [both]) == Verdict(True, True)
    assert verdict(pair, always, [both, one]) == Verdict(False, True)
    assert verdict(pair, rare, [one]) == Verdict(False, False)
    assert verdict(pair, rare, [neither]) == Verdict(None, None)


def test_an_error_that_never_comes_back_is_untested() -> None:
    failing = Session().run("go test ./tides/...", GO_FAILURE, fails=True)
    (error,) = facts(failing).failures
    made = record("error_retry", error, payload={"resolution": "edited `tides/tide.go`"})
    resolved = Session().run("go test ./tides/...", GO_FAILURE, fails=True).edit("tides/tide.go")
    resolved.run("go test ./tides/...")
    assert verdict(made, [], [Session().edit("tides/tide.go")]) == Verdict(None, None)
    assert verdict(made, [], [failing]) == Verdict(False, None)
    assert verdict(made, [], [resolved]) == Verdict(True, True)


def test_a_sequence_recurs_in_its_order() -> None:
    steps = [{"description": "make generate"}, {"description": "go test ./..."}]
    made = record("tool_sequence", payload={"steps": steps})
    forward = Session().run("make generate").edit("a.go").run("go test ./...")
    backward = Session().run("go test ./...").run("make generate")
    assert verdict(made, [], [forward]) == Verdict(True, True)
    assert verdict(made, [], [backward]) == Verdict(False, False)
    far = Session().run("make generate")
    for _ in range(30):
        far.read("a.go")
    assert verdict(made, [], [far.run("go test ./...")]) == Verdict(False, True)


@pytest.mark.parametrize(
    ("made", "later", "expected"),
    [
        (record("repeated_grep", "Tide", files=("a.go",)), Session().grep("Tide").read("a.go"), Verdict(True, True)),
        (record("repeated_grep", "Tide", files=("a.go",)), Session().grep("Tide"), Verdict(False, False)),
        (record("repeated_grep", "Tide", files=("a.go",)), Session().read("a.go"), Verdict(None, None)),
        (record("read_abandon", files=("a.go", "b.go")), Session().read("a.go").edit("b.go"), Verdict(True, True)),
        (record("read_abandon", files=("a.go", "b.go")), Session().read("a.go").read("b.go"), Verdict(False, True)),
        (record("backtrack", "a.go"), Session().edit("a.go").edit("a.go"), Verdict(False, True)),
        (record("backtrack", "a.go"), Session().read("a.go"), Verdict(None, None)),
        (
            record("context_token_spike", "a.go", payload={"mean_tokens": 1_000}),
            Session().read("a.go", "x" * 4_000),
            Verdict(True, True),
        ),
        (record("self_correction", "always"), Session().read("a.go"), Verdict(None, None)),
    ],
)
def test_records_of_other_signals(made: PromotedRecord, later: Session, expected: Verdict) -> None:
    assert verdict(made, [], [later]) == expected


def test_a_repeated_error_is_covered_by_a_record_of_an_earlier_session() -> None:
    failing = facts(Session().run("go test ./tides/...", GO_FAILURE, fails=True))
    (error,) = failing.failures
    counts = repeated_errors([failing] * 4, [record("error_retry", error, place=1)], with_minor=True)
    assert (counts.total, counts.covered, counts.possible, counts.resolved) == (3, 2, 2, 0)


def test_replay_promotes_a_pair_that_later_sessions_confirm(tmp_path: Path) -> None:
    sessions = [
        recorded(f"s{number}", Session().prompt("Change the tides").edit("tides/tide.go").edit("tides/table.go"))
        for number in range(5)
    ]
    replay = replayed(sessions, tmp_path / "memory.db")
    seen = [facts_of(each) for each in sessions]
    found = list(bench.verdicts(replay, seen))
    pairs = [(made.files, made.place, outcome) for made, outcome, _ in found if made.signal == "co_access"]
    assert [(set(files), place) for files, place, _ in pairs] == [({"tides/tide.go", "tides/table.go"}, 3)]
    assert pairs[0][2].lenient is True
    body = bench.report(sessions, replay, seen, found)
    assert "5 sessions, 25 events" in body
    assert "| co_access | 1 | 1 |" in body
