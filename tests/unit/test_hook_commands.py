"""Commands that users type in prompts."""

from pathlib import Path

import pytest

from tests.hook_payloads import CLAUDE, claude, gemini, prompt, read
from treering.interfaces.hooks.agents import memory_command
from treering.interfaces.hooks.user_commands import UserCommand, set_memory, user_command
from treering.location.hook_files import PAUSE, is_paused, read_json, write_json


@pytest.mark.parametrize(
    "typed",
    [
        "/remember we use uv",
        "  /treering:remember   we use uv\n",
        "/mcp__treering__remember we use uv",
        "/prompts:remember we use uv",
        "<command-message>remember</command-message>",
    ],
)
def test_remember_in_every_form(typed: str) -> None:
    expected = None if typed.startswith("<") else UserCommand("remember", "we use uv")
    assert user_command(read("claude", prompt(typed)).typed) == expected


def test_a_command_before_its_expansion() -> None:
    payload = claude("UserPromptExpansion", command_name="treering:remember", command_args="we use uv", prompt="/x")
    assert user_command(read("claude", payload).typed) == UserCommand("remember", "we use uv")


def test_the_expanded_form_of_claude_code() -> None:
    typed = "<command-name>/treering:remember</command-name>\n<command-args>we use uv</command-args>"
    assert user_command(read("claude", prompt(typed)).typed) == UserCommand("remember", "we use uv")


def test_a_command_behind_the_context_of_a_hook() -> None:
    payload = gemini("BeforeAgent", prompt="<hook_context>x</hook_context>\n\n/memory off")
    assert user_command(read("gemini", payload).typed) == UserCommand("memory", "off")


@pytest.mark.parametrize("prefix", ["", "treering:", "treering-", "mcp__treering__", "prompts:", "prompts:treering-"])
@pytest.mark.parametrize("argument", ["off", "OFF", "off injection", "on", "status"])
def test_the_hook_process_reads_memory_in_every_form(prefix: str, argument: str) -> None:
    """Otherwise it gives text after `/memory off`, and does not pass `/memory on` on during a pause."""
    tagged = f"<command-name>/{prefix}memory</command-name>\n<command-args>{argument}</command-args>"
    for typed in (f" /{prefix}memory {argument}\n", tagged):
        assert user_command(read("claude", prompt(typed)).typed) == UserCommand("memory", argument)
        assert memory_command(typed) == argument.lower().split()[0]
    behind = f"<hook_context>x</hook_context>\n\n/{prefix}memory {argument}"
    assert user_command(read("gemini", gemini("BeforeAgent", prompt=behind)).typed) == UserCommand("memory", argument)
    assert memory_command(behind) == argument.lower().split()[0]


@pytest.mark.parametrize(
    "typed", ["/memory off the shelf", "/memory tides", "/remember off", "memory off", "/x:memory on"]
)
def test_the_hook_process_takes_other_prompts_for_no_command(typed: str) -> None:
    assert memory_command(typed) == ""


@pytest.mark.parametrize("typed", ["remember we use uv", "/remembering", "please /remember this", "/home/memory x"])
def test_other_prompts_are_no_commands(typed: str) -> None:
    assert user_command(read("claude", prompt(typed)).typed) is None


def test_memory_is_paused_for_one_session(tmp_path: Path) -> None:
    folder = str(tmp_path / "hooks")
    write_json(folder, PAUSE, {"inject": None, "points": ["tool"], "sessions": {"other": "inject"}})
    assert "off for this session" in set_memory(folder, "off", CLAUDE, (0, 0))
    pause = read_json(folder, PAUSE)
    assert pause["points"] == ["tool"]
    assert is_paused(pause, "observe", 0, CLAUDE)
    assert not is_paused(pause, "observe", 0, "third")
    assert "off for this session" in set_memory(folder, "status", CLAUDE, (0, 0))
    assert set_memory(folder, "on", CLAUDE, (0, 0)) == "Memory is on for this session."
    assert not is_paused(read_json(folder, PAUSE), "observe", 0, CLAUDE)
    assert "gives nothing" in set_memory(folder, "off injection", CLAUDE, (0, 0))
    assert not is_paused(read_json(folder, PAUSE), "observe", 0, CLAUDE)
    assert read_json(folder, PAUSE)["sessions"] == {"other": "inject", CLAUDE: "inject"}
    assert "takes off" in set_memory(folder, "offf", CLAUDE, (0, 0))
    set_memory(folder, "on", CLAUDE, (0, 0))
    assert "3 items (40 tokens)" in set_memory(folder, "", CLAUDE, (3, 40))


@pytest.mark.parametrize(("pause", "said"), [("observe", "nothing is recorded"), ("inject", "still recorded")])
def test_a_session_cannot_end_the_pause_of_its_repository(tmp_path: Path, pause: str, said: str) -> None:
    folder = str(tmp_path / "hooks")
    write_json(folder, PAUSE, {pause: "forever"})
    for argument in ("on", "status"):
        answer = set_memory(folder, argument, CLAUDE, (0, 0))
        assert said in answer
        assert "`treering resume`" in answer
