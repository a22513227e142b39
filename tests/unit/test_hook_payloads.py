"""Payloads of hooks: the events and occasions that they become, for each agent."""

import pytest

from tests.hook_payloads import (
    AT,
    CLAUDE,
    CODEX,
    bash,
    claude,
    codex,
    cursor,
    edit,
    failed_bash,
    gemini,
    prompt,
    read,
    vscode,
)
from tests.session_events import GO_FAILURE
from treering.core.events import Event, SessionOutcome
from treering.core.injections import InjectionPoint
from treering.interfaces.hooks.agents import AGENTS
from treering.interfaces.hooks.payloads.reading import HookCall, HookReading
from treering.interfaces.hooks.payloads.table import READERS


def kinds(reading: HookReading) -> list[object]:
    return [event["kind"] for event in reading.events]


def point(reading: HookReading) -> InjectionPoint | None:
    return None if reading.occasion is None else reading.occasion.point


def test_every_event_is_valid() -> None:
    readings = [
        read("claude", bash("make", "done")),
        read("claude", prompt("Fix the tide.")),
        read("claude", edit("a.py", "t")),
    ]
    for event in (event for reading in readings for event in reading.events):
        Event.model_validate(event)


@pytest.mark.parametrize("source", ["startup", "resume", "clear", "compact"])
def test_a_session_starts(source: str) -> None:
    reading = read("claude", claude("SessionStart", source=source))
    assert reading.occasion is not None
    assert (reading.session, reading.agent, kinds(reading)) == (CLAUDE, "claude-code", ["session_start"])
    assert (point(reading), reading.occasion.begin) == (InjectionPoint.START, source)
    assert reading.events[0]["id"] == "session_start"


def test_a_prompt_is_an_event_and_an_occasion() -> None:
    reading = read("claude", prompt("Please remember we use uv"))
    assert reading.occasion is not None
    assert [(each["kind"], each["text"]) for each in reading.events] == [("prompt", "Please remember we use uv")]
    assert (point(reading), reading.occasion.prompt) == (InjectionPoint.PROMPT, "Please remember we use uv")


def test_words_after_a_slash_command_are_the_prompt_as_in_a_transcript() -> None:
    assert [each["text"] for each in read("claude", prompt("/memtest:recall build")).events] == ["build"]
    assert read("claude", prompt("/model opus")).events == ()
    assert [each["text"] for each in read("claude", prompt("/home/user/a.py is broken")).events] == [
        "/home/user/a.py is broken"
    ]


def test_what_a_program_wrote_is_no_prompt() -> None:
    notice = "<task-notification>\n<task-id>ab83</task-id>\n<result>done.</result>\n</task-notification>"
    reading = read("claude", prompt(notice))
    assert (reading.events, reading.occasion) == ((), None)


def test_a_command_is_a_call_with_its_result() -> None:
    reading = read("claude", bash("pytest -q", "3 passed", "toolu_9"))
    assert reading.occasion is not None
    assert kinds(reading) == ["tool_call", "tool_result"]
    assert [each["call_id"] for each in reading.events] == ["toolu_9", "toolu_9"]
    result = reading.events[1]
    assert (result["text"], result["duration_ms"], result.get("is_error")) == ("3 passed", 39.0, None)
    assert (point(reading), reading.occasion.command, reading.occasion.error) == (InjectionPoint.TOOL, "pytest -q", "")


def test_a_failing_command_is_an_occasion_with_its_output() -> None:
    for reading in (
        read("claude", failed_bash("go test ./...", GO_FAILURE)),
        read("claude", bash("go test ./...", GO_FAILURE)),
    ):
        assert reading.occasion is not None
        assert (reading.occasion.command, reading.occasion.error) == ("go test ./...", GO_FAILURE)
    assert read("claude", failed_bash("exit 3", "Exit code 3")).events[1]["is_error"] is True


def test_an_interrupted_command_is_no_occasion() -> None:
    payload = failed_bash("sleep 100", "interrupted") | {"is_interrupt": True}
    assert read("claude", payload).occasion is None


def test_a_call_before_and_after_has_the_same_id() -> None:
    before = claude("PreToolUse", tool_name="Bash", tool_input={"command": "make"}, tool_use_id="toolu_1")
    reading = read("claude", before)
    assert (kinds(reading), reading.events[0]["call_id"], reading.occasion) == (["tool_call"], "toolu_1", None)


