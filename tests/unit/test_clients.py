"""What is written for which client, and where in its file."""

import os
import re
from pathlib import Path

import pytest

from treering.core.errors import InvalidInput, SecretRefused
from treering.interfaces.client_configs import json_text, toml_text
from treering.interfaces.client_configs.command import command_for, is_in_cache, own_script, server_options
from treering.interfaces.client_configs.formats import ConfigUnreadable, with_entry, with_foreign_entry, without_entry
from treering.interfaces.client_configs.machine import ConfigScope, Machine
from treering.interfaces.client_configs.table import CLIENTS, FORWARDED, NAMES, client_named

SERVERS = ("mcpServers", "treering")
TABLES = ("mcp_servers", "treering")
ENTRY = {"command": "treering", "args": ["mcp"]}
SOURCES = Path(__file__).parents[2] / "src" / "treering"


def machine(platform: str = "linux", **variables: str) -> Machine:
    return Machine(Path("/work/shop"), Path("/home/zoe"), variables, platform)


def program(folder: Path) -> Path:
    """A `treering` that can be started."""
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / "treering"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    return script


@pytest.mark.parametrize(
    ("name", "project", "user"),
    [
        ("claude", ".mcp.json", ".claude.json"),
        ("codex", ".codex/config.toml", ".codex/config.toml"),
        ("gemini", ".gemini/settings.json", ".gemini/settings.json"),
        ("cursor", ".cursor/mcp.json", ".cursor/mcp.json"),
        ("vscode", ".vscode/mcp.json", ".config/Code/User/mcp.json"),
    ],
)
def test_each_client_has_a_file_for_a_project_and_one_for_a_user(name: str, project: str, user: str) -> None:
    client = client_named(name)
    assert client.file(machine(), ConfigScope.PROJECT) == Path("/work/shop", project)
    assert client.file(machine(), ConfigScope.USER) == Path("/home/zoe", user)


@pytest.mark.parametrize(
    ("name", "on", "file"),
    [
        ("claude", machine(CLAUDE_CONFIG_DIR="/c"), "/c/.claude.json"),
        ("codex", machine(CODEX_HOME="/c"), "/c/config.toml"),
        ("gemini", machine(GEMINI_CLI_HOME="/c"), "/c/.gemini/settings.json"),
        ("vscode", machine(XDG_CONFIG_HOME="/c"), "/c/Code/User/mcp.json"),
        ("vscode", machine("darwin"), "/home/zoe/Library/Application Support/Code/User/mcp.json"),
        ("vscode", machine("win32", APPDATA="/a"), "/a/Code/User/mcp.json"),
    ],
)
def test_a_client_that_was_told_to_keep_its_files_elsewhere_is_followed(name: str, on: Machine, file: str) -> None:
    assert client_named(name).file(on, ConfigScope.USER) == Path(file)


def test_what_each_client_is_told() -> None:
    inside = ["mcp", "--root", "${workspaceFolder}"]
    stdio = {"type": "stdio", "command": "treering"}
    assert {client.name: client.entry("treering") for client in CLIENTS} == {
        "claude": {**stdio, "args": ["mcp"], "alwaysLoad": True},
        "codex": {**ENTRY, "env_vars": list(FORWARDED)},
        "gemini": ENTRY,
        "cursor": {**stdio, "args": inside},
        "vscode": {**stdio, "args": inside},
    }
    assert client_named("gemini").entry("t", ("--db", "x"))["args"] == ["mcp", "--db", "x"]
    assert [client.name for client in CLIENTS if client.scope is ConfigScope.USER] == ["codex"]


def test_codex_hands_on_every_variable_that_is_read() -> None:
    sources = [path.read_text() for path in SOURCES.rglob("*.py") if path.name != "table.py"]
    read = {name for source in sources for name in re.findall(r"TREERING_[A-Z_]*[A-Z]", source)}
    # Not those of the server that listens on a port, which Codex does not start, nor those of test suites.
    read = {name for name in read if not name.startswith(("TREERING_MCP_", "TREERING_TEST_", "TREERING_TOKEN"))}
    assert read ^ set(FORWARDED) == {"TREERING_DEBUG", "XDG_CONFIG_HOME", "XDG_DATA_HOME"}


