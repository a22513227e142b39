"""Our hooks in the files of clients: beside those of others, in any style, and gone without a trace."""

import json
from pathlib import Path
from typing import Any

import pytest

from treering.core.errors import ClientFileUnusable
from treering.interfaces.client_configs.apply import apply_changes
from treering.interfaces.client_configs.connection import ChangeOutcome, ConfigChange, ConfigFile, planned_change
from treering.interfaces.client_configs.hooks import HOOK_SETUPS
from treering.interfaces.client_configs.ledger import Ledger
from treering.interfaces.client_configs.machine import ConfigScope, Machine
from treering.interfaces.client_configs.table import CLIENTS, NAMES
from treering.interfaces.hooks.agents import AGENTS

COMMAND = ["/opt/bin/python", "-I", "-S", "/opt/treering/hook_process.py", "claude"]
HOOK = {"type": "command", "command": COMMAND[0], "args": COMMAND[1:], "timeout": 10}
THEIRS = {"type": "command", "command": "their-check", "timeout": 60}


class HooksFile:
    """A file with the hooks of Claude Code, or of another client."""

    def __init__(self, folder: Path, name: str = "claude") -> None:
        self.setup = HOOK_SETUPS[name]
        self.path = folder / "settings.json"
        self.ledger = Ledger(folder / "kept")

    def install(self, command: list[str] | None = COMMAND) -> ConfigChange:
        change = planned_change(ConfigFile(self.path, self.setup.parts(command), self.setup.initial), self.ledger)
        apply_changes([change], self.ledger)
        return change

    def remove(self) -> ConfigChange:
        return self.install(None)

    def hooks(self) -> dict[str, Any]:
        hooks: dict[str, Any] = json.loads(self.path.read_text())["hooks"]
        return hooks


@pytest.fixture
def file(tmp_path: Path) -> HooksFile:
    return HooksFile(tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_every_client_has_a_setup_with_hooks_that_the_hook_process_knows(name: str) -> None:
    setup = HOOK_SETUPS[name]
    assert setup.agent is AGENTS[name]
    assert set(setup.events) <= set(AGENTS[name].hooks)
    assert [event for event in setup.events if event.lower().startswith(("pretool", "beforetool"))] == []


def test_hooks_of_a_project_and_of_a_user_are_in_the_files_of_the_client() -> None:
    machine = Machine(Path("/shop"), Path("/home/zoe"), {"CODEX_HOME": "/codex"}, "linux")
    files = {
        client.name: [str(client.hooks.file(machine, scope)) for scope in (ConfigScope.PROJECT, ConfigScope.USER)]
        for client in CLIENTS
    }
    assert files == {
        "claude": ["/shop/.claude/settings.local.json", "/home/zoe/.claude/settings.json"],
        "codex": ["/shop/.codex/hooks.json", "/codex/hooks.json"],
        "gemini": ["/shop/.gemini/settings.json", "/home/zoe/.gemini/settings.json"],
        "cursor": ["/shop/.cursor/hooks.json", "/home/zoe/.cursor/hooks.json"],
        "vscode": ["/shop/.github/hooks/treering.json", "/home/zoe/.copilot/hooks/treering.json"],
    }


def test_a_new_file_has_one_line_for_each_event(file: HooksFile) -> None:
    file.install()
    assert file.hooks() == {event: [{"hooks": [HOOK]}] for event in file.setup.events}
    assert len(file.path.read_text().splitlines()) == len(file.setup.events) + 4
    assert file.install().outcome is ChangeOutcome.ALREADY
    assert file.remove().outcome is ChangeOutcome.REMOVED
    assert not file.path.exists()


def test_the_file_of_cursor_gets_the_version_that_it_needs_only_if_it_is_new(tmp_path: Path) -> None:
    file = HooksFile(tmp_path, "cursor")
    file.install()
    assert json.loads(file.path.read_text())["version"] == 1
    file.remove()
    file.path.write_text('{"hooks": {}}')
    file.install()
    assert "version" not in json.loads(file.path.read_text())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "{\n}\n",
        '{"hooks": {}}',
        '{\r\n\t"hooks": {\r\n\t\t"Stop": []\r\n\t}\r\n}\r\n',
        '{\n  // mine\n  "hooks": {\n    "Stop": [ /* none yet */ ],\n  },\n}',
        '{"model": "x", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a"}]}]}, "last": 1}',
        '\ufeff{\n    "hooks": {\n        "Stop": [\n            {"hooks": []}, // theirs\n        ]\n    }\n}',
    ],
)
def test_a_file_in_any_style_is_restored(file: HooksFile, text: str) -> None:
    file.path.write_bytes(text.encode())
    file.install()
    after = file.path.read_bytes().decode()
    assert ("\r\n" in after) is ("\r\n" in text)
    assert "\n" not in after.replace("\r\n", "") or "\r\n" not in text
    file.install([*COMMAND, "--project", "shop"])
    file.remove()
    assert file.path.read_bytes().decode() == text


