"""The short way into `treering mcp` means what the command line means, and is taken only where it does."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from treering.interfaces import start
from treering.interfaces.cli.app import app
from treering.interfaces.cli.door import run
from treering.interfaces.mcp.stdio.printing import greeting
from treering.interfaces.start import Place, plain_place

HEAVY = {"mcp", "mcp_types", "pydantic", "anyio", "asyncio", "sqlalchemy", "numpy", "typer", "rich", "logging"}
FIRST_ANSWER = """
import json, os, sys
from treering.interfaces.mcp.stdio.wire import Wire

def write(wire, text):
    os.write(wire.outgoing, text + json.dumps(sorted(sys.modules)).encode())
    os._exit(0)

Wire.write = write
sys.argv[1:] = ["mcp"]
from treering.interfaces.start import main
main()
"""


@pytest.mark.parametrize(
    ("arguments", "environment", "place"),
    [
        (["mcp"], {}, Place(None, None, None)),
        (["mcp", "--db", "a.db"], {}, Place(None, "a.db", None)),
        (["mcp", "--project", "p", "--db", "a.db"], {}, Place(None, "a.db", "p")),
        (["mcp"], {"TREERING_DB": "b.db", "TREERING_PROJECT": "q"}, Place(None, "b.db", "q")),
        (["mcp", "--db", "a.db"], {"TREERING_DB": "b.db"}, Place(None, "a.db", None)),
        (["mcp"], {"TREERING_DB": ""}, Place(None, None, None)),
        (["mcp", "--root", "/", "--db", "a.db"], {}, Place("/", "a.db", None)),
    ],
)
def test_plain_options_are_read_as_the_command_line_reads_them(
    arguments: list[str], environment: dict[str, str], place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[Any]()
    monkeypatch.chdir(".")
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
    ],
)
def test_everything_else_is_read_by_the_command_line(arguments: list[str]) -> None:
    assert plain_place(arguments, {}) is None


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


def test_nothing_heavy_is_loaded_before_the_first_answer() -> None:
    """What a client waits for is seconds on a slow machine, as soon as somebody imports one of these too early."""
    told = subprocess.run([sys.executable, "-c", FIRST_ANSWER], input=greeting("2025-11-25"), stdout=subprocess.PIPE)
    answer, loaded = (json.loads(each) for each in told.stdout.splitlines())
    assert answer["result"]["serverInfo"]["name"] == "treering"
    assert not HEAVY & {name.partition(".")[0] for name in loaded}
    assert not [name for name in loaded if name.startswith(("treering.interfaces.cli", "treering.memory"))]