def test_a_client_that_nobody_knows_is_refused_with_the_names_of_all() -> None:
    with pytest.raises(InvalidInput, match="claude, codex, gemini, cursor, vscode"):
        client_named("emacs")
    assert NAMES == ("claude", "codex", "gemini", "cursor", "vscode")


def test_a_client_is_found_by_its_program_its_folder_or_its_file(tmp_path: Path) -> None:
    def found(**variables: str) -> list[str]:
        here = Machine(tmp_path / "shop", tmp_path / "home", variables, "linux")
        return [client.name for client in CLIENTS if client.is_found(here)]

    assert found() == []
    program(tmp_path / "bin").rename(tmp_path / "bin" / "gemini")
    (tmp_path / "home" / ".codex").mkdir(parents=True)
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / ".mcp.json").touch()
    assert found(PATH=str(tmp_path / "bin")) == ["claude", "codex", "gemini"]


def test_a_folder_that_nobody_may_look_into_holds_no_client(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(path: object, **_options: object) -> os.stat_result:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "stat", forbidden)
    assert not any(client.is_found(machine()) for client in CLIENTS)


def test_the_bare_name_is_written_where_any_shell_finds_this_program_by_it(tmp_path: Path) -> None:
    mine, other = program(tmp_path / "mine"), program(tmp_path / "other")
    linked = tmp_path / "bin" / "treering"
    linked.parent.mkdir()
    linked.symlink_to(mine)
    assert command_for(mine, {"PATH": f"{linked.parent}:{other.parent}"}) == "treering"
    assert command_for(mine, {"PATH": f"{other.parent}:{linked.parent}"}) == str(mine)
    assert command_for(mine, {}) == str(mine)


def test_an_environment_that_is_active_in_this_terminal_only_does_not_count(tmp_path: Path) -> None:
    script = program(tmp_path / "venv" / "bin")
    assert command_for(script, {"PATH": str(script.parent)}) == "treering"
    active = {"PATH": str(script.parent), "VIRTUAL_ENV": str(tmp_path / "venv")}
    assert command_for(script, active) == str(script)


@pytest.mark.parametrize(
    ("command", "cached"),
    [
        ("/home/zoe/.cache/uv/archive-v0/x1/bin/treering", True),
        ("/Users/zoe/Library/Caches/uv/x1/bin/treering", True),
        ("/home/zoe/.local/bin/treering", False),
        ("treering", False),
    ],
)
def test_a_program_that_was_fetched_for_one_run_is_known(command: str, cached: bool) -> None:
    assert is_in_cache(command) is cached


def test_this_program_is_the_one_that_was_called_else_the_one_that_was_installed(tmp_path: Path) -> None:
    called, installed = program(tmp_path / "called"), program(tmp_path / "installed")
    assert own_script(str(called), installed.parent) == called
    assert own_script("/usr/bin/python3", installed.parent) == installed
    with pytest.raises(InvalidInput, match="install the package"):
        own_script("-c", tmp_path)


def test_a_memory_that_is_named_is_named_in_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert server_options("a.db", "shop") == ("--db", str(tmp_path / "a.db"), "--project", "shop")
    assert server_options("postgresql://zoe@db/shop", None) == ("--db", "postgresql://zoe@db/shop")
    assert server_options("sqlite:///a.db", None) == ("--db", str(tmp_path / "a.db"))
    assert server_options(None, None) == ()


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://zoe:hunter2hunter2@db/shop",
        "postgresql://zoe:password@db/shop",
        "postgresql://zoe:p@db/shop",
        "postgresql://zoe:correct horse@db/shop",
        "postgresql://zoe:a/b?c#d@db/shop",
        "postgres://:p@db",
        "postgresql://zoe@db/shop?password=abc",
        "postgresql://db/shop?sslmode=require&ssl%70assword=abc",
        "postgresql://db/shop?PASSWORD=abc",
    ],
)
def test_no_password_gets_into_a_file(url: str) -> None:
    with pytest.raises(SecretRefused, match="set TREERING_DB"):
        server_options(url, None)


