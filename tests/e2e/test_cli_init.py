"""`treering init` connects coding agents, and asks first on a terminal."""

import json
import os
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.terminal import COMMAND, Terminal
from treering.interfaces.client_configs.hooks import HOOK_SETUPS

NAMES = ("claude", "codex", "gemini", "cursor", "vscode")
FILES = {
    "claude": (".mcp.json", ".claude.json"),
    "codex": (".codex/config.toml", ".codex/config.toml"),
    "gemini": (".gemini/settings.json", ".gemini/settings.json"),
    "cursor": (".cursor/mcp.json", ".cursor/mcp.json"),
    "vscode": (".vscode/mcp.json", ".config/Code/User/mcp.json"),
}
TABLES = {"codex": "mcp_servers", "vscode": "servers"}
ELSEWHERE = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME", "VIRTUAL_ENV", "CONDA_PREFIX")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def terminal(tmp_path: Path, home: Path) -> Terminal:
    """Somebody in a repository, with an empty home."""
    shop = tmp_path / "shop"
    (shop / ".git").mkdir(parents=True)
    environment = dict.fromkeys(ELSEWHERE, "") | {"HOME": str(home), "TREERING_DATA_DIR": str(tmp_path / "data")}
    return Terminal(shop, environment | {"PATH": f"{Path(COMMAND).parent}:{os.defpath}"})


def said(path: Path) -> Any:
    return tomllib.loads(path.read_text()) if path.suffix == ".toml" else json.loads(path.read_text())


def entry_in(path: Path, name: str) -> Any:
    return said(path)[TABLES.get(name, "mcpServers")]["treering"]


def everything(*folders: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for top in folders for path in top.rglob("*")}


