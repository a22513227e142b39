"""The short way into `treering mcp` means what the command line means, and is taken only where it does."""

import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from treering.interfaces import start
from treering.interfaces.cli.app import COMMANDS, app
from treering.interfaces.cli.exit_codes import ExitCode, run
from treering.interfaces.start import ServerOptions, plain_options


@pytest.mark.parametrize(
    ("arguments", "environment", "place"),
    [
        (["mcp"], {}, ServerOptions(None, None, None)),
        (["mcp", "--db", "a.db"], {}, ServerOptions(None, "a.db", None)),
        (["mcp", "--project", "p", "--db", "a.db"], {}, ServerOptions(None, "a.db", "p")),
        (["mcp"], {"TREERING_DB": "b.db", "TREERING_PROJECT": "q"}, ServerOptions(None, "b.db", "q")),
        (["mcp", "--db", "a.db"], {"TREERING_DB": "b.db"}, ServerOptions(None, "a.db", None)),
        (["mcp"], {"TREERING_DB": ""}, ServerOptions(None, None, None)),
        (["mcp", "--root", "/", "--db", "a.db"], {}, ServerOptions("/", "a.db", None)),
    ],
)
def test_plain_options_are_read_as_the_command_line_reads_them(
    arguments: list[str], environment: dict[str, str], place: ServerOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[Any]()
    monkeypatch.chdir(".")
    monkeypatch.setattr("treering.interfaces.mcp.stdio.serve_stdio", lambda *given: asked.append(given[:2]))
    for name in ("TREERING_DB", "TREERING_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert plain_options(arguments, environment) == place
    assert run(app, arguments) == 0
    assert asked == [(place.db, place.project)]


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["search", "x"],
        ["mcp", "--help"],
        ["mcp", "--http"],
        ["mcp", "--http", "--db", "a.db"],
        ["mcp", "--db"],
        ["mcp", "--db=a.db"],
        ["mcp", "--db", ""],
        ["mcp", "--db", "--project"],
        ["mcp", "--db", "a", "--db", "b"],
        ["mcp", "--port", "1"],
    ],
)
def test_everything_else_is_read_by_the_command_line(arguments: list[str]) -> None:
    assert plain_options(arguments, {}) is None


def ways(monkeypatch: pytest.MonkeyPatch, *commands: list[str]) -> list[str]:
    """Which way each command goes."""
    went = list[str]()
    monkeypatch.setattr("treering.interfaces.mcp.stdio.serve_stdio", lambda *_: went.append("short"))
    monkeypatch.setattr("treering.interfaces.cli.app.main", lambda: went.append("long"))
    for arguments in commands:
        monkeypatch.setattr(sys, "argv", ["treering", *arguments])
        start.main()
    return went


def test_the_command_goes_one_of_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ways(monkeypatch, ["mcp"], ["mcp", "--help"]) == ["short", "long"]


def test_a_root_is_where_the_server_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    assert ways(monkeypatch, ["mcp", "--root", str(tmp_path)]) == ["short"]
    assert Path.cwd() == tmp_path


def test_a_root_that_cannot_be_entered_is_refused_by_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ways(monkeypatch, ["mcp", "--root", "/no/such/folder"]) == ["long"]


def test_the_list_of_commands_says_what_their_own_help_says() -> None:
    group: Any = typer.main.get_command(app)
    for row in COMMANDS:
        command = group.loaded(row.name)
        first_paragraph = " ".join(command.help.split("\n\n")[0].split())
        assert (command.name, first_paragraph) == (row.name, row.summary)
        assert command.rich_help_panel == row.panel


def test_a_mistyped_command_is_answered_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(app, ["serach", "x"]) == ExitCode.USAGE
    assert "Did you mean 'search'? Run `treering --help`" in capsys.readouterr().err
