"""Files and folders of transcripts: recognised by content, read once, in bounded memory."""

import json
import os
import tracemalloc
from pathlib import Path

import pytest

from tests.transcripts import AT, events_of, write_lines
from treering.core.events import Event
from treering.observe.readers import ReadReport, find_transcripts, read_events
from treering.observe.readers.lines import MAX_LINE_BYTES


def prompt(session: str, second: int, text: str = "Hello") -> dict[str, object]:
    return {"type": "user", "uuid": f"{session}-{second}", "sessionId": session, "timestamp": AT.format(second),
            "message": {"content": text}}  # fmt: skip


def test_transcripts_are_recognised_by_content_and_come_oldest_first(tmp_path: Path) -> None:
    write_lines(tmp_path / "a.txt", [prompt("young", 5)])
    write_lines(tmp_path / "z" / "deep" / "b", [prompt("old", 1)])
    write_lines(tmp_path / "m.jsonl", [prompt("middle", 3)])
    write_lines(tmp_path / "other.jsonl", [{"display": "hello", "timestamp": 1, "project": "/x"}])
    (tmp_path / "notes.md").write_text("# Notes")
    (tmp_path / "config.json").write_text('{"theme": "dark"}')
    (tmp_path / "image.png").write_bytes(bytes(range(256)) * 100)
    (tmp_path / "empty.jsonl").touch()
    os.mkfifo(tmp_path / "pipe.jsonl")
    report = ReadReport()
    assert [each.session for each in find_transcripts([tmp_path], report)] == ["old", "middle", "young"]
    assert (report.ignored, report.unreadable) == (6, 0)


def test_links_do_not_lead_in_circles_and_no_file_is_found_twice(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "real" / "a.jsonl", [prompt("s", 1)])
    (tmp_path / "real" / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "again").symlink_to(tmp_path / "real", target_is_directory=True)
    (tmp_path / "file.jsonl").symlink_to(path)
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    report = ReadReport()
    assert len(find_transcripts([tmp_path, tmp_path / "again", path], report)) == 1
    assert report.unreadable == 1


def test_missing_paths_are_counted(tmp_path: Path) -> None:
    report = ReadReport()
    assert find_transcripts([tmp_path / "missing", Path("bad\0name")], report) == ()
    assert report.unreadable == 2


def test_a_file_that_disappears_is_counted(tmp_path: Path) -> None:
    path, report = write_lines(tmp_path / "a.jsonl", [prompt("s", 1)]), ReadReport()
    [transcript] = find_transcripts([path])
    path.unlink()
    assert list(read_events(transcript, report)) == []
    assert report.unreadable == 1


def test_a_line_that_is_still_being_written_is_left_for_later(tmp_path: Path) -> None:
    path, report = write_lines(tmp_path / "a.jsonl", [prompt("s", 1), prompt("s", 2)]), ReadReport()
    whole = path.read_text()
    path.write_text(whole[:-20])
    before = events_of(path, report)
    assert (len(before), report.truncated, report.broken) == (2, 1, 0)
    path.write_text(whole.rstrip("\n"))
    after = events_of(path)
    assert (after[:2], len(after)) == (before, 3)


@pytest.mark.parametrize("odd", [b"\0\0\0", b"\xef\xbb\xbf", b"  \r"])
def test_bytes_around_a_line_do_no_harm(tmp_path: Path, odd: bytes) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(odd + json.dumps(prompt("s", 1)).encode() + b"\r\n" + odd + b"\n")
    assert len(events_of(path)) == 2


def test_text_that_no_store_accepts_is_replaced(tmp_path: Path) -> None:
    content = [
        {
            "type": "tool_use",
            "id": "t\0",
            "name": "B\nash\ud800",
            "input": {"a\0": "\ud800", "n": float("inf"), "m": 1},
        },
        {"type": "text", "text": "nul \0 and \udfff"},
    ]
    line = {**prompt("s", 1), "type": "assistant", "message": {"content": content}}
    call, text = events_of(write_lines(tmp_path / "a.jsonl", [line]))[1:]
    assert call["arguments"] == {"a␀": "�", "n": None, "m": 1}
    assert text["text"] == "nul ␀ and �"
    assert "call_id" not in call