def umask() -> int:
    """That of this process, which those that it starts have too."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("user", [False, True])
def test_each_client_is_connected_once_and_leaves_no_trace_when_removed(
    terminal: Terminal, home: Path, name: str, user: bool
) -> None:
    flag = "--user" if user else "--no-user"
    path = (home if user else terminal.folder) / FILES[name][user]
    before = everything(terminal.folder, home)

    shown = terminal.ok("init", name, flag)
    assert '"treering"' in shown or "[mcp_servers.treering]" in shown
    entry = entry_in(path, name)
    assert (entry["command"], entry["args"][0]) == ("treering", "mcp")

    written = everything(terminal.folder, home)
    assert "already connected" in terminal.ok("init", name, flag)
    assert everything(terminal.folder, home) == written

    assert "disconnected" in terminal.ok("init", name, flag, "--remove")
    assert everything(terminal.folder, home) == before


def test_the_survey_says_who_is_here_and_how_each_stands(terminal: Terminal, home: Path) -> None:
    terminal.environment["PATH"] = str(Path(COMMAND).parent)
    (home / ".codex").mkdir()
    (terminal.folder / ".cursor").mkdir()
    (terminal.folder / ".cursor" / "mcp.json").write_text("oh no")
    terminal.ok("init", "claude")

    clients = {each["client"]: each for each in terminal.json("init")["clients"]}
    assert list(clients) == list(NAMES)
    assert {name: each["found"] for name, each in clients.items()} == {
        "claude": True,
        "codex": True,
        "gemini": False,
        "cursor": True,
        "vscode": False,
    }
    assert clients["claude"]["project"] == {
        "path": str(terminal.folder / ".mcp.json"),
        "connected": True,
        "hooks": True,
        "refused": None,
    }
    assert clients["claude"]["user"]["connected"] is False
    assert "is not JSON" in clients["cursor"]["project"]["refused"]

    printed = terminal.ok("init")
    assert "connected in this project with hooks" in printed
    assert "not connected  treering init codex" in printed
    assert "treering init claude" not in printed


def test_a_program_hears_everything_in_one_document(terminal: Terminal) -> None:
    told = terminal.json("init", "claude", "--db", "shop.db", "--project", "shop", "--dry-run")
    place = str(terminal.folder / "shop.db")
    assert told == {
        "client": "claude",
        "for": "project",
        "path": str(terminal.folder / ".mcp.json"),
        "outcome": "connected",
        "changed": False,
        "dry_run": True,
        "lines": told["files"][0]["lines"] + told["files"][1]["lines"],
        "files": told["files"],
        "hooks": list(HOOK_SETUPS["claude"].events),
        "elsewhere": None,
        "entry": {
            "type": "stdio",
            "command": "treering",
            "args": ["mcp", "--db", place, "--project", "shop"],
            "alwaysLoad": True,
        },
        "memory": None,
        "next": told["next"],
    }
    assert not (terminal.folder / ".mcp.json").exists()
    assert terminal.json("init", "claude")["changed"] is True
    assert terminal.json("init", "claude")["outcome"] == "already connected"
    assert terminal.json("init", "claude", "--remove")["outcome"] == "removed"


def test_a_dry_run_only_shows(terminal: Terminal, home: Path) -> None:
    before = everything(terminal.folder, home)
    assert '+     "treering": {' in terminal.ok("init", "gemini", "--dry-run")
    assert everything(terminal.folder, home, terminal.folder.parent / "data") == before


def test_the_project_is_the_repository_around(terminal: Terminal) -> None:
    (terminal.folder / "src").mkdir()
    Terminal(terminal.folder / "src", terminal.environment).ok("init", "claude")
    assert (terminal.folder / ".mcp.json").exists()


def test_an_entry_that_says_something_else_is_replaced_only_when_told(terminal: Terminal) -> None:
    path = terminal.folder / ".mcp.json"
    theirs = '{"mcpServers": {"treering": {"command": "mine"}}}'
    path.write_text(theirs)
    done = terminal.run("init", "claude")
    assert done.returncode == 1
    assert "pass --yes to replace it" in done.stderr
    assert '- "treering": {"command": "mine"}' in done.stdout
    assert path.read_text() == theirs

    terminal.ok("init", "claude", "--yes")
    assert entry_in(path, "claude")["args"] == ["mcp"]
    terminal.ok("init", "claude", "--remove")
    assert path.read_text() == theirs

    done = terminal.run("init", "claude", "--remove")
    assert (done.returncode, "pass --yes to remove it" in done.stderr) == (1, True)
    assert path.read_text() == theirs
    terminal.ok("init", "claude", "--remove", "--yes")
    assert said(path) == {"mcpServers": {}}


def test_nothing_to_take_out_is_no_mishap(terminal: Terminal) -> None:
    assert "there is no entry to remove" in terminal.ok("init", "claude", "--remove")


def test_what_will_be_a_long_line_is_shown_as_one(terminal: Terminal) -> None:
    (terminal.folder / ".mcp.json").write_text('{"mcpServers": {}}')
    assert (
        '  + "treering": {"type": "stdio", "command": "treering", "args": ["mcp"], "alwaysLoad": true}\n'
        in terminal.ok("init", "claude")
    )


@pytest.mark.parametrize(
    ("name", "there", "asked"), [("claude", "--user", "--no-user"), ("codex", "--no-user", "--user")]
)
def test_an_entry_for_others_than_asked_is_told_of(terminal: Terminal, name: str, there: str, asked: str) -> None:
    path = terminal.json("init", name, there)["path"]
    advice = f"`treering init {name} {there} --remove`"
    told = terminal.ok("init", name, "--remove", asked)
    assert "there is no entry to remove" in told
    assert advice in " ".join(told.split())
    assert terminal.json("init", name, "--remove", asked)["elsewhere"] == path

    connected = terminal.json("init", name, asked)
    assert "connected in this project with hooks and for all your projects with hooks" in terminal.ok("init")
    assert (connected["elsewhere"], advice in connected["next"][-1]) == (path, True)
    assert terminal.json("init", name, there, "--remove")["outcome"] == "removed"
    assert terminal.json("init", name, asked, "--remove")["elsewhere"] is None


def test_the_file_of_a_user_can_be_read_by_nobody_else(terminal: Terminal, home: Path) -> None:
    terminal.ok("init", "claude", "--user")
    terminal.ok("init", "claude")
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (home / ".claude.json", terminal.folder / ".mcp.json")]
    assert modes == [0o600, 0o666 & ~umask()]


def test_where_a_link_leads_is_shown(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "dotfile").write_text("{}")
    (terminal.folder / ".mcp.json").symlink_to(tmp_path / "dotfile")
    assert f".mcp.json → {tmp_path}/dotfile" in terminal.ok("init", "claude", "--dry-run").replace("\n", "")


def test_what_vs_code_may_not_fill_in_is_told_of_where_that_matters(terminal: Terminal) -> None:
    told = terminal.json("init", "vscode", "--user", "--dry-run", "--no-hooks")["next"]
    assert "`workspaceFolder` cannot be resolved" in told[-1]
    assert told[:-1] == terminal.json("init", "vscode", "--dry-run", "--no-hooks")["next"]


def test_where_the_bare_name_is_another_program_the_whole_path_is_written(terminal: Terminal) -> None:
    terminal.environment["PATH"] = os.defpath
    assert "contains a path of this machine" in terminal.ok("init", "claude")
    assert entry_in(terminal.folder / ".mcp.json", "claude")["command"] == COMMAND


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("emacs",), "claude, codex, gemini, cursor, vscode"),
        (("--remove",), "no client is named"),
        (("--user",), "no client is named"),
        (("claude", "--remove", "--in-project"), "--remove cannot be combined with"),
        (("claude", "--remove", "--no-hooks"), "--remove cannot be combined with"),
        (("--no-hooks",), "no client is named"),
        (("codex", "--plugin", "plugin"), "--plugin is for Claude Code"),
        (("claude", "--plugin", "plugin", "--user"), "--plugin cannot be combined with"),
        (("claude", "--db", "postgresql://zoe:p@db/shop"), "set TREERING_DB"),
        (("claude", "--db", "shop.db", "--in-project"), "pass one of the two"),
    ],
)
def test_what_cannot_be_meant_is_refused(terminal: Terminal, arguments: tuple[str, ...], told: str) -> None:
    assert told in terminal.refused("init", *arguments)
    assert not (terminal.folder / ".mcp.json").exists()


def test_somebody_at_a_terminal_sees_the_change_and_is_asked(terminal: Terminal) -> None:
    path = terminal.folder / ".mcp.json"
    done = terminal.answered("n\n", "init", "claude")
    assert (done.returncode, path.exists()) == (1, False)
    assert done.stdout.index('"treering": {') < done.stdout.index("Write this? [Y/n]")
    assert done.stderr == "error: not confirmed; nothing was written\n"

    done = terminal.answered("\n", "init", "claude")
    assert (done.returncode, path.exists()) == (0, True)
    assert "/mcp" in done.stdout

    done = terminal.answered("y\n", "init", "claude", "--remove")
    assert (done.returncode, path.exists()) == (0, False)
    assert "Remove this? [Y/n]" in done.stdout
    assert terminal.answered("", "init", "claude", "--yes").returncode == 0
