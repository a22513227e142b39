"""Rollouts of Codex in the formats of all its versions."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.transcripts import AT, brief, events_of, only_transcript, write_lines
from treering.observe.readers import ReadReport

SESSION = "01a00000-0000-7000-8000-1c402bdccc9c"


def line(number: int, kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": AT.format(number), "type": kind, "payload": payload}


def item(number: int, kind: str, **fields: Any) -> dict[str, Any]:
    return line(number, "response_item", **{"type": kind, **fields})


def message(number: int, role: str, *texts: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return item(number, "message", role=role, content=[{"type": kind, "text": text} for text in texts])


META = line(0, "session_meta", id=SESSION, timestamp=AT.format(0), cwd="/home/me/shop", cli_version="0.106.0",
            originator="codex_exec", source="exec", git={"branch": "main"})  # fmt: skip


def read(tmp_path: Path, *lines: Any, report: ReadReport | None = None) -> list[dict[str, Any]]:
    return events_of(write_lines(tmp_path / f"rollout-2026-03-01T10-00-00-{SESSION}.jsonl", lines), report)


def test_a_rollout_becomes_its_events_in_order(tmp_path: Path) -> None:
    report = ReadReport()
    usage = {"last_token_usage": {"input_tokens": 100, "output_tokens": 9}, "total_token_usage": {"total_tokens": 109}}
    events = read(
        tmp_path,
        META,
        message(1, "developer", "<permissions instructions>…"),
        message(1, "user", "# AGENTS.md instructions for /home/me/shop\n\n<INSTRUCTIONS>…</INSTRUCTIONS>"),
        message(1, "user", "<environment_context>\n  <cwd>/home/me/shop</cwd>\n</environment_context>"),
        line(1, "turn_context", cwd="/home/me/shop", model="gpt-5-codex"),
        message(2, "user", "Fix the cart"),
        line(2, "event_msg", type="user_message", message="Fix the cart"),
        item(3, "reasoning", summary=[{"type": "summary_text", "text": "**Looking**"}], encrypted_content="gAAAA"),
        item(3, "reasoning", summary=[], encrypted_content="gAAAA"),
        item(4, "function_call", name="shell", arguments='{"command":["bash","-lc","ls"]}', call_id="c1"),
        item(
            5,
            "function_call_output",
            call_id="c1",
            output="Exit code: 2\nWall time: 0.5 seconds\nOutput:\nno such file",
        ),
        item(5, "custom_tool_call", name="apply_patch", input="*** Begin Patch", call_id="c2"),
        line(6, "event_msg", type="patch_apply_end", call_id="c2", success=False),
        item(6, "custom_tool_call_output", call_id="c2", output="patch does not apply"),
        message(7, "assistant", "Done."),
        line(7, "event_msg", type="token_count", info=usage),
        line(8, "event_msg", type="token_count", info=usage),
        line(9, "event_msg", type="holo_event"),
        line(9, "holo_line"),
        report=report,
    )
    assert brief(events) == [
        ("session_start", None),
        ("prompt", "Fix the cart"),
        ("reasoning", "**Looking**"),
        ("tool_call", "shell"),
        ("tool_result", "no such file"),
        ("tool_call", "apply_patch"),
        ("tool_result", "patch does not apply"),
        ("reasoning", "Done."),
        ("step", None),
    ]
    details = {"agent": "codex", "cwd": "/home/me/shop", "branch": "main", "version": "0.106.0", "source": "exec"}
    assert events[0]["metadata"] == details
    assert events[3]["arguments"] == {"command": ["bash", "-lc", "ls"]}
    assert (events[4]["is_error"], events[4]["duration_ms"], events[4]["tool"]) == (True, 500.0, "shell")
    assert events[5]["arguments"] == {"input": "*** Begin Patch"}
    assert events[6]["is_error"] is True
    assert (events[8]["tokens"], events[8]["metadata"]) == (9, {"input_tokens": 100})
    assert report.unknown == {"event_msg holo_event": 1, "holo_line": 1}
    transcript = only_transcript(tmp_path)
    assert (transcript.agent, transcript.session, transcript.root) == ("codex", SESSION, "/home/me/shop")
    assert transcript.started_at.isoformat() == "2026-03-01T10:00:00+00:00"


@pytest.mark.parametrize(
    ("output", "text", "is_error", "duration"),
    [
        ("plain", "plain", False, None),
        (json.dumps({"output": "x", "metadata": {"exit_code": 1, "duration_seconds": 0.25}}), "x", True, 250.0),
        ("Chunk ID: ab\nWall time: 1.5000 seconds\nProcess exited with code 0\nOutput:\nok", "ok", False, 1500.0),
        ("Chunk ID: ab\nWall time: 1.0 seconds\nProcess running with session ID 7\nOutput:\n", None, False, 1000.0),
        ("Wall time: . seconds\nOutput:\nodd", "odd", False, None),
        (
            [{"type": "input_text", "text": "seen"}, {"type": "input_image", "image_url": "data:"}],
            "seen\n[image]",
            False,
            None,
        ),
        ({"content": "failed", "success": False}, "failed", True, None),
        (None, None, False, None),
    ],
)
def test_outputs_of_every_version_are_unwrapped(
    tmp_path: Path, output: Any, text: str | None, is_error: bool, duration: float | None
) -> None:
    [_, event] = read(tmp_path, META, item(1, "function_call_output", call_id="c1", output=output))
    assert (event.get("text") or None, event.get("is_error", False), event.get("duration_ms")) == (
        text,
        is_error,
        duration,
    )


def test_calls_of_every_kind_have_a_tool_and_arguments(tmp_path: Path) -> None:
    action = {"type": "exec", "command": ["ls"], "working_directory": "/x"}
    events = read(
        tmp_path,
        META,
        item(1, "local_shell_call", call_id="c1", status="completed", action=action),
        item(2, "web_search_call", id="ws", action={"type": "search", "query": "pnpm"}),
        item(3, "function_call", name="get_issue", namespace="mcp__linear__", arguments="{}", call_id="c3"),
        item(4, "function_call", name="odd", arguments="not json", call_id="c4"),
    )[1:]
    assert [(each["tool"], each.get("arguments")) for each in events] == [
        ("local_shell", action),
        ("web_search", {"type": "search", "query": "pnpm"}),
        ("mcp__linear__get_issue", None),
        ("odd", {"input": "not json"}),
    ]


def test_the_request_of_an_editor_is_the_prompt(tmp_path: Path) -> None:
    text = "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nRename it\n"
    assert brief(read(tmp_path, META, message(1, "user", text, "<image name=[Image #1]>")))[1:] == [
        ("prompt", "Rename it")
    ]


def test_bare_items_of_older_versions_are_read(tmp_path: Path) -> None:
    events = read(
        tmp_path,
        {"id": SESSION, "timestamp": AT.format(0), "instructions": None, "git": {"branch": "main"}},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<environment_context>\nCurrent working directory: /home/me/shop\nApproval policy: never\n</environment_context>"}]},  # noqa: E501
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Fix the cart"}]},
        {"type": "function_call", "name": "shell", "arguments": '{"command":["ls"]}', "call_id": "c1"},
        {"type": "function_call_output", "call_id": "c1", "output": '{"output":"a.py","metadata":{"exit_code":0}}'},
    )  # fmt: skip
    assert [each[0] for each in brief(events)] == ["session_start", "prompt", "tool_call", "tool_result"]
    assert [each["id"] for each in events] == ["session_start", "4:0", "5:0", "6:0"]
    assert {each["at"].isoformat() for each in events} == {"2026-03-01T10:00:00+00:00"}
    assert only_transcript(tmp_path).root == "/home/me/shop"


def test_the_document_of_the_first_versions_is_read(tmp_path: Path) -> None:
    path = tmp_path / f"rollout-2025-04-20-{SESSION}.json"
    items = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Fix it"}]}]
    path.write_text(json.dumps({"session": {"timestamp": AT.format(0), "id": SESSION}, "items": items}, indent=2))
    assert only_transcript(path).session == SESSION
    assert brief(events_of(path)) == [("prompt", "Fix it")]


def test_a_thread_of_a_subagent_belongs_to_the_session_that_started_it(tmp_path: Path) -> None:
    parent = "01a00000-0000-7000-8000-000000000001"
    source = {"subagent": {"thread_spawn": {"parent_thread_id": parent, "depth": 1}}}
    meta = line(0, "session_meta", id=SESSION, cwd="/x", source=source, subagent_history_start_ordinal=2)
    inherited = {**message(1, "user", "The user's words"), "ordinal": 1}
    events = read(tmp_path, meta, inherited, {**message(2, "user", "Look at the cart"), "ordinal": 2})
    assert [(each["kind"], each["agent"], each["text"]) for each in events] == [
        ("subagent", SESSION, "Look at the cart")
    ]
    assert (only_transcript(tmp_path).session, only_transcript(tmp_path).subagent) == (parent, SESSION)


def test_a_completed_plan_is_a_plan(tmp_path: Path) -> None:
    plan = line(1, "event_msg", type="item_completed", item={"type": "Plan", "id": "p", "text": "1. Look"})
    assert brief(read(tmp_path, META, plan))[1:] == [("plan", "1. Look")]
