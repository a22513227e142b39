"""A server that answers hooks over its socket: killed, replaced, taken over, and sent garbage."""

import json
import os
import signal
import socket
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import psutil
import pytest

import treering
from tests.forked_process import ForkedProcess
from tests.hook_payloads import bash, claude, edit, failed_bash, prompt, put
from tests.integration.stdio_server import PATIENCE, Project
from tests.leftovers import processes_left
from tests.session_events import GO_FAILURE
from treering.compose import now
from treering.core.errors import StoreUnavailable
from treering.core.injections import SessionGroup, session_group
from treering.interfaces.hooks.listener import MAX_REQUEST_BYTES, Listener
from treering.interfaces.hooks.live_sessions import LiveSessions
from treering.location.hook_files import TARGET, ensure_private_folder, hook_folder, read_json
from treering.location.hook_spool import DRAIN, LISTEN, FolderLock, spool_bytes
from treering.location.repository import project_name
from treering.memory import Memory


class HookedProject(Project):
    """A repository whose hooks have run."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.environment = {name: value for name, value in self.environment.items() if name != "XDG_RUNTIME_DIR"}
        self.folder = hook_folder(str(self.memories), str(self.root))
        ensure_private_folder(self.folder)
        names = (f"session-{number}" for number in range(100))
        project = project_name(self.root)
        self.session = next(name for name in names if session_group(project, name) is SessionGroup.FULL)

    @property
    def socket(self) -> str:
        return str(read_json(self.folder, TARGET).get("socket", ""))

    def put(self, *payloads: dict[str, object], first: int = 0) -> list[str]:
        own = ({**each, "session_id": self.session, "cwd": str(self.root)} for each in payloads)
        return put(self.folder, "claude", *own, first=first)

    def await_socket(self) -> None:
        until(lambda: is_listening(self.socket))

    def ask(self, id: str, milliseconds: int = 3_000) -> str:
        return ask(self.socket, {"v": 1, "agent": "claude", "hook": "SessionStart", "id": id, "ms": milliseconds})

    def run(self, *command: str) -> bytes:
        pipes: dict[str, Any] = {"stdout": -1, "stderr": -1}
        with ForkedProcess(command, cwd=self.root, env=self.environment, **pipes) as process:
            said, complaints = process.communicate(b"", PATIENCE)
        assert process.returncode == 0, complaints
        return said

    def sessions(self) -> list[dict[str, object]]:
        return json.loads(self.run("sessions", "--json"))["sessions"]

    def assert_nothing_left(self) -> None:
        assert processes_left(self.home, self.root) == []
        assert not os.path.lexists(self.socket)
        for name in (LISTEN, DRAIN):
            with FolderLock(self.folder, name) as held:
                assert held
        assert spool_bytes(self.folder) == 0


def work(root: Path) -> tuple[dict[str, object], ...]:
    tide = str(root / "tides/tide.go")
    return (
        claude("SessionStart", source="startup"),
        prompt("Fix the tide."),
        edit("", "t1") | {"tool_input": {"file_path": tide, "old_string": "a", "new_string": "b"}},
        failed_bash("go test ./tides", GO_FAILURE, "t2"),
        edit("", "t3") | {"tool_input": {"file_path": tide, "old_string": "b", "new_string": "c"}},
        bash("go test ./tides", "ok", "t4"),
        claude("SessionEnd", reason="other"),
    )


def until(happened: Callable[[], bool]) -> None:
    give_up = monotonic() + PATIENCE
    while not happened():
        assert monotonic() < give_up
        sleep(0.005)


def is_listening(path: str) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(path)
        except (OSError, ValueError):
            return False
    return bool(path)


def ask(path: str, request: object) -> str:
    written = json.dumps(request).encode() + b"\n"
    answer = exchange(path, written)
    return str(json.loads(answer)["text"]) if answer else ""


def exchange(path: str, written: bytes) -> bytes:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(PATIENCE)
        client.connect(path)
        try:
            client.sendall(written)
            return b"".join(iter(lambda: client.recv(65_536), b""))
        except ConnectionError:
            return b""


@pytest.fixture
def project(tmp_path: Path) -> HookedProject:
    return HookedProject(tmp_path)


def test_hooks_are_answered_and_the_end_drains_the_spool(project: HookedProject) -> None:
    with project.server().greeted() as server:
        project.await_socket()
        found = os.lstat(project.socket)
        assert (stat.S_IMODE(found.st_mode), found.st_uid) == (0o600, os.getuid())
        assert os.lstat(os.path.dirname(project.socket)).st_mode & 0o077 == 0
        [taught] = put(project.folder, "claude", prompt("/remember Run make check before a commit."), first=50)
        assert "make check" in project.ask(taught)
        [start] = project.put(claude("SessionStart", source="startup"))
        assert "make check" in project.ask(start)
        assert project.ask("unknown", 100) == ""
        project.put(*work(project.root)[1:], first=1)
        server.process.send_signal(signal.SIGTERM)
        server.ends()
    assert server.complaints == b""
    [session] = project.sessions()
    assert (session["outcome"], session["steps"]) == ("success", 4)
    project.assert_nothing_left()


@pytest.mark.parametrize("events", [1, 3, 6, 7])
def test_what_a_killed_server_has_read_is_drained_later_and_once(project: HookedProject, events: int) -> None:
    payloads = work(project.root)
    with project.server().greeted() as server:
        project.await_socket()
        for number, payload in enumerate(payloads[:events]):
            [id] = project.put(payload, first=number)
            project.ask(id, 200)
        server.process.send_signal(signal.SIGKILL)
        server.ends()
    assert os.path.lexists(project.socket)
    for number, payload in enumerate(payloads[events:], start=events):
        project.put(payload, first=number)
    [session] = project.sessions()
    assert (session["outcome"], session["steps"]) == ("success", 4)
    with project.server().greeted() as after:
        project.await_socket()
        after.process.send_signal(signal.SIGTERM)
        after.ends()
    assert [each["steps"] for each in project.sessions()] == [4]
    project.assert_nothing_left()


def test_another_server_takes_over(project: HookedProject) -> None:
    with project.server().greeted() as first:
        project.await_socket()
        with project.server().greeted() as second:
            first.process.send_signal(signal.SIGKILL)
            first.ends()
            project.await_socket()
            [typed] = project.put(prompt("/remember we deploy with uv"))
            assert "we deploy with uv" in project.ask(typed)
            second.process.send_signal(signal.SIGTERM)
            second.ends()
    assert second.complaints == b""
    project.assert_nothing_left()


def test_a_server_without_hooks_creates_nothing(tmp_path: Path) -> None:
    project = Project(tmp_path)
    with project.server().greeted() as server:
        sleep(0.3)
        server.process.send_signal(signal.SIGTERM)
        server.ends()
    assert not project.memories.exists()


def test_a_server_over_http_answers_hooks(project: HookedProject) -> None:
    options = ("mcp", "--http", "--port", "0")
    with ForkedProcess(options, cwd=project.root, env=project.environment, stdout=-1, stderr=-1) as server:
        project.await_socket()
        [typed] = project.put(prompt("/remember we deploy with uv"))
        assert "we deploy with uv" in project.ask(typed)
        server.send_signal(signal.SIGTERM)
        server.communicate(None, PATIENCE)
    project.assert_nothing_left()


@pytest.mark.parametrize("command", ["stats", "doctor", "settle", "maintain consolidate", "work --once"])
def test_commands_drain_the_spool_first(project: HookedProject, command: str) -> None:
    project.put(*work(project.root))
    project.run(*command.split())
    project.assert_nothing_left()
    with project.opened() as memory:
        assert [each.steps for each in memory.sessions.list()] == [4]


def test_a_hard_forget_drains_the_spool_first(project: HookedProject) -> None:
    project.run("remember", "The vault opens with four turns.")
    with project.opened() as memory:
        record = memory.search("vault").hits[0]
    project.put(*work(project.root))
    project.run("forget", record.id)
    assert spool_bytes(project.folder) > 0
    project.run("undo", record.id)
    project.run("forget", "--hard", "--yes", record.id)
    project.assert_nothing_left()


def test_a_command_that_only_shows_the_history_drains_nothing(project: HookedProject) -> None:
    project.put(*work(project.root))
    waiting = spool_bytes(project.folder)
    project.run("maintain", "--history")
    assert spool_bytes(project.folder) == waiting


# In this process


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with treering.open(tmp_path / "memory.db", project="p") as opened:
        yield opened


def listener_of(memory: Memory, folder: str) -> Listener:
    def open_sessions(_socket: str) -> LiveSessions:
        return LiveSessions(memory, memory.injections, folder, "/", now)

    return Listener(folder, open_sessions, poll_seconds=0.01)


GARBAGE = (
    b"",
    b"\n",
    b"{}\n",
    b"[[[[\n",
    b"\xff\0\n",
    b'{"v": 2, "id": "x", "ms": 10}\n',
    b'{"v": 1, "id": 7, "ms": 10}\n',
    b'{"v": 1, "id": "x", "ms": true}\n',
    b'{"v": 1, "id": "x", "ms": 1e400}\n',
    b'{"v": 1, "id": "x", "ms": NaN}\n',
    b"[" * MAX_REQUEST_BYTES + b"\n",
    b"x" * (3 * MAX_REQUEST_BYTES),
)


def test_garbage_is_dropped(memory: Memory, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = str(tmp_path / "hooks")
    ensure_private_folder(folder)
    listener = listener_of(memory, folder)
    listener.start()
    until(lambda: is_listening(listener.path))
    for written in GARBAGE[1:]:
        assert exchange(listener.path, written) in (b"", b'{"v": 1, "text": ""}\n'), written
    silent = [socket.socket(socket.AF_UNIX) for _ in range(3)]
    for each in silent:
        each.connect(listener.path)
    [typed] = put(folder, "claude", prompt("/remember we deploy with uv"))
    until(lambda: "we deploy with uv" in ask(listener.path, {"v": 1, "id": typed, "ms": 3_000}))
    for each in silent:
        each.close()
    listener.close(PATIENCE)
    assert caplog.records == []


def test_two_hundred_starts_leave_nothing(memory: Memory, tmp_path: Path) -> None:
    folder = str(tmp_path / "hooks")
    ensure_private_folder(folder)

    def cycle(number: int) -> None:
        listener = listener_of(memory, folder)
        listener.start()
        until(lambda: is_listening(listener.path))
        put(folder, "claude", claude("SessionStart", source="startup"), first=number)
        listener.close(PATIENCE)
        listener.close(PATIENCE)
        assert not os.path.lexists(listener.path)

    cycle(0)
    files, threads = psutil.Process().num_fds(), threading.active_count()
    for number in range(1, 201):
        cycle(number)
    until(lambda: threading.active_count() <= threads)
    assert psutil.Process().num_fds() <= files
    assert spool_bytes(folder) == 0
    with FolderLock(folder, LISTEN) as held:
        assert held


def test_a_listener_that_is_closed_before_it_is_ready_ends(memory: Memory, tmp_path: Path) -> None:
    ready = threading.Event()
    listener = Listener(str(tmp_path / "hooks"), lambda _: pytest.fail("nothing is opened"), ready=ready)
    listener.start()
    listener.close(PATIENCE)
    assert not any(thread.name == "hooks-listener" for thread in threading.enumerate())


def test_a_memory_that_cannot_be_opened_is_reported_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = str(tmp_path / "hooks")
    ensure_private_folder(folder)
    attempts = []

    def fail(_socket: str) -> LiveSessions:
        attempts.append(1)
        raise StoreUnavailable("the database is busy; try again")

    listener = Listener(folder, fail, poll_seconds=0.01)
    listener.start()
    until(lambda: bool(caplog.records))
    listener.close(PATIENCE)
    assert len(caplog.records) == len(attempts) == 1
    assert not os.path.lexists(listener.path)