def test_files_are_relative_to_the_root() -> None:
    reading = read("claude", edit("src/tide.py", "toolu_3"))
    assert reading.occasion is not None
    assert reading.occasion.files == ("src/tide.py",)
    assert "text" not in reading.events[1]
    outside = read("claude", edit("../other/secret.py", "toolu_4"))
    assert outside.occasion is None


def test_a_search_is_an_occasion_with_its_pattern() -> None:
    payload = claude(
        "PostToolUse",
        tool_name="Grep",
        tool_input={"pattern": "def tide"},
        tool_response={"mode": "files_with_matches", "filenames": ["src/tide.py"], "numFiles": 1},
        tool_use_id="toolu_5",
    )
    reading = read("claude", payload)
    assert reading.occasion is not None
    assert (reading.occasion.search, reading.events[1]["text"]) == ("def tide", "src/tide.py")


def test_the_text_of_a_file_that_was_read() -> None:
    response = {"type": "text", "file": {"filePath": "/home/user/proj/a.txt", "content": "alpha\n", "numLines": 2}}
    given = {"file_path": "/home/user/proj/a.txt"}
    payload = claude("PostToolUse", tool_name="Read", tool_input=given, tool_response=response, tool_use_id="toolu_6")
    reading = read("claude", payload)
    assert reading.occasion is not None
    assert (reading.events[1]["text"], reading.occasion.files) == ("alpha\n", ("a.txt",))


def test_events_of_a_subagent_name_it() -> None:
    reading = read("claude", bash("echo", "x", agent_id="ab83", agent_type="general-purpose"))
    assert [each["agent"] for each in reading.events] == ["ab83", "ab83"]
    stop = claude("SubagentStop", agent_id="ab83", agent_type="general-purpose", last_assistant_message="done.")
    stopped = read("claude", stop)
    assert [(each["kind"], each.get("agent")) for each in stopped.events] == [("reasoning", "ab83"), ("subagent", None)]
    assert stopped.occasion is None
    internal = claude("SubagentStop", agent_id="ae07", agent_type="", last_assistant_message="second")
    assert read("claude", internal).events == ()


def test_the_end_of_a_turn_is_a_pause_between_steps_once() -> None:
    stop = read("claude", claude("Stop", stop_hook_active=False, last_assistant_message="All done."))
    assert [(each["kind"], each["text"]) for each in stop.events] == [("reasoning", "All done.")]
    assert point(stop) is InjectionPoint.STEP
    again = read("claude", claude("Stop", stop_hook_active=True, last_assistant_message="All done."))
    assert again.occasion is None


def test_a_batch_of_calls_is_only_an_occasion() -> None:
    calls = [{"tool_name": "Read", "tool_input": {"file_path": "/home/user/proj/a.py"}, "tool_use_id": "toolu_1"}]
    reading = read("claude", claude("PostToolBatch", tool_calls=calls))
    assert reading.occasion is not None
    assert (reading.events, point(reading), reading.occasion.files) == ((), InjectionPoint.STEP, ("a.py",))


def test_a_failed_turn_a_compaction_and_the_end() -> None:
    assert read("claude", claude("StopFailure", error="unknown", last_assistant_message="API Error: 400")).failed
    assert read("claude", claude("PreCompact", trigger="manual")).compacts
    assert read("claude", claude("SessionEnd", reason="other")).end is SessionOutcome.SUCCESS


def test_hooks_without_meaning_say_nothing() -> None:
    for hook in ("InstructionsLoaded", "PermissionRequest", "PostCompact", "PostModelSwitch", "Unheard"):
        assert READERS["claude"].read(HookCall("l", AT, "claude", hook, claude(hook)), "/") is None
    nameless = claude("Stop") | {"session_id": ""}
    assert READERS["claude"].read(HookCall("l", AT, "claude", "Stop", nameless), "/") is None


def test_codex() -> None:
    ran = codex(
        "PostToolUse", tool_name="Bash", tool_input={"command": "echo x"}, tool_response="x\n", tool_use_id="call_1"
    )
    reading = read("codex", ran)
    assert (reading.session, reading.agent) == (CODEX, "codex")
    assert [each["call_id"] for each in reading.events] == ["call_1", "call_1"]
    assert reading.events[1]["text"] == "x\n"
    failed = codex(
        "PostToolUse", tool_name="Bash", tool_input={"command": "go test"}, tool_response=GO_FAILURE, tool_use_id="c"
    )
    occasion = read("codex", failed).occasion
    assert occasion is not None
    assert occasion.error == GO_FAILURE
    patch = "*** Begin Patch\n*** Update File: src/tide.go\n@@\n-a\n+b\n*** End Patch"
    edited = codex(
        "PostToolUse", tool_name="apply_patch", tool_input={"command": patch}, tool_response="ok", tool_use_id="d"
    )
    changed = read("codex", edited).occasion
    assert changed is not None
    assert changed.files == ("src/tide.go",)