def test_hooks_of_others_in_the_same_array_stay_where_they_are(file: HooksFile) -> None:
    file.path.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [THEIRS]}], "Notification": [{"hooks": [THEIRS]}]}}))
    change = file.install()
    assert file.hooks()["Stop"] == [{"hooks": [THEIRS]}, {"hooks": [HOOK]}]
    assert file.hooks()["Notification"] == [{"hooks": [THEIRS]}]
    assert not change.replaces_foreign
    assert "their-check" not in "\n".join(change.lines)


def test_a_hook_that_was_added_to_our_group_stays_when_ours_is_removed(file: HooksFile) -> None:
    file.install()
    hooks = file.hooks()
    hooks["Stop"][0]["hooks"].insert(0, THEIRS)
    hooks["PostToolUse"][0]["matcher"] = "Bash"
    file.path.write_text(json.dumps({"hooks": hooks}, indent=4))
    assert file.install().outcome is ChangeOutcome.ALREADY
    file.remove()
    assert json.loads(file.path.read_text()) == {"hooks": {"Stop": [{"hooks": [THEIRS]}]}}


def test_an_interpreter_that_moved_is_followed_also_if_the_client_rewrote_the_file(file: HooksFile) -> None:
    file.install()
    file.path.write_text(json.dumps({"permissions": {}, **json.loads(file.path.read_text())}, indent=8))
    change = file.install(["/new/python", *COMMAND[1:]])
    assert (change.outcome, change.replaces_foreign) == (ChangeOutcome.CONNECTED, False)
    assert {group["hooks"][0]["command"] for [group] in file.hooks().values()} == {"/new/python"}
    file.remove()
    assert json.loads(file.path.read_text()) == {"permissions": {}}


def test_a_hook_of_ours_that_was_edited_is_replaced_only_when_confirmed(file: HooksFile) -> None:
    file.install()
    file.path.write_text(file.path.read_text().replace('"timeout": 10', '"timeout": 20', 1))
    assert file.install().replaces_foreign
    assert file.hooks()["SessionStart"] == [{"hooks": [HOOK]}]


def test_hooks_of_another_installation_come_back(file: HooksFile) -> None:
    other = json.dumps({"hooks": {"Stop": [{"hooks": [HOOK | {"command": "/elsewhere/python"}]}]}})
    file.path.write_text(other)
    assert file.install().outcome is ChangeOutcome.REPLACED
    file.path.write_text(file.path.read_text().replace("{", '{"x": 1, ', 1))
    file.remove()
    assert json.loads(file.path.read_text()) == {"x": 1, **json.loads(other)}


def test_two_hooks_of_ours_become_one(file: HooksFile) -> None:
    file.path.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [HOOK, HOOK]}, {"hooks": [HOOK]}]}}))
    file.install()
    assert file.hooks()["Stop"] == [{"hooks": [HOOK]}]


@pytest.mark.parametrize("text", ['{"hooks": []}', '{"hooks": {"Stop": {}}}', '{"hooks": null}', "[]", "oh no"])
def test_a_file_that_the_client_could_not_read_is_left_alone(file: HooksFile, text: str) -> None:
    file.path.write_text(text)
    with pytest.raises(ClientFileUnusable):
        file.install()
    assert file.path.read_text() == text


def test_a_link_stays_a_link(file: HooksFile, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles.json"
    target.write_text("{}\n")
    file.path.symlink_to(target)
    file.install()
    assert (file.path.is_symlink(), "hook_process" in target.read_text()) == (True, True)
    file.remove()
    assert (file.path.is_symlink(), target.read_text()) == (True, "{}\n")


def test_a_read_only_file_is_refused(file: HooksFile) -> None:
    file.path.write_text("{}")
    file.path.chmod(0o444)
    with pytest.raises(ClientFileUnusable, match="read-only"):
        file.install()
    assert file.path.read_text() == "{}"


@pytest.mark.parametrize("element", [1, None, "x", {"hooks": 1}, {"hooks": [1, None]}, {"hooks": [{"args": 3}]}, []])
def test_elements_of_unknown_form_are_theirs(file: HooksFile, element: Any) -> None:
    text = json.dumps({"hooks": {"Stop": [element]}})
    file.path.write_text(text)
    file.install()
    assert file.hooks()["Stop"] == [element, {"hooks": [HOOK]}]
    file.remove()
    assert file.path.read_text() == text


def test_secrets_beside_our_hooks_are_neither_shown_nor_stored(file: HooksFile) -> None:
    secret = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
    file.path.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [THEIRS | {"command": secret}]}], "zz": [secret]}}))
    change = file.install()
    assert secret not in "\n".join(change.lines)
    assert secret not in "".join(note.read_text() for note in file.ledger.folder.iterdir())
