"""`treering mcp --http --workers N`: several processes behind one address."""

import json
import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2
import psutil
import pytest

import treering
from tests.e2e.terminal import Terminal
from tests.hook_payloads import claude, edit, put
from tests.integration.http_service import PATIENCE, HttpService, eventually, http_service
from tests.integration.test_mcp_http import agent_at, recording
from tests.leftovers import processes_left
from tests.served import ERAS
from treering.interfaces.servers.http.address import listen, resolve
from treering.interfaces.servers.http.workers import MAX_RESTARTS
from treering.interfaces.servers.shutdown import handled_signals
from treering.location.hook_files import TARGET, hook_folder, read_json
from treering.location.hook_spool import spool_bytes

WORKERS = 2
OLD = "2025-06-18"


@contextmanager
def service_of(folder: Path, url: str, project: str | None = None, **options: Any) -> Iterator[HttpService]:
    arguments = ("--workers", str(WORKERS), "--db", url, "--project", project or f"p-{uuid4().hex[:12]}")
    with http_service(folder, *arguments, **options) as service:
        yield service


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, postgres_url: str) -> Iterator[HttpService]:
    """For tests that end no process."""
    with service_of(tmp_path_factory.mktemp("workers"), postgres_url) as service:
        yield service


def workers_of(service: HttpService) -> list[psutil.Process]:
    """Its processes; none if it has ended."""
    try:
        return psutil.Process(service.process.pid).children()
    except psutil.NoSuchProcess:
        return []


def connections_of(worker: psutil.Process) -> int:
    return sum(each.status == psutil.CONN_ESTABLISHED for each in worker.net_connections("tcp"))


