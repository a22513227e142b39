"""A server over stdio answers what it has read, ends with its client, and leaves nothing behind."""

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import psutil
import pytest

import treering
from tests.e2e.terminal import COMMAND
from tests.integration.stdio_server import GREETING, INITIALIZED, PATIENCE, Project, Server, call
from tests.integration.written import assert_healthy
from tests.leftovers import files_left, processes_left
from treering.interfaces.mcp.stdio.printing import envelope, line
from treering.memory import Memory

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
STATS = call(1, "memory_stats")
IMPACT = call(1, "analyze_impact", node="part_1.step_3")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def answers(said: bytes) -> list[Any]:
    return [json.loads(each) for each in said.splitlines()]


def assert_nothing_left(project: Project) -> None:
    assert processes_left(project.home) == []
    assert files_left(project.memories.parent) == []


def record(id: int) -> bytes:
    return call(id, "record_memory", text=f"The gate {id} of the garden is painted green every spring.", type="fact")


def opened(project: Project) -> Memory:
    [found] = project.memories.rglob("memory.db")
    return treering.open(found, project=found.parent.name)


def write_code(project: Project, files: int = 600) -> None:
    """As many files as several processes read at once."""
    source = "\n\n".join(f"def step_{n}(given):\n    return step_{n - 1}(given)" for n in range(1, 40))
    for number in range(files):
        (project.root / f"part_{number}.py").write_text(source)


def until_children(server: Server) -> None:
    give_up = monotonic() + PATIENCE
    while not psutil.Process(server.process.pid).children() and monotonic() < give_up:
        sleep(0.02)
    assert psutil.Process(server.process.pid).children()


# The end of input


def test_what_was_read_is_answered_before_the_end_of_input_counts(project: Project) -> None:
    done = project.piped(GREETING, INITIALIZED, line("tools/list", id=1), record(2), line("ping", id=3))
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
        server.ask(line("completion/complete", id=1))  # nothing that is printed: the SDK has taken over
        assert server.process.stdin is not None
        server.process.stdin.close()
        assert server.ends() == 0
    assert not project.memories.exists()
    assert_nothing_left(project)


def test_a_client_that_leaves_before_it_says_anything_is_fine(project: Project) -> None:
    assert project.piped().returncode == 0
    assert project.piped(shell=f"exec {COMMAND} mcp <&-").returncode == 0
    assert project.piped(shell=f"exec {COMMAND} mcp <&- 2>&-").returncode == 0
    assert_nothing_left(project)


def test_a_request_that_stays_open_does_not_keep_the_server(project: Project) -> None:
    listen = line("subscriptions/listen", envelope("2026-07-28") | {"notifications": {"toolsListChanged": True}}, "a")
    done = project.piped(line("server/discover", envelope("2026-07-28"), 0), listen)
    assert done.returncode == 0
    assert answers(done.stdout)[0]["id"] == 0
    assert_nothing_left(project)


def test_a_question_that_reads_the_code_first_is_answered_though_input_has_ended(project: Project) -> None:
    write_code(project, files=60)
    done = project.piped(GREETING, INITIALIZED, IMPACT)
    assert done.returncode == 0
    assert [each["id"] for each in answers(done.stdout) if "result" in each] == [0, 1]
    # What was read is being embedded: the next server takes that over, and the log of the database with it.
    assert processes_left(project.home) == []
    with opened(project) as memory:
        assert_healthy(memory)


# Signals


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_a_server_that_has_heard_nothing(project: Project, number: signal.Signals) -> None:
    with project.server() as server:
        server.ask(GREETING)
        server.process.send_signal(number)
        assert server.ends() == 128 + number
        assert server.process.stdout is not None
        assert server.process.stdout.read() == b""
    assert server.complaints == b""
    assert_nothing_left(project)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_a_server_at_work(project: Project, number: signal.Signals) -> None:
    with project.server().greeted() as server:
        server.ask(STATS)
        server.process.send_signal(number)
        assert server.ends() == 128 + number
    assert server.complaints == b""
    assert_nothing_left(project)