def test_gemini_cli() -> None:
    failed = gemini(
        "AfterTool",
        tool_name="run_shell_command",
        tool_input={"command": "exit 5", "description": "e"},
        tool_response={
            "llmContent": "<untrusted_context>\nOutput: (empty)\nExit Code: 5\n</untrusted_context>",
            "returnDisplay": "Command exited with code: 5",
        },
    )
    reading = read("gemini", failed, "line-7")
    assert (reading.agent, kinds(reading)) == ("gemini-cli", ["tool_call", "tool_result"])
    assert [each["call_id"] for each in reading.events] == ["hook:line-7", "hook:line-7"]
    assert reading.events[1]["is_error"] is True
    assert reading.events[1]["text"] == "Output: (empty)\nExit Code: 5"
    parts = [{"text": "<untrusted_context>\nhit\n</untrusted_context>"}]
    found = gemini(
        "AfterTool", tool_name="mcp_mem_recall", tool_input={"query": "x"}, tool_response={"llmContent": parts}
    )
    assert read("gemini", found).events[1]["text"] == "hit"


def test_context_that_gemini_cli_puts_before_a_prompt_is_not_typed() -> None:
    given = "<hook_context>MEMCTX</hook_context>\n\nremember we use uv"
    reading = read("gemini", gemini("BeforeAgent", prompt=given))
    assert [each["text"] for each in reading.events] == ["remember we use uv"]
    answered = read("gemini", gemini("AfterAgent", prompt=given, prompt_response="All done.", stop_hook_active=False))
    assert [(each["kind"], each["text"]) for each in answered.events] == [("reasoning", "All done.")]
    assert read("gemini", gemini("PreCompress", trigger="auto")).compacts
    assert read("gemini", gemini("SessionEnd", reason="exit")).end is SessionOutcome.SUCCESS


def test_cursor() -> None:
    ran = cursor("afterShellExecution", command="go test", output=GO_FAILURE, duration=150)
    reading = read("cursor", ran)
    assert reading.occasion is not None
    assert (reading.session, reading.agent, kinds(reading)) == ("conv-123", "cursor", ["tool_call", "tool_result"])
    assert (reading.occasion.command, reading.occasion.error) == ("go test", GO_FAILURE)
    edits = [{"old_string": "const foo = 1", "new_string": "const foo = 2"}]
    edited = read("cursor", cursor("afterFileEdit", file_path="/home/user/proj/main.ts", edits=edits)).occasion
    assert edited is not None
    assert edited.files == ("main.ts",)
    output = '{"exitCode": 1, "stdout": "boom"}'
    used = cursor(
        "postToolUse", tool_name="Shell", tool_input={"command": "make"}, tool_output=output, tool_use_id="u1"
    )
    assert read("cursor", used).events[1]["is_error"] is True
    assert read("cursor", cursor("sessionEnd", reason="error")).end is SessionOutcome.FAILURE
    assert read("cursor", cursor("stop", status="aborted", loop_count=0)).failed
    assert [each["text"] for each in read("cursor", cursor("afterAgentResponse", text="Done.")).events] == ["Done."]


def test_vs_code() -> None:
    ran = vscode(
        "PostToolUse",
        tool_name="run_in_terminal",
        tool_input={"command": "make"},
        tool_response="ok",
        tool_use_id="tool-1",
    )
    reading = read("vscode", ran)
    assert (reading.session, reading.agent, kinds(reading)) == ("vs-1", "vscode", ["tool_call", "tool_result"])
    started = read("vscode", vscode("SessionStart", source="new")).occasion
    assert started is not None
    assert started.begin == "startup"
    assert not READERS["vscode"].ends_sessions


def test_every_hook_that_is_installed_is_understood() -> None:
    assert set(AGENTS) == set(READERS)
    for name, agent in AGENTS.items():
        assert set(agent.hooks) <= set(READERS[name].hooks)
