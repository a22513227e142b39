"""Real coding agents run the hooks that `treering init` configures, from paths that a shell would split or expand."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.agents.script import Run, Say, ToolCall
from tests.agents.workplace import Workplace
from treering.interfaces.client_configs.apply import apply_changes
from treering.interfaces.client_configs.connection import planned_change
from treering.interfaces.client_configs.ledger import Ledger
from treering.interfaces.client_configs.machine import Machine
from treering.interfaces.client_configs.table import client_named

pytestmark = pytest.mark.agents

EVENTS = {
    "claude": ["SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolBatch", "Stop", "SessionEnd"],
    "codex": ["SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"],
    "gemini": ["SessionStart", "BeforeAgent", "AfterTool", "AfterAgent", "SessionEnd"],
}
FACT = "The cellar key hangs behind the blue door."
RECORDER = """
import json, sys
from pathlib import Path
event = json.load(sys.stdin)
with open(Path(__file__).parent / "events.jsonl", "a") as file:
    file.write(json.dumps([sys.argv[1:], event]) + "\\n")
"""
NAME = 'zoë\'s $HOME `x` "q"'
"""Of a folder; every character is allowed in a path."""


class Installation(Workplace):
    """A workplace in folders with unusual names, with a recorder in place of the hook process."""

    @property
    def recorder(self) -> Path:
        return self.project.parent / f"site {NAME}" / "treering" / "hook_process.py"

    def record(self, *options: str) -> list[str]:
        """Configure the recorder as the hook command; return the arguments that it is called with."""
        self.recorder.parent.mkdir(parents=True)
        self.recorder.write_text(RECORDER)
        self.connect([sys.executable, "-I", str(self.recorder), self.agent.name, *options])
        return [self.agent.name, *options]

    def connect(self, hook: list[str] | None) -> None:
        client = client_named(self.agent.name)
        files = client.files(Machine(self.project, self.home, {}, sys.platform), client.scope, None, hook)
        ledger = Ledger(self.home / "notes")
        apply_changes([planned_change(file, ledger) for file in files], ledger)

    def events(self) -> list[tuple[list[str], dict[str, Any]]]:
        lines = (self.recorder.parent / "events.jsonl").read_text().splitlines()
        return [tuple(json.loads(line)) for line in lines]


@pytest.fixture
def installed(unconnected: Workplace, tmp_path: Path) -> Installation:
    made = Installation(unconnected.agent, unconnected.program, tmp_path / "home", tmp_path / NAME)
    made.set_up({"README.md": "# A shop\n"})
    return made


only_claude = pytest.mark.parametrize("unconnected", ["claude"], indirect=True)
only_gemini = pytest.mark.parametrize("unconnected", ["gemini"], indirect=True)


def test_each_event_starts_one_process_with_its_arguments(installed: Installation) -> None:
    arguments = installed.record("--db", f"/tmp/{NAME}.db")
    installed.session(Run("echo hello"))
    events = installed.events()
    assert [event["hook_event_name"] for _, event in events] == EVENTS[installed.agent.name]
    assert all(given == arguments for given, _ in events)
    assert {event["cwd"] for _, event in events} == {str(installed.project)}


def test_hooks_that_were_removed_do_not_run(installed: Installation) -> None:
    installed.record()
    installed.connect(None)
    installed.session(Run("echo hello"))
    assert not (installed.recorder.parent / "events.jsonl").exists()


def test_the_hook_process_takes_the_events_of_a_session(installed: Installation) -> None:
    installed.treering("init", installed.agent.name, "--yes")
    installed.session(Run("echo hello"))
    [session] = installed.treering_json("sessions")["sessions"]
    assert session["root"] == str(installed.project)


@only_claude
def test_the_plug_in_is_valid_and_brings_server_hooks_commands_and_skill(installed: Installation) -> None:
    folder = str(installed.home / f"plug-in {NAME}")
    installed.treering("init", "claude", "--plugin", folder, "--yes")
    installed.run(installed.program, "plugin", "validate", folder)
    use = ToolCall("mcp__plugin_treering_treering__memory_stats", {})
    prompt, options = f"/treering:remember {FACT}", ("--plugin-dir", folder)
    model = installed.play([use, Say("Noted.")], prompt=prompt, options=options)
    assert "Project memory across sessions (Treering)" in model.received()
    installed.treering("sessions")
    assert FACT in json.dumps(installed.treering_json("search", "key of the cellar"))


@only_gemini
def test_gemini_sends_the_text_after_its_command_to_the_hook(installed: Installation) -> None:
    installed.record()
    installed.session(Say("Noted."), prompt=f"/treering:remember {FACT}")
    prompts = [event["prompt"] for _, event in installed.events() if event["hook_event_name"] == "BeforeAgent"]
    assert prompts == [f"/remember {FACT}"]
