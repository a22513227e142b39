"""`treering init --remove` restores the files of the home and project folders byte for byte."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.agents.script import Run, Say
from tests.agents.shop import FILES
from tests.agents.workplace import Workplace

pytestmark = pytest.mark.agents

Tree = Mapping[str, bytes | None]
"""Content of each file by its path; None for a folder."""

# Codex adds its list of known projects to the user's settings.
_CODEX_PROJECTS = re.compile(rb'\n\[projects\."[^"]*"\]\ntrust_level = "trusted"\n\Z')
# Settings of a user who has hooks and servers of their own, in a format that no program writes.
SETTINGS: Mapping[str, Mapping[str, str]] = {
    "claude": {
        ".claude/settings.local.json": (
            '{ "hooks": {"Stop": [ {"hooks": [{"type":"command", "command":"true"}] } ]},\n\t"env": {"TZ": "UTC"} }'
        ),
        ".mcp.json": '{"mcpServers":{\n\n}}\n',
    },
    "codex": {},
    "gemini": {".gemini/settings.json": '// of the team\n{ "ui": {"hideTips": true} , "hooks": {} }'},
}
HOME_SETTINGS: Mapping[str, Mapping[str, str]] = {
    "claude": {},
    "codex": {".codex/config.toml": '# mine\nmodel_reasoning_effort   = "low"\n\n[tools]\nweb_search = false'},
    "gemini": {},
}


def test_removal_restores_every_byte(unconnected: Workplace) -> None:
    """Nothing but the memory itself stays, if no session was run."""
    _set_up(unconnected)
    before = _tree(unconnected)
    unconnected.treering("init", unconnected.agent.name, "--yes")
    assert _tree(unconnected) != before
    unconnected.treering("init", unconnected.agent.name, "--remove", "--yes")
    assert _tree(unconnected) == before


def test_removal_after_a_session_leaves_only_the_state_of_the_agent(unconnected: Workplace) -> None:
    """Every file that `init` wrote is as it was before, and every file that existed is unchanged.

    The agent's own state files (histories, caches, its list of known projects) are not Treering's to remove.
    """
    _set_up(unconnected)
    before = _tree(unconnected)
    unconnected.treering("init", unconnected.agent.name, "--yes")
    connected = _tree(unconnected)
    written = {path for path in connected.keys() | before.keys() if connected.get(path, 0) != before.get(path, 0)}
    unconnected.session(Run("echo hello"), Say("Done."))
    unconnected.treering("init", unconnected.agent.name, "--remove", "--yes")
    after = _tree(unconnected)
    files = {path for path in written if connected.get(path) is not None}
    assert files
    assert {path: after.get(path) for path in files | before.keys()} == {
        path: before.get(path) for path in files | before.keys()
    }
    unconnected.session(Run("echo hello"), Say("Done."))


def _set_up(workplace: Workplace) -> None:
    name = workplace.agent.name
    workplace.set_up({**FILES, **SETTINGS[name]}, HOME_SETTINGS[name])


def _tree(workplace: Workplace) -> Tree:
    """Both folders without Treering's data, which outlives the connection."""
    found: dict[str, bytes | None] = {}
    for folder in (workplace.home, workplace.project):
        for path in sorted(folder.rglob("*")):
            if not _is_memory(path, workplace):
                found[str(path)] = None if path.is_dir() else _CODEX_PROJECTS.sub(b"", path.read_bytes())
    return found


def _is_memory(path: Path, workplace: Workplace) -> bool:
    data = workplace.data_folder
    return path == data or data in path.parents or path in data.parents
