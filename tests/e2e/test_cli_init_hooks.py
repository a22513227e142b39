"""`treering init` installs hooks beside the server, and the plug-in for Claude Code."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.terminal import Terminal
from tests.e2e.test_cli_init import NAMES, everything, home, terminal
from treering.interfaces.client_configs.hooks import HOOK_SETUPS

__all__ = ["home", "terminal"]

FILES = {
    "claude": (".claude/settings.local.json", ".claude/settings.json"),
    "codex": (".codex/hooks.json", ".codex/hooks.json"),
    "gemini": (".gemini/settings.json", ".gemini/settings.json"),
    "cursor": (".cursor/hooks.json", ".cursor/hooks.json"),
    "vscode": (".github/hooks/treering.json", ".copilot/hooks/treering.json"),
}


def hooks_in(path: Path) -> dict[str, list[dict[str, Any]]]:
    """The hooks of each event, outside of their groups."""
    events: dict[str, list[dict[str, Any]]] = json.loads(path.read_text())["hooks"]
    return {event: [hook for each in groups for hook in each.get("hooks", [each])] for event, groups in events.items()}


def command_of(hook: dict[str, Any]) -> list[str]:
    return [hook["command"], *hook["args"]] if "args" in hook else shlex.split(hook["command"])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("user", [False, True])
def test_each_event_runs_one_command_in_the_form_of_the_client(
    terminal: Terminal, home: Path, name: str, user: bool
) -> None:
    terminal.ok("init", name, "--user" if user else "--no-user", "--db", "my shop's.db", "--project", "shöp $1")
    hooks = hooks_in((home if user else terminal.folder) / FILES[name][user])
    assert tuple(hooks) == HOOK_SETUPS[name].events
    seconds = 1000 if name == "gemini" else 1
    for event, [hook] in hooks.items():
        command = command_of(hook)
        assert Path(command[0]).is_absolute()
        assert Path(command[0]).samefile(sys.executable)
        database = str(terminal.folder / "my shop's.db")
        assert command[command.index(name) :] == [name, "--db", database, "--project", "shöp $1"]
        limit = 3 if (name, event) == ("codex", "SessionEnd") else 10
        assert hook["timeout"] == limit * seconds
    assert ("args" in hook) is (name == "claude")


@pytest.mark.parametrize("name", NAMES)
def test_without_hooks_only_the_server_is_written_and_hooks_that_were_there_go(terminal: Terminal, name: str) -> None:
    terminal.ok("init", name, "--no-user", "--no-hooks")
    server = everything(terminal.folder)
    assert "hook_process" not in str(server)
    assert terminal.json("init")["clients"][NAMES.index(name)]["project"]["hooks"] is False
    assert "without hooks" in terminal.ok("init")

    added = terminal.json("init", name, "--no-user")
    assert (added["outcome"], added["hooks"]) == ("connected", list(HOOK_SETUPS[name].events))
    assert terminal.json("init")["clients"][NAMES.index(name)]["project"]["hooks"] is True
    assert terminal.json("init", name, "--no-user")["outcome"] == "already connected"

    removed = terminal.json("init", name, "--no-user", "--no-hooks")
    assert (removed["changed"], removed["hooks"]) == (True, [])
    assert everything(terminal.folder) == server


def test_server_and_hooks_are_shown_together_and_confirmed_once(terminal: Terminal) -> None:
    done = terminal.answered("n\n", "init", "claude")
    assert done.stdout.count("[Y/n]") == 1
    assert done.stdout.index(".mcp.json (new file)") < done.stdout.index(".claude/settings.local.json (new file)")
    assert '"SessionStart": [{"hooks": [' in done.stdout
    assert not (terminal.folder / ".mcp.json").exists()
    assert not (terminal.folder / ".claude").exists()


def test_nothing_is_written_if_one_of_the_files_is_read_only(terminal: Terminal) -> None:
    settings = terminal.folder / ".claude" / "settings.local.json"
    settings.parent.mkdir()
    settings.write_text("{}")
    settings.chmod(0o444)
    assert "read-only" in terminal.run("init", "claude").stderr
    assert not (terminal.folder / ".mcp.json").exists()


def test_hooks_of_others_stay_and_are_not_shown(terminal: Terminal) -> None:
    settings = terminal.folder / ".claude" / "settings.local.json"
    settings.parent.mkdir()
    theirs = '{\n  "hooks": {\n    "Stop": [{"hooks": [{"type": "command", "command": "their-check"}]}]\n  }\n}'
    settings.write_text(theirs)
    assert "their-check" not in terminal.ok("init", "claude")
    first, ours = hooks_in(settings)["Stop"]
    assert (first["command"], command_of(ours)[-1]) == ("their-check", "claude")
    terminal.ok("init", "claude", "--remove")
    assert settings.read_text() == theirs


def test_a_hook_that_another_machine_wrote_is_replaced_only_when_confirmed(terminal: Terminal) -> None:
    terminal.ok("init", "cursor")
    path = terminal.folder / ".cursor" / "hooks.json"
    path.write_text(path.read_text().replace(sys.executable, "/elsewhere/python"))
    terminal.environment["TREERING_DATA_DIR"] = str(terminal.folder.parent / "other data")
    done = terminal.run("init", "cursor")
    assert (done.returncode, "pass --yes to replace it" in done.stderr) == (1, True)
    terminal.ok("init", "cursor", "--yes")
    assert {Path(command_of(hook)[0]).name for [hook] in hooks_in(path).values()} == {Path(sys.executable).name}
    assert "/elsewhere/python" not in path.read_text()


def test_gemini_gets_commands_that_go_with_the_hooks(terminal: Terminal) -> None:
    terminal.ok("init", "gemini")
    folder = terminal.folder / ".gemini" / "commands" / "treering"
    assert sorted(path.name for path in folder.iterdir()) == ["forget.toml", "memory.toml", "remember.toml"]
    terminal.ok("init", "gemini", "--no-hooks")
    assert [path.name for path in (terminal.folder / ".gemini").iterdir()] == ["settings.json"]


def test_the_plug_in_is_written_whole_and_removed_whole(terminal: Terminal, home: Path) -> None:
    before = everything(terminal.folder, home)
    folder = terminal.folder / "my plug-in"
    told = terminal.json("init", "claude", "--plugin", "my plug-in")
    assert (told["for"], told["path"], told["outcome"]) == ("plugin", str(folder), "connected")
    assert f"claude --plugin-dir '{folder}'" in told["next"][0]
    written = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert written == {
        ".claude-plugin/plugin.json",
        ".mcp.json",
        "hooks/hooks.json",
        "commands/remember.md",
        "commands/memory.md",
        "commands/forget.md",
        "skills/treering/SKILL.md",
    }
    assert tuple(hooks_in(folder / "hooks" / "hooks.json")) == HOOK_SETUPS["claude"].events
    assert "already connected" in terminal.ok("init", "claude", "--plugin", "my plug-in")
    terminal.ok("init", "claude", "--plugin", "my plug-in", "--remove")
    assert everything(terminal.folder, home) == before


def test_a_file_of_the_plug_in_that_was_edited_is_kept_until_confirmed(terminal: Terminal) -> None:
    terminal.ok("init", "claude", "--plugin", "plugin")
    edited = terminal.folder / "plugin" / "commands" / "forget.md"
    edited.write_text("mine")
    for arguments in ((), ("--remove",)):
        assert "pass --yes" in terminal.run("init", "claude", "--plugin", "plugin", *arguments).stderr
        assert edited.read_text() == "mine"
    terminal.ok("init", "claude", "--plugin", "plugin", "--remove", "--yes")
    assert not edited.exists()
