"""Event files: the schema as it is, and the names that other recorders use."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.transcripts import AT, brief, events_of, only_transcript, write_lines
from treering.core.events import EventKind, SessionType
from treering.observe.readers import ReadReport, find_transcripts, read_events
from treering.observe.readers.lines import parse


def test_every_kind_of_the_schema_is_read_as_it_is(tmp_path: Path) -> None:
    lines = [{"id": f"e{n}", "session": "s1", "kind": kind, "at": AT.format(1)} for n, kind in enumerate(EventKind)]
    events = events_of(write_lines(tmp_path / "events.jsonl", lines))
    assert [(each["id"], each["kind"]) for each in events] == [(f"e{n}", kind) for n, kind in enumerate(EventKind)]


def test_fields_are_kept_and_unknown_ones_go_to_the_metadata(tmp_path: Path) -> None:
    line = {
        "id": "e1", "session": "s1", "kind": "tool_result", "at": AT.format(1), "step": 7, "agent": "a", "tool": "Bash",
        "call_id": "c1", "text": "out", "is_error": True, "duration_ms": 5, "tokens": 3, "files": ["a.py", "/etc/x"],
        "taint": {"source": "web: x.org"}, "colour": "red",
        "metadata": {"x": 1},
    }  # fmt: skip
    [event] = events_of(write_lines(tmp_path / "events.jsonl", [line]))
    assert event | {"at": None} == {
        "id": "e1", "kind": "tool_result", "at": None, "step": 7, "agent": "a", "tool": "Bash", "call_id": "c1",
        "text": "out", "is_error": True, "duration_ms": 5.0, "tokens": 3, "files": ("a.py",),
        "tainted": True, "taint": {"source": "web: x.org", "reason": ""},
        "metadata": {"colour": "red", "x": 1},
    }  # fmt: skip


def test_a_taint_that_cannot_be_read_is_still_a_taint(tmp_path: Path) -> None:
    odd: list[dict[str, Any]] = [{"tainted": True}, {"taint": 7}, {"tainted": False, "taint": {"source": ""}}]
    lines = [{"kind": "prompt", "session": "s", "at": AT.format(1), **each} for each in odd]
    assert [each["tainted"] for each in events_of(write_lines(tmp_path / "e.jsonl", lines))] == [True] * 3


def test_the_first_events_describe_the_session(tmp_path: Path) -> None:
    start = {
        "kind": "session_start",
        "session": "s1",
        "at": AT.format(1),
        "type": "pr_review",
        "agent": "codex",
        "root": "/x",
    }
    transcript = only_transcript(write_lines(tmp_path / "events.jsonl", [start]))
    assert (transcript.agent, transcript.root, transcript.type) == ("codex", "/x", SessionType.PR_REVIEW)


RECORDED: list[dict[str, Any]] = [
    {"kind": "user_text", "text": "Fix it", "session": "b", "seq": 0, "ts": AT.format(3), "side": False},
    {"kind": "assistant_text", "text": "I look", "session": "b", "seq": 1, "ts": AT.format(4), "side": False},
    {"kind": "tool_use", "id": "t1", "tool": "Grep", "input": {"p": 1}, "session": "b", "seq": 2, "ts": AT.format(5),
     "side": True},
    {"kind": "tool_result", "id": "t1", "tool": "Grep", "is_error": False, "len": 3, "text": "a.py", "session": "b",
     "seq": 3, "ts": AT.format(6), "side": False},
    {"kind": "user_text", "text": "Hello", "session": "a", "seq": 0, "ts": AT.format(1), "side": False},
]  # fmt: skip


def test_recorded_sessions_convert_one_to_one_also_compressed(tmp_path: Path) -> None:
    plain = write_lines(tmp_path / "plain.jsonl", RECORDED)
    packed = tmp_path / "packed.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    for path in (plain, packed):
        first, second = find_transcripts([path])
        assert (first.session, second.session) == ("a", "b")
        report = ReadReport()
        assert brief(read_events(first, report)) == [("prompt", "Hello")]
        events = list(read_events(second, report))
        assert [(each["id"], each["kind"], each.get("call_id")) for each in events] == [
            ("seq:0", "prompt", None),
            ("seq:1", "reasoning", None),
            ("seq:2", "tool_call", "t1"),
            ("seq:3", "tool_result", "t1"),
        ]
        assert (events[2]["agent"], events[2]["arguments"], events[3]["metadata"]) == (
            "sidechain",
            {"p": 1},
            {"len": 3},
        )
        assert report.lines == report.events == len(RECORDED)


def test_sessions_may_be_interleaved(tmp_path: Path) -> None:
    lines = [{"kind": "prompt", "session": each, "at": AT.format(1), "text": f"{n}"} for n, each in enumerate("abab")]
    found = find_transcripts([write_lines(tmp_path / "e.jsonl", lines)])
    texts = [[(each["id"], each["text"]) for each in read_events(one, ReadReport())] for one in found]
    assert texts == [[("1", "0"), ("3", "2")], [("2", "1"), ("4", "3")]]


def test_interleaved_sessions_are_parsed_once_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"s{number}" for number in range(60)]
    written = [
        {"kind": "prompt", "session": name, "at": AT.format(1), "text": f"{name} {turn}"}
        for turn in range(20)
        for name in names
    ]
    path = write_lines(tmp_path / "e.jsonl", written)
    parsed = list[bytes]()

    def counted(line: bytes) -> object:
        parsed.append(line)
        return parse(line)

    monkeypatch.setattr("treering.observe.readers.lines.parse", counted)
    report = ReadReport()
    for transcript in find_transcripts([path]):
        texts = [each["text"] for each in read_events(transcript, report)]
        assert texts == [f"{transcript.session} {turn}" for turn in range(20)]
    assert report.lines == len(written)
    assert len(parsed) <= 2 * len(written)


def test_lines_between_interleaved_sessions_are_counted_once(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    lines = [json.dumps({"kind": "prompt", "session": each, "text": each}) for each in "abab"]
    path.write_text("\n".join(("{broken", "", lines[0], "", "{broken", lines[1], "[]", lines[2], "", lines[3], "{cut")))
    report = ReadReport()
    ids = [[each["id"] for each in read_events(one, report)] for one in find_transcripts([path])]
    assert ids == [["3", "8"], ["6", "10"]]
    assert (report.lines, report.broken, report.truncated, report.unknown) == (8, 2, 1, {"(list)": 1})


def test_kinds_that_nobody_knows_are_counted(tmp_path: Path) -> None:
    report = ReadReport()
    lines = [{"kind": "prompt", "at": AT.format(1)}, {"kind": "telepathy", "at": AT.format(2)}, {"no": "kind"}]
    assert len(events_of(write_lines(tmp_path / "e.jsonl", lines), report)) == 1
    assert report.unknown == {"telepathy": 1, "(no type)": 1}


def test_a_damaged_archive_gives_what_is_before_the_damage(tmp_path: Path) -> None:
    path, report = tmp_path / "e.jsonl.gz", ReadReport()
    lines = [json.dumps({"kind": "prompt", "session": "s", "at": AT.format(1), "text": "x" * n}) for n in range(300)]
    whole = gzip.compress("\n".join(lines).encode())
    path.write_bytes(whole)
    [transcript] = find_transcripts([path])
    path.write_bytes(whole[: len(whole) // 2])
    assert 0 < len(list(read_events(transcript, report))) < 300
    assert report.unreadable == 1


def test_the_documented_example_has_one_line_of_every_kind(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "events.md").read_text()
    path, report = tmp_path / "events.jsonl", ReadReport()
    path.write_text(page.split("```text\n")[1].split("```")[0])
    events = events_of(path, report)
    assert sorted(each["kind"] for each in events) == sorted(EventKind)
    assert (report.unknown, report.broken) == ({}, 0)
    transcript = only_transcript(path)
    assert (transcript.session, transcript.agent, transcript.root) == ("s-42", "claude-code", "/home/me/shop")
