"""Sessions of Gemini CLI: documents, lines, and the log of prompts."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.transcripts import AT, brief, events_of, only_transcript, write_lines
from treering.observe.readers import ReadReport, find_transcripts, read_events

SESSION = "8dc25118-0000-4000-8000-000000000001"
META = {"sessionId": SESSION, "projectHash": "ab12", "startTime": AT.format(0), "lastUpdated": AT.format(9)}


def user(number: int, content: Any, **fields: Any) -> dict[str, Any]:
    return {"id": f"m{number}", "timestamp": AT.format(number), "type": "user", "content": content, **fields}


def call(status: str, output: Any = None, name: str = "run_shell_command") -> dict[str, Any]:
    parts = None if output is None else [{"functionResponse": {"id": "c1", "name": name, "response": output}}]
    return {"id": "c1", "name": name, "args": {"command": "ls"}, "status": status, "result": parts,
            "timestamp": AT.format(4)}  # fmt: skip


def answer(number: int, *calls: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {**user(number, "I will look."), "type": "gemini", "toolCalls": list(calls), **fields}


THOUGHT = {"subject": "Cart", "description": "Look first.", "timestamp": AT.format(2)}
MESSAGES = [
    user(1, [{"text": "Fix the cart"}]),
    answer(3, call("success", {"output": "cart.py"}), thoughts=[THOUGHT], tokens={"input": 50, "output": 6}),
    {**user(5, "Rate limit"), "type": "info"},
]
EVENTS = [
    ("session_start", None),
    ("prompt", "Fix the cart"),
    ("reasoning", "Cart: Look first."),
    ("reasoning", "I will look."),
    ("tool_call", "run_shell_command"),
    ("tool_result", "cart.py"),
]


def test_a_document_and_lines_give_the_same_events(tmp_path: Path) -> None:
    document = tmp_path / "a" / "chats" / "session-2026-03-01T10-00-8dc25118.json"
    document.parent.mkdir(parents=True)
    document.write_text(json.dumps({**META, "messages": MESSAGES, "summary": "…"}, indent=2))
    lines = write_lines(tmp_path / "b" / "chats" / "session-2026-03-01T10-00-8dc25118.jsonl", [META, *MESSAGES])
    one_line = write_lines(tmp_path / "c" / "chats" / "session-c.json", [{**META, "messages": MESSAGES}])
    first = events_of(document)
    assert brief(first) == EVENTS
    assert first == events_of(lines) == events_of(one_line)
    assert [each["id"] for each in first][1:] == ["m1:0", "m3:thought0", "m3:0", "m3:c1:call", "m3:c1:result"]
    assert (first[3]["tokens"], first[3]["metadata"]) == (6, {"input_tokens": 50})
    assert (only_transcript(lines).agent, only_transcript(lines).session) == ("gemini-cli", SESSION)


def test_a_message_that_is_written_again_gives_only_its_new_events(tmp_path: Path) -> None:
    report = ReadReport()
    lines = [
        META,
        MESSAGES[0],
        {"$set": {"lastUpdated": AT.format(2)}},
        answer(3, thoughts=[THOUGHT]),
        answer(3, call("executing"), thoughts=[THOUGHT]),
        answer(3, call("success", {"output": "cart.py"}), thoughts=[THOUGHT]),
        {"$set": {"messages": MESSAGES}},
        {"$rewindTo": "m1"},
        {"unknown": 1},
    ]
    assert brief(events_of(write_lines(tmp_path / "session-x.jsonl", lines), report)) == EVENTS
    assert report.skipped == {"$set": 2, "$rewindTo": 1}
    assert report.unknown == {"(no type)": 1}


@pytest.mark.parametrize(
    ("called", "text", "is_error"),
    [
        (call("error", {"error": "no such file"}), "no such file", True),
        (call("cancelled", {"error": "[Operation Cancelled]"}), "[Operation Cancelled]", True),
        (call("success", {"output": "Output: (empty)\nExit Code: 5\nProcess Group PGID: 1"}), None, True),
        (call("success", {"output": "Output: ok\nExit Code: 0"}), "Output: ok\nExit Code: 0", False),
        (call("success", {"output": "<untrusted_context>\nhi\n</untrusted_context>"}), "hi", False),
        ({**call("success"), "resultDisplay": "shown"}, "shown", False),
    ],
)
def test_results_of_every_shape_are_text(tmp_path: Path, called: Any, text: str | None, is_error: bool) -> None:
    event = events_of(write_lines(tmp_path / "session-x.jsonl", [META, answer(3, called)]))[-1]
    assert text is None or event["text"] == text
    assert event.get("is_error", False) is is_error


@pytest.mark.parametrize(
    "text", ["/help", "/memory show all", "?", "<session_context>\nToday is…", "<hook_context>x</hook_context>", ""]
)
def test_commands_and_inserted_context_are_not_prompts(tmp_path: Path, text: str) -> None:
    path = write_lines(tmp_path / "session-x.jsonl", [META, user(1, "Hello"), user(2, text)])
    assert brief(events_of(path))[1:] == [("prompt", "Hello")]


def test_files_that_the_program_appended_are_not_the_users_words(tmp_path: Path) -> None:
    appended = [{"text": "Fix @a.py"}, {"text": "\n--- Content from referenced files ---"}, {"text": "x = 1"}]
    shown = user(3, "expanded", displayContent=[{"text": "Fix /src/a.py"}])
    path = write_lines(tmp_path / "session-x.jsonl", [META, user(1, appended), shown, user(4, "/src/b.py fails")])
    texts = [each["text"] for each in events_of(path)[1:]]
    assert texts == ["Fix @a.py", "Fix /src/a.py", "/src/b.py fails"]


def test_the_root_is_in_a_file_beside_the_chats(tmp_path: Path) -> None:
    (tmp_path / ".project_root").write_text("/home/me/shop\n")
    path = write_lines(tmp_path / "chats" / "session-x.jsonl", [META, user(1, "Hello")])
    assert only_transcript(path).root == "/home/me/shop"
    child = {**META, "sessionId": "child", "kind": "subagent"}
    path = write_lines(tmp_path / "chats" / SESSION / "child.jsonl", [child, user(1, "Look")])
    transcript = only_transcript(path)
    assert (transcript.session, transcript.subagent, transcript.root) == (SESSION, "child", "/home/me/shop")
    assert [(each["kind"], each["agent"]) for each in events_of(path)] == [("subagent", "child")]


def test_the_log_gives_the_prompts_of_sessions_without_a_chat(tmp_path: Path) -> None:
    def entry(session: str, number: int, text: str) -> dict[str, Any]:
        return {
            "sessionId": session,
            "messageId": number,
            "type": "user",
            "message": text,
            "timestamp": AT.format(number),
        }

    log = [
        entry("old", 0, "Fix the cart"),
        entry("old", 1, "/quit"),
        entry(SESSION, 0, "Hello"),
        entry("old", 2, "Thanks"),
    ]
    (tmp_path / "logs.json").write_text(json.dumps(log, indent=2))
    write_lines(tmp_path / "chats" / "session-x.jsonl", [{**META, "startTime": AT.format(3)}, user(4, "Hello")])
    found = find_transcripts([tmp_path])
    assert [(each.session, each.path.name) for each in found] == [("old", "logs.json"), (SESSION, "session-x.jsonl")]
    events = list(read_events(found[0], ReadReport()))
    assert [(each["id"], each["text"]) for each in events] == [("log:0", "Fix the cart"), ("log:2", "Thanks")]


def test_a_document_that_is_still_being_written_gives_what_is_complete(tmp_path: Path) -> None:
    path, report = tmp_path / "session-x.json", ReadReport()
    path.write_text(json.dumps({**META, "messages": MESSAGES}, indent=2)[:-80])
    assert brief(events_of(path, report)) == EVENTS
    assert report.truncated == 1
