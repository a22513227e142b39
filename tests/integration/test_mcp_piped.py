"""A server over stdio answers everything that it has read, and says nothing else."""

import json
import os
import pty
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.e2e.terminal import COMMAND
from tests.integration.stdio_server import (
    GREETING,
    IMPACT,
    INITIALIZED,
    STATS,
    Project,
    answers,
    assert_nothing_left,
    call,
    record,
    serve_impatiently,
)
from tests.integration.written import assert_healthy
from tests.mcp_messages import envelope, line

STARTED = f"exec {COMMAND} mcp"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


# The end of input


def test_what_was_read_is_answered_before_the_end_of_input_counts(project: Project) -> None:
    said = (GREETING, INITIALIZED, line("tools/list", id=1), record(2), line("ping", id=3))
    done = project.piped(*said, shell=STARTED)
    assert done.returncode == 0, done.stderr
    assert sorted(each["id"] for each in answers(done.stdout)) == [0, 1, 2, 3]
    assert all("result" in each for each in answers(done.stdout))
    assert done.stderr == b""
    assert_nothing_left(project)


def test_a_last_line_without_its_end_is_answered_too(project: Project) -> None:
    assert answers(project.piped(GREETING.strip()).stdout)[0]["result"]["serverInfo"]["name"] == "treering"


def test_a_client_that_only_looks_at_the_tools_leaves_no_trace(project: Project) -> None:
    done = project.piped(GREETING, INITIALIZED, line("tools/list", id=1))
    assert (done.returncode, len(answers(done.stdout))) == (0, 2)
    with project.server().greeted() as server:
        server.ask(line("completion/complete", id=1))
        assert server.process.stdin is not None
        server.process.stdin.close()
        assert server.ends() == 0
    assert not project.memories.exists()
    assert_nothing_left(project)


def test_a_client_that_leaves_before_it_says_anything_is_fine(project: Project) -> None:
    assert project.piped().returncode == 0
    assert project.piped(shell=f"{STARTED} <&-").returncode == 0
    assert project.piped(shell=f"{STARTED} <&- 2>&-").returncode == 0
    assert_nothing_left(project)


def test_a_request_that_stays_open_does_not_keep_the_server(project: Project) -> None:
    listen = line("subscriptions/listen", envelope("2026-07-28") | {"notifications": {"toolsListChanged": True}}, "a")
    done = project.piped(line("server/discover", envelope("2026-07-28"), 0), listen)
    assert done.returncode == 0
    assert answers(done.stdout)[0]["id"] == 0
    assert_nothing_left(project)


def test_a_question_that_reads_the_code_first_is_answered_though_input_has_ended(project: Project) -> None:
    project.write_code(files=60)
    done = project.piped(GREETING, INITIALIZED, IMPACT)
    assert done.returncode == 0
    assert [each["id"] for each in answers(done.stdout) if "result" in each] == [0, 1]
    assert_nothing_left(project)
    with project.opened() as memory:
        assert_healthy(memory)


def test_a_piped_request_that_nothing_comes_of_is_told_and_fails(project: Project) -> None:
    """Somebody else writes, and does not end."""
    assert project.piped(GREETING, INITIALIZED, STATS).returncode == 0
    [found] = project.memories.rglob("memory.db")
    with closing(sqlite3.connect(found, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        done = project.piped(GREETING, INITIALIZED, record(1), line("ping", id=2), function=serve_impatiently)
    assert done.returncode == 1
    assert [each["id"] for each in answers(done.stdout)] == [0, 2]
    assert done.stderr.startswith(b"error: 1 request was not answered")


# What comes in and goes out


def test_only_the_protocol_is_on_stdout_whoever_prints(project: Project) -> None:
    (project.home / "sitecustomize.py").write_text(
        "import os, sys\n"
        "class Noise:\n"
        "    @staticmethod\n"
        "    def find_spec(name, path=None, target=None):\n"
        "        if name == 'mcp':\n"
        "            print('printed by a plug-in')\n"
        "            os.system('echo printed by a child; cat')\n"
        "sys.meta_path.insert(0, Noise)\n"
    )
    project.environment["PYTHONPATH"] = str(project.home)
    done = project.piped(GREETING, INITIALIZED, STATS, shell=STARTED)
    assert [each["id"] for each in answers(done.stdout)] == [0, 1]
    assert b"printed by a plug-in" in done.stderr
    assert b"printed by a child" in done.stderr


def test_garbage_is_left_out_and_the_server_lives(project: Project) -> None:
    secret = b"ghp_" + b"a1B2c3D4e5" * 4
    garbage = (b"no JSON " + secret, b"\xff\xfe\x00", b"[1, 2]", b"{}", b"", b"[" * 10_000, b'{"id": 1}')
    with project.server().greeted() as server:
        server.say(*(each + b"\n" for each in garbage))
        assert server.ask(line("ping", id=1)) == {"jsonrpc": "2.0", "id": 1, "result": {}}
        long = server.ask(call(2, "search_memory", query="long " * 1_000_000))
        assert long["id"] == 2
        assert long["result"]["isError"]
        assert "result" in server.ask(call(3, "search_memory", query="half a character: \ud800"))
        assert server.ask(line("tools/call", id=4).replace(b'"2.0"', b'"3.0"'))["error"]["code"] == -32600
        assert "result" in server.ask(call(5, "memory_stats"))
        assert server.process.stdin is not None
        server.process.stdin.close()
        assert server.ends() == 0
    assert b"not a message of the protocol" in server.complaints
    assert secret not in server.complaints
    assert_nothing_left(project)


def test_a_client_that_does_not_read_stderr_is_served(project: Project) -> None:
    unread, complaints = os.pipe()
    try:
        with project.server(stderr=complaints).greeted() as server:
            server.say(*(b"no JSON\n" for _ in range(3_000)))
            assert server.ask(line("ping", id=1))["id"] == 1
            assert "result" in server.ask(call(2, "memory_stats"))
            assert server.process.stdin is not None
            server.process.stdin.close()
            assert server.ends() == 0
        assert_nothing_left(project)
    finally:
        os.close(unread)
        os.close(complaints)


@pytest.mark.parametrize("open", [b"[", b'{"a": '])
def test_a_greeting_that_is_nested_too_deeply_ends_nothing(project: Project, open: bytes) -> None:
    nested = open * 300 + b"1" + {b"[": b"]"}.get(open, b"}") * 300
    deep = GREETING.replace(b'"capabilities": {}', b'"capabilities": {"x": ' + nested + b"}")
    assert deep != GREETING
    with project.server() as server:
        assert server.ask(deep)["error"]["code"] == -32600
        assert server.ask(line("initialize", json.loads(GREETING)["params"], 1))["result"]
        server.say(INITIALIZED)
        assert "result" in server.ask(call(2, "memory_stats"))


def test_a_person_at_a_terminal_is_told_what_this_is(project: Project) -> None:
    keyboard, terminal = pty.openpty()
    try:
        with project.server(stdin=terminal) as server:
            os.write(keyboard, GREETING)
            assert server.hear()["id"] == 0
            os.write(keyboard, b"\x04")
            assert server.ends() == 0
        told = server.complaints.decode().splitlines()
        assert len(told) == 2
        assert "`treering init`" in told[1]
    finally:
        os.close(keyboard)
        os.close(terminal)