def test_deep_and_huge_values_are_cut(tmp_path: Path) -> None:
    deep = '{"x":' * 200 + "1" + "}" * 200
    use = {"type": "tool_use", "id": "t", "name": "T", "input": {"deep": "DEEP", "number": 10**4000, "float": 1e308}}
    line = json.dumps({**prompt("s", 1), "type": "assistant", "message": {"content": [use]}})
    bottomless = "[" * 100_000
    path = write_lines(tmp_path / "a.jsonl", [line.replace('"DEEP"', deep), bottomless, prompt("s", 2)])
    report = ReadReport()
    assert len(events_of(path, report)) == 3
    assert report.broken == 1


def test_an_over_long_line_is_counted_without_being_held(tmp_path: Path) -> None:
    path, report = tmp_path / "a.jsonl", ReadReport()
    with path.open("wb") as file:
        file.write(json.dumps(prompt("s", 1)).encode() + b'\n{"type":"user","x":"')
        for _ in range(100):
            file.write(b"x" * 1024 * 1024)
        file.write(b'"}\n' + json.dumps(prompt("s", 2)).encode() + b"\n")
    [transcript] = find_transcripts([path])
    tracemalloc.start()
    events = list(read_events(transcript, report))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [each["id"] for each in events] == ["session_start", "s-1:0", "s-2:0"]
    assert (report.too_long, report.broken) == (1, 0)
    assert peak < 3 * MAX_LINE_BYTES


def test_a_document_with_an_over_long_message_ends_there(tmp_path: Path) -> None:
    path, report = tmp_path / "session-x.json", ReadReport()
    messages = [{"id": f"m{n}", "type": "user", "content": "x" * n} for n in (1, 2, MAX_LINE_BYTES * 2, 3)]
    path.write_text(json.dumps({"sessionId": "s", "projectHash": "h", "messages": messages}))
    assert len(events_of(path, report)) == 3
    assert report.too_long == 1


def test_times_are_utc_and_fall_back_to_the_one_before(tmp_path: Path) -> None:
    written = [None, "2026-03-01T12:00:00+02:00", "yesterday", 1772359201000, 1772359202, "9999-12-31T23:59:59-14:00"]
    lines = [{"kind": "prompt", "session": "s", "text": f"{n}", "at": at} for n, at in enumerate(written)]
    path = write_lines(tmp_path / "e.jsonl", lines)
    os.utime(path, (0, 0))
    found = [each["at"].strftime("%H:%M:%S") for each in events_of(path)]
    assert found == ["10:00:00", "10:00:00", "10:00:00", "10:00:01", "10:00:02", "10:00:02"]


def test_memory_does_not_grow_with_the_number_of_lines(tmp_path: Path) -> None:
    lines = [json.dumps(prompt("s", n % 10, f"words {n}")) for n in range(200)]
    path = write_lines(tmp_path / "a.jsonl", lines * 100)
    [transcript] = find_transcripts([path])
    tracemalloc.start()
    assert sum(1 for _ in read_events(transcript, ReadReport())) == 20_001
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * 1024 * 1024


def test_a_session_name_is_one_that_the_schema_accepts(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", [{**prompt("s", 1), "sessionId": "bad\nname"}, prompt("good", 2)])
    [transcript] = find_transcripts([path])
    assert [Event.make(**each, session=transcript.session).session for each in read_events(transcript, ReadReport())]


def test_no_line_is_read_after_the_deadline(tmp_path: Path) -> None:
    path, report = write_lines(tmp_path / "a.jsonl", [prompt("s", 1), prompt("s", 2)]), ReadReport(deadline=0.0)
    [transcript] = find_transcripts([path])
    assert list(read_events(transcript, report)) == []
    assert report.lines == 0