def test_a_signal_between_writes_loses_nothing_that_was_acknowledged(project: Project) -> None:
    with project.server().greeted() as server:
        heard = [server.ask(record(1))]
        server.say(*(record(id) for id in range(2, 60)))
        heard.append(server.hear())
        server.process.send_signal(signal.SIGTERM)
        assert server.ends() == 128 + signal.SIGTERM
        assert server.process.stdout is not None
        heard += answers(server.process.stdout.read())
    assert_nothing_left(project)
    results = [each["result"] for each in heard if "result" in each]
    acknowledged = [each["structuredContent"]["id"] for each in results if not each["isError"]]
    assert acknowledged
    with opened(project) as memory:
        assert_healthy(memory)
        assert {memory.get(id).id for id in acknowledged} == set(acknowledged)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_readers_of_a_first_index_end_with_the_server(project: Project, number: signal.Signals) -> None:
    write_code(project)
    with project.server().greeted() as server:
        server.say(IMPACT)
        until_children(server)
        server.process.send_signal(number)
        server.ends()
    assert processes_left(project.home) == []
    with opened(project) as memory:
        assert_healthy(memory)


def test_a_signal_ends_a_server_whose_client_does_not_read(project: Project) -> None:
    with project.server().greeted() as server:
        server.say(*(line("tools/list", id=id) for id in range(1, 50)))
        server.process.send_signal(signal.SIGTERM)
        assert server.ends() == 128 + signal.SIGTERM
    assert_nothing_left(project)


# A client that is gone without a word


def test_a_dead_parent_ends_the_server_though_somebody_holds_its_stdin(project: Project) -> None:
    parent = "import subprocess, sys; subprocess.run(sys.argv[1:])"
    with project.server((sys.executable, "-c", parent, COMMAND, "mcp")).greeted() as server:
        server.ask(STATS)
        assert psutil.Process(server.process.pid).children()
        server.process.kill()
        assert processes_left(project.home) == []
    assert_nothing_left(project)


@pytest.mark.parametrize("at_work", [False, True])
def test_a_client_that_no_longer_listens_ends_the_server(project: Project, at_work: bool) -> None:
    with project.server().greeted() as server:
        if at_work:
            server.ask(STATS)
        assert server.process.stdout is not None
        server.process.stdout.close()
        assert server.ends() == 0
    assert_nothing_left(project)


def test_without_a_stdout_there_is_nothing_to_serve(project: Project) -> None:
    done = project.piped(GREETING, shell=f"exec {COMMAND} mcp >&-")
    assert done.returncode == 1
    assert done.stderr.startswith(b"error: stdout is not open")


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
    done = project.piped(GREETING, INITIALIZED, STATS)
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
    assert b"no message of the protocol" in server.complaints
    assert secret not in server.complaints
    assert_nothing_left(project)


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


# Together


def test_two_servers_on_one_project_at_once_both_answer(project: Project) -> None:
    with project.server().greeted() as one, project.server().greeted() as other:
        for server in (one, other):
            server.say(*(record(id) for id in range(1, 11)))
        for server in (one, other):
            heard = [server.hear() for _ in range(10)]
            assert sorted(each["id"] for each in heard) == list(range(1, 11))
            assert not any(each["result"]["isError"] for each in heard), heard
        found = other.ask(call(11, "search_memory", query="which colour is gate 7 of the garden"))
        assert "gate 7" in found["result"]["content"][0]["text"]
        for server in (one, other):
            assert server.process.stdin is not None
            server.process.stdin.close()
            assert server.ends() == 0
    assert_nothing_left(project)


def test_what_keeps_it_from_serving_is_said_as_everywhere(project: Project) -> None:
    done = project.piped(GREETING, STATS, shell=f"mkdir gone; cd gone; rmdir ../gone; exec {COMMAND} mcp")
    assert done.returncode == 1
    assert done.stderr.startswith(b"error: the working directory cannot be read")
    assert_nothing_left(project)


def test_wrong_options_are_refused_as_everywhere(project: Project) -> None:
    assert project.piped(shell=f"exec {COMMAND} mcp --bogus").returncode == 2
    assert project.piped(shell=f"exec {COMMAND} mcp --root /no/such/folder").returncode == 1
    assert b"--root" in subprocess.check_output([COMMAND, "mcp", "--help"], env=project.environment)
