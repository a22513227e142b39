"""Commands that need a process: run side by side, without a stream, interrupted, on a screen, in another locale."""

import json
import os
import pty
import signal
import sys
import time
from pathlib import Path

import pytest

import treering
from tests.e2e.terminal import Terminal

HEAVY = {"sqlalchemy", "pydantic", "alembic", "rich", "numpy", "httpx", "tokenizers"}


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path, {"TREERING_DB": str(tmp_path / "memory.db"), "TMPDIR": str(tmp_path)})


def test_the_installed_command_ends_with_its_exit_code(terminal: Terminal) -> None:
    done = terminal.run_shell("treering --version; treering turn x; echo $?; treering get nope --json; echo $?")
    assert done.stdout.decode() == f"treering {treering.__version__}\n2\n1\n"
    wrong_usage, not_found = done.stderr.decode().splitlines()
    assert wrong_usage.startswith("error: ")
    assert json.loads(not_found)["kind"] == "NotFound"


@pytest.mark.parametrize(("words", "completed"), [("rememb", "remember"), ("remember --ty", "--type")])
def test_a_shell_completes_commands_and_options(terminal: Terminal, words: str, completed: str) -> None:
    position = words.count(" ") + 1
    done = terminal.run_shell(
        f'COMP_WORDS="treering {words}" COMP_CWORD={position} _TREERING_COMPLETE=complete_bash treering'
    )
    assert done.stdout.decode().split() == [completed]


def test_two_terminals_at_once_lose_nothing(terminal: Terminal) -> None:
    loop = 'for i in 1 2 3; do treering remember "$0 $i" --id "$0-$i" --json || exit 1; done'
    done = terminal.run_shell(f"bash -c '{loop}' left & left=$!; bash -c '{loop}' right && wait $left", forked=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert terminal.json("stats")["records"]["knowledge"] == 6


def test_several_that_connect_a_client_at_once_leave_one_entry_and_the_way_back(tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    (shop / ".git").mkdir(parents=True)
    path = shop / ".mcp.json"
    path.write_text('{\n    "mcpServers": {"a": {}}\n}')
    before = path.read_bytes()
    terminal = Terminal(shop, {"HOME": str(tmp_path), "TREERING_DATA_DIR": str(tmp_path / "data")})
    started = [terminal.start_process("init", "claude", "--json") for _ in range(4)]
    for process in started:
        complaint = process.communicate(timeout=60)[1].decode()
        assert process.returncode == 0 or json.loads(complaint)["kind"] == "Conflict"
    assert list(json.loads(path.read_text())["mcpServers"]) == ["a", "treering"]
    terminal.ok("init", "claude", "--remove")
    assert path.read_bytes() == before


def test_a_closed_pipe_is_no_event(terminal: Terminal) -> None:
    terminal.ok("remember", "-", "--id", "long", stdin=b"x " * 200_000)
    # `true` reads nothing and has ended before the command writes, so that every write fails.
    done = terminal.run_shell(
        'for command in "export -" "get long"; do treering $command | true; echo ${PIPESTATUS[0]}; done'
    )
    assert (done.stdout, done.stderr) == (b"1\n1\n", b"")


def test_output_that_cannot_be_written_is_said_or_let_go(terminal: Terminal) -> None:
    done = terminal.run_shell(
        'treering stats >/dev/full; echo "ended with $?" >&2; treering stats >&-; echo "ended with $?" >&2'
    )
    complaint, *endings = done.stderr.decode().splitlines()
    assert "cannot write to stdout" in complaint
    assert endings == ["ended with 1", "ended with 0"]


def test_an_interrupted_import_says_nothing_and_stores_nothing(terminal: Terminal) -> None:
    terminal.ok("remember", "carried over", "--id", "k")
    lines = terminal.ok("export", "-").encode()
    process = terminal.start_process("import", "-", "--project", "other", stdin=-1)
    assert process.stdin is not None
    process.stdin.write(lines)
    process.stdin.flush()
    while not list(terminal.folder.glob("treering-stdin-*")):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=30) == (b"", b"")
    assert process.returncode == 130
    assert terminal.json("stats", "--project", "other")["records"]["knowledge"] == 0
    assert not list(terminal.folder.glob("treering-stdin-*"))


def test_embed_shows_a_bar_on_a_terminal(terminal: Terminal) -> None:
    terminal.ok("remember", "Deploy from main")
    screen, theirs = pty.openpty()
    process = terminal.start_process("embed", "--json", stderr=theirs)
    os.close(theirs)
    out, _ = process.communicate(timeout=60)
    shown = os.read(screen, 65536).decode()
    os.close(screen)
    assert "1/1" in shown
    assert json.loads(out)["embedded"] == 1


NASTY = "a\x7fb\x9b31mc\u202ed\u2066e\u200ff Größe \x1b]0;title\x07"


@pytest.mark.parametrize("command", ["get k --json", "search Größe --json", "get k", "export -"])
def test_a_terminal_gets_nothing_that_it_would_obey(terminal: Terminal, command: str) -> None:
    terminal.ok("remember", NASTY, "--id", "k")
    screen, theirs = pty.openpty()
    process = terminal.start_process(*command.split(), stdout=theirs)
    os.close(theirs)
    process.communicate(timeout=60)
    shown = os.read(screen, 65536).decode()
    os.close(screen)
    assert "Größe" in shown
    assert not set(shown) & set("\x7f\x9b\u202e\u2066\u200f\x07")
    assert "\x1b]" not in shown
    if command == "get k --json":
        assert json.loads(shown)["content"] == NASTY


def test_a_program_gets_json_as_it_is(terminal: Terminal) -> None:
    terminal.ok("remember", NASTY, "--id", "k")
    document = terminal.ok("get", "k", "--json")
    assert "\u202e" in document
    assert json.loads(document)["content"] == NASTY


def test_an_encoding_that_cannot_show_everything_costs_only_those_characters(terminal: Terminal) -> None:
    terminal.ok("remember", "Größe in Zoll", "--id", "k")
    ascii_only = Terminal(terminal.folder, terminal.environment | {"PYTHONIOENCODING": "ascii"})
    done = ascii_only.run_shell("treering get k; treering get k --json")
    shown, document = done.stdout.decode().rsplit("\n", 2)[:2]
    assert (done.returncode, done.stderr) == (0, b"")
    assert "Gr??e in Zoll" in shown
    assert json.loads(document)["content"] == "Größe in Zoll"


def test_help_stays_short_because_nothing_heavy_is_imported(terminal: Terminal) -> None:
    asked = f"import sys, treering.interfaces.cli.app; print({HEAVY} & set(sys.modules))"
    assert terminal.run_shell(f'"{sys.executable}" -c "{asked}"').stdout == b"set()\n"