@pytest.mark.parametrize(
    "url", ["postgresql://zoe@db:5432/shop", "postgresql://zoe:@db/shop", "postgresql://db/shop?passfile=/run/x"]
)
def test_a_url_without_one_does(url: str) -> None:
    assert server_options(url, None) == ("--db", url)


@pytest.mark.parametrize(
    ("db", "told"),
    [("/tmp/\udcff.db", "not UTF-8"), (" ", "is empty"), ("mysql://db/shop", "mysql: URLs are not supported")],
)
def test_a_memory_that_could_not_be_opened_is_not_written(db: str, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        server_options(db, None)


# What files look like afterwards. The property tests say that nothing else moves; these, that it looks well.

JSON_CASES = {
    "a file of its own": ("", '{\n  "mcpServers": {\n    "treering": {"c": 1}\n  }\n}\n'),
    "after the last server, whose comment stays with it": (
        '{\n\t"mcpServers": {\n\t\t"a": {} // first\n\t}\n}',
        '{\n\t"mcpServers": {\n\t\t"a": {}, // first\n\t\t"treering": {"c": 1}\n\t}\n}',
    ),
    "commas at the end stay at the end": (
        '{\r\n    "mcpServers": {\r\n        "a": {},\r\n    },\r\n}\r\n',
        '{\r\n    "mcpServers": {\r\n        "a": {},\r\n        "treering": {"c": 1},\r\n    },\r\n}\r\n',
    ),
    "an empty table is opened up": (
        '{\n  "mcpServers": {},\n  "x": 1\n}',
        '{\n  "mcpServers": {\n    "treering": {"c": 1}\n  },\n  "x": 1\n}',
    ),
    "a new table stands last": (
        '{\n  "x": 1\n}\n',
        '{\n  "x": 1,\n  "mcpServers": {\n    "treering": {"c": 1}\n  }\n}\n',
    ),
    "one line stays one line": ('{"mcpServers":{"a":{}}}', '{"mcpServers":{"a":{},"treering":{"c":1}}}'),
    "one line with spaces keeps them": ('{"x": 1}', '{"x": 1, "mcpServers": {"treering": {"c": 1}}}'),
    "of two tables the one that counts": (
        '{"mcpServers":{},"mcpServers":{"a":1}}',
        '{"mcpServers":{},"mcpServers":{"a":1,"treering":{"c":1}}}',
    ),
}


@pytest.mark.parametrize("case", JSON_CASES)
def test_json_is_written_as_its_owner_would(case: str) -> None:
    before, after = JSON_CASES[case]
    written = with_entry(json_text, before, SERVERS, {"c": 1})
    assert re.sub(r'\{\s*"c": 1\s*\}', '{"c": 1}', written) == after


TOML_CASES = {
    "a file of its own": ("", '[mcp_servers.treering]\ncommand = "treering"\nargs = ["mcp"]\n'),
    "at the end, after an empty line": (
        'model = "x"\r\n# end',
        'model = "x"\r\n# end\r\n\r\n[mcp_servers.treering]\r\ncommand = "treering"\r\nargs = ["mcp"]\r\n',
    ),
    "in the place of the one that is there": (
        '[mcp_servers.treering]\ncommand = "old"\n[mcp_servers.treering.env]\nA = "1"\n\n[other]\nx = 1\n',
        '[mcp_servers.treering]\ncommand = "treering"\nargs = ["mcp"]\n\n[other]\nx = 1\n',
    ),
    "an entry in a line becomes a table": (
        '[mcp_servers]\ntreering = { command = "old" }\na = { command = "a" }\n',
        '[mcp_servers]\na = { command = "a" }\n\n[mcp_servers.treering]\ncommand = "treering"\nargs = ["mcp"]\n',
    ),
}


@pytest.mark.parametrize("case", TOML_CASES)
def test_toml_is_written_as_its_owner_would(case: str) -> None:
    before, after = TOML_CASES[case]
    assert with_entry(toml_text, before, TABLES, ENTRY) == after


def test_an_entry_is_taken_out_with_its_comma_and_its_tables() -> None:
    commented = '{"mcpServers": { // mine\n  "treering": {}, "a": 1}}'
    assert without_entry(json_text, commented, SERVERS) == '{"mcpServers": { // mine\n  "a": 1}}'.replace("  ", "   ")
    table = '[a]\nx = 1\n\n# ours\n[mcp_servers.treering]\nenv.A = "1"\n[mcp_servers.treering.tools.b]\ny = 2\n[c]\n'
    assert without_entry(toml_text, table, TABLES) == "[a]\nx = 1\n\n# ours\n[c]\n"


@pytest.mark.parametrize(
    "theirs",
    [
        '[mcp_servers.treering]\r\ncommand = "old"\r\n[mcp_servers.treering.env]\r\nA = 1979-05-27\r\n[o]\r\nx = 1',
        '[other]\nx = 1\n\n[mcp_servers.treering]\ncommand = "old"',
        '[mcp_servers]\ntreering = { command = "old" }\na = { command = "a" }\n',
        '[mcp_servers]\ntreering.command = "old"\n[mcp_servers.a]\ncommand = "a"\n',
        '\ufeffmcp_servers.treering.command = "old"\nx = 1.5\n',
    ],
)
def test_their_table_comes_back_as_they_wrote_it(theirs: str) -> None:
    part = toml_text.part(theirs, TABLES)
    ours = with_entry(toml_text, theirs, TABLES, ENTRY)
    back = with_foreign_entry(toml_text, ours, TABLES, part)
    assert part.strip() in back
    assert toml_text.content(back) == toml_text.content(theirs)


def test_an_entry_that_has_no_place_any_more_is_not_said_to_be_back() -> None:
    with pytest.raises(ConfigUnreadable, match="cannot be edited safely"):
        with_foreign_entry(json_text, '{"mcpServers": {}}', SERVERS, '"treering": {}')


def test_an_edit_that_would_cost_something_else_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_text, "put", lambda *_: '{"mcpServers": {"treering": {"c": 1}}}')
    with pytest.raises(ConfigUnreadable, match="cannot be edited safely"):
        with_entry(json_text, '{"x": 1}', SERVERS, {"c": 1})


