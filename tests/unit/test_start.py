"""The short way into `treering mcp` means what the command line means, and is taken only where it does."""

import sys
from pathlib import Path
from typing import Any

import pytest

from treering.interfaces import start
from treering.interfaces.cli.app import app
from treering.interfaces.cli.door import run
from treering.interfaces.start import Place, plain_place


@pytest.mark.parametrize(
    ("arguments", "environment", "place"),
    [
        (["mcp"], {}, Place(None, None, None)),
        (["mcp", "--db", "a.db"], {}, Place(None, "a.db", None)),
        (["mcp", "--project", "p", "--db", "a.db"], {}, Place(None, "a.db", "p")),
        (["mcp"], {"TREERING_DB": "b.db", "TREERING_PROJECT": "q"}, Place(None, "b.db", "q")),
        (["mcp", "--db", "a.db"], {"TREERING_DB": "b.db"}, Place(None, "a.db", None)),
        (["mcp"], {"TREERING_DB": ""}, Place(None, None, None)),
    ],
)
def test_plain_options_are_read_as_the_command_line_reads_them(
    arguments: list[str], environment: dict[str, str], place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[Any]()
    monkeypatch.setattr("treering.interfaces.mcp.stdio.serve_stdio", lambda *given: asked.append(given[:2]))
    for name in ("TREERING_DB", "TREERING_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert plain_place(arguments, environment) == place
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
        ["mcp", "--root", "/no/such/folder"],
    ],
)
def test_everything_else_is_read_by_the_command_line(arguments: list[str]) -> None:
    assert plain_place(arguments, {}) is None


def test_a_root_is_where_the_server_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    assert plain_place(["mcp", "--root", str(tmp_path)], {}) is not None
    assert Path.cwd() == tmp_path


def test_the_command_goes_one_of_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    went = list[str]()
    monkeypatch.setattr("treering.interfaces.mcp.stdio.serve_stdio", lambda *_: went.append("short"))
    monkeypatch.setattr("treering.interfaces.cli.app.main", lambda: went.append("long"))
    for arguments in (["mcp"], ["mcp", "--help"]):
        monkeypatch.setattr(sys, "argv", ["treering", *arguments])
        start.main()
    assert went == ["short", "long"]
