"""A server over stdio ends with its client, its parent and on signals, and leaves nothing behind."""

import signal
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

import psutil
import pytest

from tests.e2e.terminal import COMMAND
from tests.integration.stdio_server import (
    GREETING,
    IMPACT,
    PATIENCE,
    STATS,
    Project,
    answers,
    assert_nothing_left,
    call,
    record,
)
from tests.integration.written import assert_healthy
from tests.leftovers import files_left, processes_left
from tests.mcp_messages import line

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def until(happened: Callable[[], bool]) -> None:
    give_up = monotonic() + PATIENCE
    while not happened():
        assert monotonic() < give_up
        sleep(0.002)


# Signals


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_a_server_that_has_only_been_greeted(project: Project, number: signal.Signals) -> None:
    # It is still importing, so this one is not forked.
    with project.server((COMMAND, "mcp")) as server:
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


@pytest.mark.parametrize("later", [0, 0.03, 0.06, 0.1])
def test_a_signal_while_the_memory_is_opened_leaves_nothing_of_it(project: Project, later: float) -> None:
    with project.server().greeted() as server:
        server.say(record(1))
        until(lambda: any(project.memories.rglob("memory.db")))
        sleep(later)
        server.process.send_signal(signal.SIGTERM)
        assert server.ends() == 128 + signal.SIGTERM
    assert server.complaints == b""
    assert_nothing_left(project)


def test_a_signal_that_is_ignored_stays_so(project: Project) -> None:
    with project.server(("sh", "-c", f"trap '' HUP; exec {COMMAND} mcp")).greeted() as server:
        server.process.send_signal(signal.SIGHUP)
        assert server.ask(line("ping", id=1))["result"] == {}
        server.process.send_signal(signal.SIGTERM)
        assert server.ends() == 128 + signal.SIGTERM


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
    with project.opened() as memory:
        assert_healthy(memory)
        assert {memory.get(id).id for id in acknowledged} == set(acknowledged)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_readers_of_a_first_index_end_with_the_server(project: Project, number: signal.Signals) -> None:
    project.write_code(files=600)  # as many as several processes read at once
    with project.server().greeted() as server:
        server.say(IMPACT)
        until(lambda: bool(psutil.Process(server.process.pid).children()))
        server.process.send_signal(number)
        server.ends()
    assert processes_left(project.home, project.root) == []
    if number is signal.SIGTERM:
        assert files_left(project.memories.parent) == []
    with project.opened() as memory:
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
    assert done.stderr.startswith(b"error: stdout is closed")


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
    assert project.piped(options=("--bogus",)).returncode == 2
    assert project.piped(options=("--root", "/no/such/folder")).returncode == 1
    assert b"--root" in project.piped(options=("--help",)).stdout
