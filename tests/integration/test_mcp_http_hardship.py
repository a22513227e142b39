"""Bad company over HTTP: clients that are slow, leave, or hold on; and the end of the server in the midst of them."""

import asyncio
import json
import os
import signal
import socket
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path

import httpx2
import pytest
import uvicorn
from starlette.testclient import TestClient

import treering
from tests.integration.http_service import HttpService, http_service
from tests.integration.test_mcp_http import agent_at, asked
from tests.served import ERAS, desk_of
from treering.core.settings.agents import HttpSettings
from treering.interfaces.mcp.http.address import listening, resolved
from treering.interfaces.mcp.http.ending import SIGNALS
from treering.interfaces.mcp.http.gate import Gate
from treering.interfaces.mcp.http.patience import impatient
from treering.interfaces.mcp.http.serving import application
from treering.interfaces.mcp.http.token import Token

TOKEN = Token("a-token-that-somebody-made-for-us-0001")
PATIENCE = 60
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


def eventually(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@contextmanager
def nobody_can_write(tmp_path: Path) -> Iterator[None]:
    """Calls that write wait for as long as this lasts: longer than any test."""
    (file,) = (tmp_path / "data").glob("*/memory.db")
    with closing(sqlite3.connect(file, isolation_level=None)) as holding:
        holding.execute("BEGIN IMMEDIATE")
        yield
        holding.execute("ROLLBACK")


def recording(service: HttpService, era: str, text: str) -> str:
    with agent_at(service, era) as agent:
        return str(agent.call("record_memory", text=text)["id"])


def files_of(service: HttpService) -> int:
    return len(os.listdir(f"/proc/{service.process.pid}/fd"))


def threads_of(service: HttpService) -> int:
    return len(os.listdir(f"/proc/{service.process.pid}/task"))


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("sent", SIGNALS)
def test_it_ends_with_streams_open_and_calls_under_way(tmp_path: Path, era: str, sent: signal.Signals) -> None:
    with http_service(tmp_path) as service, ThreadPoolExecutor(4) as calling:
        recording(service, era, "The first opens the memory.")
        with agent_at(service, "legacy"), nobody_can_write(tmp_path):
            waiting = [calling.submit(recording, service, era, f"Record {number}") for number in range(4)]
            eventually(lambda: threads_of(service) > 4)
            service.process.send_signal(sent)
            assert service.process.wait(PATIENCE / 2) == 0
        assert all(_failed(call) for call in waiting)
    listening(resolved("127.0.0.1", httpx2.URL(service.url).port or 0)).close()
    assert service.token not in service.stderr.read_text()
    assert "Traceback" not in service.stderr.read_text()


def _failed(call: Future[str]) -> bool:
    return call.exception(PATIENCE) is not None


def test_it_closes_the_memory_when_it_ends(tmp_path: Path) -> None:
    with http_service(tmp_path) as service:
        id = recording(service, "auto", "The log is folded into the file.")
    (file,) = (tmp_path / "data").glob("*/memory.db")
    assert not Path(f"{file}-wal").exists()
    with treering.open(file, project=file.parent.name, background=False) as memory:
        assert memory.get(id)


def test_asked_twice_it_ends_at_once(tmp_path: Path) -> None:
    with http_service(tmp_path) as service, ThreadPoolExecutor(1) as calling:
        recording(service, "auto", "The first opens the memory.")
        with nobody_can_write(tmp_path):
            call = calling.submit(recording, service, "auto", "This one waits.")
            eventually(lambda: threads_of(service) > 4)
            # Two of the same kind at once would be one.
            service.process.send_signal(signal.SIGINT)
            service.process.send_signal(signal.SIGTERM)
            assert service.process.wait(PATIENCE / 2) == 130
        assert _failed(call)


def test_a_client_that_leaves_in_the_middle_of_a_call_leaves_nothing_behind(tmp_path: Path) -> None:
    with http_service(tmp_path) as service:
        recording(service, "auto", "The first opens the memory.")
        before = files_of(service)
        with nobody_can_write(tmp_path):
            for number in range(10):
                _begin(service, number).close()
        eventually(lambda: files_of(service) <= before)
        assert recording(service, "auto", "The server is well.")
        assert threads_of(service) < 20


def _begin(service: HttpService, number: int) -> socket.socket:
    """A call of the current protocol whose answer nobody waits for."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
    }
    params = {"name": "record_memory", "arguments": {"text": f"Nobody waits for {number}"}, "_meta": meta}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    address = httpx2.URL(service.url)
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: {address.netloc.decode()}\r\nAuthorization: Bearer {service.token}\r\n"
        "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
        "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: record_memory\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    connection = socket.create_connection((address.host, address.port), timeout=PATIENCE)
    connection.sendall(head.encode() + body)
    time.sleep(0.1)
    return connection


def test_who_waits_to_write_keeps_nobody_from_reading(tmp_path: Path) -> None:
    with http_service(tmp_path) as service, ThreadPoolExecutor(20) as calling:
        known = recording(service, "auto", "The harbour crane is painted turquoise.")
        with nobody_can_write(tmp_path):
            waiting = [calling.submit(recording, service, "auto", f"Record number {each}") for each in range(20)]
            eventually(lambda: threads_of(service) > 5)
            with agent_at(service) as agent:
                assert known in agent.told("search_memory", query="harbour crane")
            assert not any(call.done() for call in waiting)
        assert len({call.result(PATIENCE) for call in waiting}) == 20


def test_who_sends_half_a_request_keeps_nobody_out(tmp_path: Path) -> None:
    with http_service(tmp_path) as service:
        address = httpx2.URL(service.url)
        head = f"POST /mcp HTTP/1.1\r\nHost: {address.netloc.decode()}\r\n".encode()
        whole = head + f"Authorization: Bearer {service.token}\r\nContent-Length: 100\r\n\r\n{{".encode()
        begun = [b"", b"P", head, whole] * 25
        held = [socket.create_connection((address.host, address.port)) for _ in begun]
        for connection, half in zip(held, begun, strict=True):
            connection.sendall(half)
        assert recording(service, "auto", "There is room for everybody.")
        for connection in held:
            connection.close()
        eventually(lambda: files_of(service) < 40)


@contextmanager
def serving(app: object, settings: HttpSettings) -> Iterator[int]:
    """The application under a server in this process; yields its port."""
    with listening(resolved("127.0.0.1", 0)) as sock:
        server = uvicorn.Server(uvicorn.Config(app, http=impatient(settings), log_config=None, lifespan="off"))  # type: ignore[arg-type]
        thread = threading.Thread(target=server.run, args=([sock],))
        thread.start()
        try:
            yield sock.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(PATIENCE)


async def echo(scope: dict[str, object], receive: object, send: Callable[[object], object]) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})  # type: ignore[misc]
    await send({"type": "http.response.body"})  # type: ignore[misc]


@pytest.mark.parametrize("said", [b"", b"GET", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HT"])
def test_who_does_not_finish_a_head_is_let_go(said: bytes) -> None:
    with (
        serving(echo, settings := HttpSettings(request_seconds=0.3)) as port,
        socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection,
    ):
        connection.sendall(said)
        received = b""
        try:
            while piece := connection.recv(1_000):
                received += piece
        except ConnectionResetError:
            pass
        assert received.count(b"HTTP/1.1 200") == said.count(b"\r\n\r\n")
        assert settings.keep_alive_seconds > PATIENCE


def test_who_asks_now_and_then_is_not_let_go() -> None:
    with (
        serving(echo, HttpSettings(request_seconds=0.3)) as port,
        closing(HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as connection,
    ):
        connection.connect()
        same = connection.sock
        for _ in range(3):
            connection.request("GET", "/")
            assert connection.getresponse().read() == b""
            time.sleep(0.5)
        assert connection.sock is same


def test_a_body_that_does_not_arrive_is_not_waited_for() -> None:
    sent: list[dict[str, object]] = []

    async def never() -> dict[str, object]:
        await asyncio.sleep(PATIENCE)
        raise AssertionError

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    gate = Gate(echo, hosts=["a"], token=TOKEN.text, settings=HttpSettings(request_seconds=0.05))  # type: ignore[arg-type]
    headers = [(b"host", b"a"), (b"authorization", f"Bearer {TOKEN.text}".encode())]
    asyncio.run(gate({"type": "http", "path": "/mcp", "headers": headers}, never, send))  # type: ignore[arg-type]
    assert sent[0]["status"] == 408


@contextmanager
def few(tmp_path: Path, settings: HttpSettings) -> Iterator[TestClient]:
    """A client of an application with limits of its own."""
    headers = {"Authorization": f"Bearer {TOKEN.text}", "Accept": "application/json, text/event-stream"}
    with treering.open(tmp_path / "memory.db", background=False) as memory:
        app = application(desk_of(memory), ["here"], TOKEN, settings)
        with TestClient(app, base_url="http://here", headers=headers) as client:
            yield client


def test_there_are_only_so_many_sessions(tmp_path: Path) -> None:
    with few(tmp_path, HttpSettings(sessions=2)) as client:
        begun = [client.post("/mcp", json=INITIALIZE) for _ in range(3)]
        assert [answer.status_code for answer in begun] == [200, 200, 503]
        session = {"Mcp-Session-Id": begun[0].headers["mcp-session-id"]}
        assert client.delete("/mcp", headers=session).status_code == 200
        assert client.post("/mcp", json=INITIALIZE).status_code == 200


def test_a_session_that_nobody_uses_ends(tmp_path: Path) -> None:
    with few(tmp_path, HttpSettings(session_idle_seconds=0.2)) as client:
        session = {"Mcp-Session-Id": client.post("/mcp", json=INITIALIZE).headers["mcp-session-id"]}
        time.sleep(1)
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        assert client.post("/mcp", json=ping, headers=session).status_code == 404


def test_refusals_do_not_open_sessions(tmp_path: Path) -> None:
    with http_service(tmp_path) as service:
        for _ in range(50):
            assert asked(service, Authorization="")[0].status == 401
            assert asked(service)[0].status == 400
        assert files_of(service) < 40
