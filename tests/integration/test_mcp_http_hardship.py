"""Bad company over HTTP: clients that are slow, leave, hold on, or make calls fail; and what they leave behind."""

import json
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2

from tests.integration.http_service import (
    PATIENCE,
    HttpService,
    eventually,
    http_service,
    nobody_can_write,
)
from tests.integration.telling_calls import FAILS, serve_telling_calls
from tests.integration.test_mcp_http import agent_at, asked, recording
from tests.lengths import at_length
from tests.served import ERAS
from treering.interfaces.servers.threads import CONCURRENCY, CallQueue

SECRET = "ghp_" + "a1B2c3D4e5" * 4
MOST_FILES = 40
"""A server holds some twenty files when nobody is there: the database for each thread, locks, pipes and its socket."""
MOST_THREADS = 20
CLIENTS = at_length(16, full=40)


def test_a_client_that_leaves_in_the_middle_of_a_call_leaves_nothing_behind(tmp_path: Path) -> None:
    with http_service(tmp_path, function=serve_telling_calls) as service:
        recording(service, "auto", "The first opens the memory.")
        with nobody_can_write(tmp_path):
            # As many as write at once are at work, the others wait for their turn.
            begun = [_begin(service, number) for number in range(10)]
            eventually(lambda: service.calls_begun > CONCURRENCY[CallQueue.WRITE])
            for connection in begun:
                connection.close()
        eventually(lambda: service.connections == 0)
        assert recording(service, "auto", "The server is well.")
        assert service.threads < MOST_THREADS
        assert service.files < MOST_FILES


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
    return connection


def test_who_waits_to_write_keeps_nobody_from_reading(tmp_path: Path) -> None:
    with http_service(tmp_path, function=serve_telling_calls) as service, ThreadPoolExecutor(20) as calling:
        known = recording(service, "auto", "The harbour crane is painted turquoise.")
        with nobody_can_write(tmp_path):
            waiting = [calling.submit(recording, service, "auto", f"Record number {each}") for each in range(20)]
            eventually(lambda: service.calls_begun > CONCURRENCY[CallQueue.WRITE])
            with agent_at(service) as agent:
                assert known in agent.told("search_memory", query="harbour crane")
            assert not any(call.done() for call in waiting)
        assert len({call.result(PATIENCE) for call in waiting}) == 20


def test_who_sends_half_a_request_keeps_nobody_out(service: HttpService) -> None:
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
    eventually(lambda: service.connections == 0)
    assert service.files < MOST_FILES


def test_many_clients_that_came_and_went_have_left_nothing(service: HttpService) -> None:
    with ThreadPoolExecutor(8) as calling:
        coming = [
            calling.submit(recording, service, ERAS[each % 2], f"Client {each} was here.") for each in range(CLIENTS)
        ]
        assert len({call.result(PATIENCE) for call in coming}) == CLIENTS
        eventually(lambda: service.connections == 0)
        assert service.files < MOST_FILES
        assert service.threads < MOST_THREADS


def test_refusals_open_nothing(service: HttpService) -> None:
    for _ in range(50):
        assert asked(service, Authorization="")[0].status == 401
        assert asked(service)[0].status == 400
    eventually(lambda: service.connections == 0)
    assert service.files < MOST_FILES


def test_what_goes_wrong_is_told_without_secrets(tmp_path: Path) -> None:
    words: dict[str, Any] = {FAILS: f"cannot read {SECRET}"}
    with http_service(tmp_path, function=serve_telling_calls, **words) as service, agent_at(service) as agent:
        assert "ValueError" in agent.refused("memory_stats")
    said = service.stderr.read_text()
    assert "treering: ERROR" in said
    assert "cannot read [redacted:" in said
    assert SECRET not in said