def test_their_table_is_not_put_where_it_would_say_something_else() -> None:
    inside, ours = 'treering = { command = "old" }\n', with_entry(toml_text, "x = 1\n", TABLES, ENTRY)
    with pytest.raises(ConfigUnreadable, match="cannot be edited safely"):
        with_foreign_entry(toml_text, ours, TABLES, inside)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"a": 1,\n "b" 2}', "is not JSON \\(line 2"),
        ('{"a": "x', "is not JSON \\(line 1"),
        ('{"a": NaN}', "NaN is not a JSON value"),
        ("[" * 100_000 + "]" * 100_000, "is not JSON"),
        ('["a"]', "not an object"),
        ("'a'", "is not JSON"),
        ('{"mcpServers": []}', "`mcpServers` that is not a table of servers"),
        ('{"mcpServers": null}', "`mcpServers` that is not a table of servers"),
    ],
)
def test_json_that_no_client_could_read_is_left_alone(text: str, told: str) -> None:
    with pytest.raises(ConfigUnreadable, match=told):
        with_entry(json_text, text, SERVERS, ENTRY)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a = \n", "is not TOML"),
        ("mcp_servers = 1\n", "is not a table of servers"),
        ('mcp_servers = { a = { command = "a" } }\n', "cannot be edited safely"),
    ],
)
def test_toml_that_cannot_be_added_to_is_left_alone(text: str, told: str) -> None:
    with pytest.raises(ConfigUnreadable, match=told):
        with_entry(toml_text, text, TABLES, ENTRY)
