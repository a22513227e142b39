"""What a client may take of the HTTP server: time, sessions, and a clock that tests set forward."""

import asyncio
import gc
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest
import uvicorn
from mcp.server.streamable_http import StreamableHTTPServerTransport
from starlette.testclient import TestClient

import treering
from tests.integration.http_service import PATIENCE, eventually
from tests.served import desk_of
from treering.interfaces.mcp.http.gate import McpGate
from treering.interfaces.mcp.http.server import application
from treering.interfaces.servers.http.address import listen, resolve
from treering.interfaces.servers.http.limits import HttpLimits
from treering.interfaces.servers.http.timeouts import with_head_timeout
from treering.interfaces.servers.http.token import AccessToken

TOKEN = AccessToken("a-token-that-somebody-made-for-us-0001")
PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


class Clockwork(asyncio.SelectorEventLoop):
    """A loop whose clock is set forward instead of waited for."""

    _ahead = 0.0

    def time(self) -> float:
        return super().time() + self._ahead

    def advance(self, seconds: float) -> None:
        """Returns when all that was due by then is done."""
        asyncio.run_coroutine_threadsafe(self._advance(seconds), self).result(PATIENCE)

    async def _advance(self, seconds: float) -> None:
        self._ahead += seconds
        for _ in range(3):
            await asyncio.sleep(0)


@contextmanager
def serving(limits: HttpLimits) -> Iterator[tuple[int, Clockwork]]:
    """A server that answers everything, in this process; yields its port and its clock."""
    with listen(resolve("127.0.0.1", 0)) as sock, closing(Clockwork()) as loop:
        server = uvicorn.Server(
            uvicorn.Config(
                echo,
                http=with_head_timeout(limits),
                log_config=None,
                lifespan="off",
                timeout_keep_alive=limits.keep_alive_seconds,
            )
        )
        thread = threading.Thread(target=loop.run_until_complete, args=(server.serve([sock]),))
        thread.start()
        try:
            yield sock.getsockname()[1], loop
        finally:
            server.should_exit = True
            thread.join(PATIENCE)


async def echo(scope: dict[str, object], receive: object, send: Callable[[object], object]) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})  # type: ignore[misc]
    await send({"type": "http.response.body"})  # type: ignore[misc]


@pytest.mark.parametrize("said", [b"", b"GET", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HT"])
def test_who_does_not_finish_a_head_is_let_go(said: bytes) -> None:
    limits = HttpLimits()
    with (
        serving(limits) as (port, clock),
        socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection,
    ):
        connection.sendall(said)
        if b"\r\n\r\n" in said:
            assert connection.recv(1_000).startswith(b"HTTP/1.1 200")
        connection.settimeout(0.1)
        eventually(lambda: _is_let_go(connection, clock, limits.keep_alive_seconds + 1))


def _is_let_go(connection: socket.socket, clock: Clockwork, seconds: float) -> bool:
    clock.advance(seconds)
    try:
        return connection.recv(1_000) == b""
    except TimeoutError:
        return False
    except ConnectionResetError:
        return True


def test_who_asks_now_and_then_is_not_let_go() -> None:
    limits = HttpLimits()
    between = limits.request_seconds * 2
    assert between < limits.keep_alive_seconds
    with (
        serving(limits) as (port, clock),
        closing(HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as connection,
    ):
        connection.connect()
        same = connection.sock
        for _ in range(3):
            connection.request("GET", "/")
            assert connection.getresponse().read() == b""
            clock.advance(between)
        assert connection.sock is same


def test_a_body_that_does_not_arrive_is_not_waited_for() -> None:
    sent: list[dict[str, object]] = []

    async def never() -> dict[str, object]:
        await asyncio.sleep(PATIENCE)
        raise AssertionError

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    gate = McpGate(echo, hosts=["a"], token=TOKEN.text, limits=HttpLimits(request_seconds=0.05))  # type: ignore[arg-type]
    headers = [(b"host", b"a"), (b"authorization", f"Bearer {TOKEN.text}".encode())]
    asyncio.run(gate({"type": "http", "method": "POST", "path": "/mcp", "headers": headers}, never, send))  # type: ignore[arg-type]
    assert sent[0]["status"] == 408


@contextmanager
def few(tmp_path: Path, limits: HttpLimits) -> Iterator[TestClient]:
    """A client of an application with limits of its own."""
    headers = {"Authorization": f"Bearer {TOKEN.text}", "Accept": "application/json, text/event-stream"}
    with treering.open(tmp_path / "memory.db", background=False) as memory:
        app = application(desk_of(memory), ["here"], TOKEN, limits)
        with TestClient(app, base_url="http://here", headers=headers) as client:
            yield client


def test_there_are_only_so_many_sessions(tmp_path: Path) -> None:
    with few(tmp_path, HttpLimits(sessions=2)) as client:
        begun = [client.post("/mcp", json=INITIALIZE) for _ in range(3)]
        assert [answer.status_code for answer in begun] == [200, 200, 503]
        session = {"Mcp-Session-Id": begun[0].headers["mcp-session-id"]}
        assert client.delete("/mcp", headers=session).status_code == 200
        assert client.post("/mcp", json=INITIALIZE).status_code == 200


def test_a_session_that_nobody_uses_ends(tmp_path: Path) -> None:
    with few(tmp_path, HttpLimits(sessions=1, session_idle_seconds=0.2)) as client:
        session = {"Mcp-Session-Id": client.post("/mcp", json=INITIALIZE).headers["mcp-session-id"]}
        # There is room for another as soon as the first has ended; asking for that keeps it no longer.
        eventually(lambda: client.post("/mcp", json=INITIALIZE).status_code == 200)
        assert client.post("/mcp", json=PING, headers=session).status_code == 404


def test_nothing_stays_of_sessions_that_ended(tmp_path: Path) -> None:
    with few(tmp_path, HttpLimits(sessions=1)) as client:
        for _ in range(30):
            begun = client.post("/mcp", json=INITIALIZE)
            assert begun.status_code == 200
            session = {"Mcp-Session-Id": begun.headers["mcp-session-id"]}
            assert client.post("/mcp", json=PING, headers=session).status_code == 200
            assert client.delete("/mcp", headers=session).status_code == 200
        eventually(lambda: _sessions_in_memory() == 0)


def _sessions_in_memory() -> int:
    gc.collect()
    return sum(isinstance(each, StreamableHTTPServerTransport) for each in gc.get_objects())