class RawClient:
    """A client of the previous protocol on one connection, which stays with one worker."""

    def __init__(self, service: HttpService, session: str | None = None) -> None:
        address = httpx2.URL(service.url)
        self._token, self.session = service.token, session
        self._connection = HTTPConnection(address.host, address.port or 0, timeout=PATIENCE)
        self._connection.connect()

    def send(self, method: str = "POST", body: object = None) -> tuple[int, Any]:
        headers = {
            "Authorization": f"Bearer {self._token}",
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            **({} if self.session is None else {"Mcp-Session-Id": self.session, "MCP-Protocol-Version": OLD}),
        }
        self._connection.request(method, "/mcp", json.dumps(body) if body else None, headers)
        answer = self._connection.getresponse()
        text = answer.read().decode()
        self.session = answer.headers.get("mcp-session-id", self.session)
        lines = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: {")]
        return answer.status, json.loads(lines[-1] if lines else text or "null")

    def initialize(self) -> None:
        client = {"name": "raw", "version": "1"}
        given = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": client}
        status, answer = self.send(body={"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": given})
        assert (status, answer["result"]["protocolVersion"]) == (200, OLD)
        assert self.send(body={"jsonrpc": "2.0", "method": "notifications/initialized"})[0] == 202

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        given = {"name": tool, "arguments": arguments}
        status, answer = self.send(body={"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": given})
        assert status == 200, answer
        assert not answer["result"].get("isError"), answer
        return dict(answer["result"]["structuredContent"])

    def close(self) -> None:
        self._connection.close()


def test_connections_are_spread_evenly(service: HttpService) -> None:
    with ExitStack() as stack:
        before = {worker.pid: connections_of(worker) for worker in workers_of(service)}
        for _ in range(4 * WORKERS):
            stack.callback(RawClient(service).close)
        eventually(lambda: [connections_of(each) - before[each.pid] for each in workers_of(service)] == [4] * WORKERS)


@pytest.mark.parametrize("era", ERAS)
def test_clients_of_both_protocols_work(service: HttpService, era: str) -> None:
    with ThreadPoolExecutor(6) as clients:
        ids = list(clients.map(lambda number: recording(service, era, f"Lamp {number} of {era}."), range(6)))
    assert len(set(ids)) == 6
    with agent_at(service, era) as agent:
        found = json.dumps(agent.call("search_memory", query=f"lamp 3 of {era}"))
        assert ids[3] in found


def test_requests_of_one_session_work_in_every_worker(service: HttpService) -> None:
    with ExitStack() as stack:
        clients = [RawClient(service) for _ in range(WORKERS)]
        for client in clients:
            stack.callback(client.close)
        clients[0].initialize()
        id = clients[0].call("record_memory", text=f"The {uuid4().hex} lamp is green.")["id"]
        for client in clients:
            client.session = clients[0].session
            context = client.call("get_session_context")
            assert [each["id"] for each in context["items"]] == [id]
            assert context["session"].endswith(f"-{clients[0].session}")


def test_sessions_that_the_server_did_not_issue_are_refused(service: HttpService) -> None:
    with ExitStack() as stack:
        client = RawClient(service)
        stack.callback(client.close)
        listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        assert client.send(body=listing)[0] == 400
        client.initialize()
        own = str(client.session)
        assert client.send(body=listing)[0] == 200
        for method in ("GET", "DELETE"):
            assert client.send(method)[0] == 405
        for forged in ("0" * len(own), own[:-1] + ("0" if own[-1] != "0" else "1"), own.upper() + "x", "ü"):
            client.session = forged
            assert client.send(body=listing)[0] == 404


@pytest.mark.parametrize("sent", handled_signals())
def test_a_signal_ends_all_processes(tmp_path: Path, postgres_url: str, sent: signal.Signals) -> None:
    with service_of(tmp_path, postgres_url) as service, agent_at(service, "legacy") as agent:
        agent.call("record_memory", text="The lamp is green.")
        assert len(workers_of(service)) == WORKERS
        service.process.send_signal(sent)
        assert service.process.wait(PATIENCE) == 0
    assert processes_left(tmp_path) == []
    assert service.token not in service.stderr.read_text()
    assert "Traceback" not in service.stderr.read_text()


def test_a_killed_supervisor_leaves_no_process(tmp_path: Path, postgres_url: str) -> None:
    with service_of(tmp_path, postgres_url) as service:
        recording(service, "auto", "The lamp is green.")
        service.process.kill()
        service.process.wait(PATIENCE)
        assert processes_left(tmp_path) == []
    listen(resolve("127.0.0.1", httpx2.URL(service.url).port or 0)).close()


def test_a_killed_worker_is_replaced_and_its_sessions_go_on(tmp_path: Path, postgres_url: str) -> None:
    with service_of(tmp_path, postgres_url) as service, ExitStack() as stack:
        client = RawClient(service)
        stack.callback(client.close)
        client.initialize()
        ids = [client.call("record_memory", text=f"Lamp {number} is green.")["id"] for number in range(2)]
        before = workers_of(service)
        for worker in before:
            worker.kill()
        eventually(lambda: len({each.pid for each in workers_of(service)} - {each.pid for each in before}) == WORKERS)
        again = RawClient(service, client.session)
        stack.callback(again.close)
        assert {each["id"] for each in again.call("get_session_context")["items"]} == set(ids)
        assert recording(service, "auto", "The server goes on.")
        text = service.stderr.read_text()
        assert text.count("ended with signal 9; starting another") == WORKERS
        assert service.token not in text


def test_a_server_whose_workers_keep_ending_gives_up(tmp_path: Path, postgres_url: str) -> None:
    with service_of(tmp_path, postgres_url) as service:
        for _ in range(MAX_RESTARTS + 1):
            (worker, *_) = workers_of(service)
            worker.kill()
            eventually(lambda gone=worker: not gone.is_running() or gone not in workers_of(service))  # type: ignore[misc]
            eventually(lambda: service.process.poll() is not None or len(workers_of(service)) == WORKERS)
        assert service.process.wait(PATIENCE) == 1
        assert "6 server processes ended within 60 seconds" in service.stderr.read_text()
    assert processes_left(tmp_path) == []


def test_asked_twice_it_ends_at_once(tmp_path: Path, postgres_url: str) -> None:
    with service_of(tmp_path, postgres_url) as service:
        for worker in workers_of(service):
            worker.suspend()
        service.process.send_signal(signal.SIGINT)
        time.sleep(0.1)
        service.process.send_signal(signal.SIGTERM)
        assert service.process.wait(PATIENCE) == 130
        assert processes_left(tmp_path) == []


def test_a_file_is_served_by_one_process(tmp_path: Path) -> None:
    refused = Terminal(tmp_path).run("mcp", "--http", "--workers", "2", "--port", "0")
    assert refused.returncode == 1
    assert "--workers needs PostgreSQL" in refused.stderr
    assert "omit --workers" in refused.stderr
    with http_service(tmp_path, "--workers", "1") as service:
        assert recording(service, "auto", "One process is the design here.")


def test_every_acknowledged_record_is_stored(tmp_path: Path, postgres_url: str) -> None:
    """While workers are killed."""
    kept, project = dict[str, str](), f"p-{uuid4().hex}"

    def write(served: HttpService, number: int) -> None:
        for attempt in range(12):
            text = f"Record {number}-{attempt} {uuid4().hex}"
            try:
                kept[recording(served, "auto", text)] = text
            except BaseException:  # noqa: BLE001 - its worker was killed
                continue

    with (
        service_of(tmp_path, postgres_url, project, TREERING_BLOBS=str(tmp_path / "blobs")) as service,
        ThreadPoolExecutor(4) as clients,
    ):
        writing = [clients.submit(write, service, number) for number in range(4)]
        for enough in (4, 10):
            eventually(lambda enough=enough: len(kept) >= enough)  # type: ignore[misc]
            os.kill(workers_of(service)[0].pid, signal.SIGKILL)
        for each in writing:
            each.result(PATIENCE)
    with treering.open(postgres_url, project=project, blobs=tmp_path / "blobs") as memory:
        assert len(kept) >= 10
        assert all(memory.get(id).content == text for id, text in kept.items())


def test_workers_drain_what_hooks_have_recorded(tmp_path: Path, postgres_url: str) -> None:
    """One of them listens; the others take over if it ends."""
    project = f"p-{uuid4().hex[:12]}"
    with service_of(tmp_path, postgres_url, project) as service:
        folder = hook_folder(
            Terminal(tmp_path).variables({})["TREERING_DATA_DIR"], os.path.realpath(tmp_path), postgres_url, project
        )
        for session in ("first", "second"):
            events = (claude("SessionStart", source="startup"), edit("a.py", "toolu_1"), claude("SessionEnd"))
            put(folder, "claude", *({**each, "session_id": session, "cwd": str(tmp_path)} for each in events))
            eventually(lambda: spool_bytes(folder) == 0)
            assert len(workers_of(service)) == WORKERS
            if session == "first":
                listening = next(each for each in workers_of(service) if _listens(each, folder))
                listening.kill()
                eventually(partial(_is_replaced, service, listening))
    with treering.open(postgres_url, project=project) as memory:
        assert {each.id for each in memory.sessions.list()} == {"first", "second"}


def _is_replaced(service: HttpService, worker: psutil.Process) -> bool:
    return len(workers_of(service)) == WORKERS and worker not in workers_of(service)


def _listens(worker: psutil.Process, folder: str) -> bool:
    return any(each.laddr == read_json(folder, TARGET)["socket"] for each in worker.net_connections("unix"))
