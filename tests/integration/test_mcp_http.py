"""`treering mcp --http` as clients meet it: who comes in, over both protocols, and what everybody else is told."""

import json
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import replace
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from mcp.client.streamable_http import streamable_http_client

from tests.conftest import ENGINES
from tests.e2e.terminal import Terminal
from tests.integration.http_service import HttpService, http_service
from tests.served import ERAS, Agent, connected

OWN_TOKEN = "a-token-that-somebody-made-for-us-0001"
MODERN = {"MCP-Protocol-Version": "2026-07-28"}
EVERYTHING = [(method, headers) for method in ("GET", "POST", "DELETE", "PUT") for headers in ({}, MODERN)]
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
PROTOCOLS = {"legacy": "2025-11-25", "auto": "2026-07-28"}


@pytest.fixture(scope="module", params=ENGINES)
def service_on_engine(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[HttpService]:
    folder = tmp_path_factory.mktemp("served")
    place = str(folder / "memory.db") if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    with http_service(folder, "--db", place, "--project", f"p-{uuid4().hex}") as service:
        yield service


@contextmanager
def agent_at(service: HttpService, era: str = "auto", token: str | None = None) -> Iterator[Agent]:
    with connected(_way_to(service.url, token or service.token), era) as agent:
        yield agent


def recording(service: HttpService, era: str, text: str) -> str:
    """The id of what a client has recorded that came for nothing else."""
    with agent_at(service, era) as agent:
        return str(agent.call("record_memory", text=text)["id"])


@asynccontextmanager
async def _way_to(url: str, token: str) -> AsyncIterator[Any]:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        streamable_http_client(url, http_client=http) as streams,
    ):
        yield streams


def asked(
    service: HttpService, method: str = "POST", path: str = "/mcp", body: object = PING, **headers: str
) -> tuple[HTTPResponse, str]:
    """The answer to one request, with the token unless another one, or none, is given."""
    address = httpx2.URL(service.url)
    own = {"Authorization": f"Bearer {service.token}", "Content-Type": "application/json"}
    own["Accept"] = "application/json, text/event-stream"
    sent = {name.replace("_", "-"): value for name, value in (own | headers).items() if value}
    with closing(HTTPConnection(address.host, address.port, timeout=60)) as connection:
        connection.request(method, path, body, sent)  # type: ignore[arg-type]
        answer = connection.getresponse()
        return answer, answer.read().decode()


@pytest.mark.parametrize("era", ERAS)
def test_what_one_client_records_another_finds(service_on_engine: HttpService, era: str) -> None:
    flavour = {"legacy": "marmalade", "auto": "rhubarb"}[era]
    with agent_at(service_on_engine, era) as first:
        assert first.protocol == PROTOCOLS[era]
        id = first.call("record_memory", text=f"The {flavour} build needs the {flavour} flag.")["id"]
    with agent_at(service_on_engine, era) as second:
        assert id in second.told("search_memory", query=f"{flavour} flag")
        assert json.loads(second.read(f"treering://memory/{id}"))["source"] == "agent_explicit"
        assert flavour in second.prompt("search", about=f"the {flavour} build")
        assert len(second.ask("list_tools").tools) == 16


def test_two_protocols_speak_of_one_memory_at_once(service: HttpService) -> None:
    with agent_at(service, "legacy") as one, agent_at(service, "auto") as other:
        id = one.call("record_memory", text="Periwinkle is the colour of the staging banner.")["id"]
        assert id in other.told("search_memory", query="periwinkle banner")
        assert other.call("forget", id=id)["id"] == id
        assert id not in one.told("search_memory", query="periwinkle banner")


@pytest.mark.parametrize(("method", "headers"), EVERYTHING)
def test_nobody_comes_in_without_the_token(service: HttpService, method: str, headers: dict[str, str]) -> None:
    for shown in ("", "Bearer", "Bearer wrong", f"Basic {service.token}", f"Bearer {service.token}x", service.token):
        answer, said = asked(service, method, Authorization=shown, **headers)
        assert answer.status == 401
        assert answer.getheader("WWW-Authenticate") == "Bearer"
        assert json.loads(said)["error"]["message"] == "unauthorized"


@pytest.mark.parametrize(("method", "headers"), EVERYTHING)
def test_a_foreign_host_or_page_is_refused_even_with_the_token(
    service: HttpService, method: str, headers: dict[str, str]
) -> None:
    port = httpx2.URL(service.url).port
    for host in ("evil.example", f"evil.example:{port}", "localhost", "127.0.0.1:1"):
        assert asked(service, method, Host=host, **headers)[0].status == 421
    for origin in ("http://evil.example", "null", "http://localhost", f"http://evil.example:{port}"):
        assert asked(service, method, Origin=origin, **headers)[0].status == 403


def test_the_names_of_this_machine_are_known(service: HttpService) -> None:
    port = httpx2.URL(service.url).port
    for name in ("localhost", "127.0.0.1", "[::1]"):
        answer, _ = asked(service, Host=f"{name}:{port}", Origin=f"http://{name}:{port}")
        assert answer.status not in (401, 403, 421)


def test_other_paths_are_not_there(service: HttpService) -> None:
    for path in ("/", "/mcp/", "/sse", "/.well-known/oauth-protected-resource", "//mcp", "/mcp/../etc/passwd"):
        for shown in ("", f"Bearer {service.token}"):
            answer, said = asked(service, path=path, Authorization=shown)
            assert answer.status == 404
            assert "/mcp" in json.loads(said)["error"]["message"]


def test_the_token_is_looked_at_before_anything_of_the_body(service: HttpService) -> None:
    address = httpx2.URL(service.url)
    with socket.create_connection((address.host, address.port), timeout=60) as connection:
        head = f"POST /mcp HTTP/1.1\r\nHost: {address.netloc.decode()}\r\nContent-Length: 1000000\r\n\r\n"
        connection.sendall(head.encode())
        assert connection.recv(1_000).startswith(b"HTTP/1.1 401 ")


@pytest.mark.parametrize("headers", [{}, MODERN], ids=["legacy", "modern"])
@pytest.mark.parametrize("chunked", [False, True])
def test_what_is_too_long_is_refused_with_the_limit(
    service: HttpService, headers: dict[str, str], chunked: bool
) -> None:
    long = b"x" * 10_000_000
    body = (long[at : at + 65_536] for at in range(0, len(long), 65_536)) if chunked else long
    answer, said = asked(service, body=body, **headers)
    assert answer.status == 413
    assert "4,194,304 bytes" in json.loads(said)["error"]["message"]
    with agent_at(service) as agent:
        assert "Project" in agent.told("memory_stats")


def test_the_longest_text_that_is_kept_fits(service: HttpService) -> None:
    with agent_at(service) as agent:
        assert agent.call("record_memory", text="\U0001f333 " * 100_000)["id"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"[" * 100_000, b"\xff\xfe", b'{"jsonrpc":"2.0","id":1}'])
@pytest.mark.parametrize("headers", [{}, MODERN], ids=["legacy", "modern"])
def test_what_is_no_request_is_refused(service: HttpService, body: bytes, headers: dict[str, str]) -> None:
    answer, _ = asked(service, body=body, **headers)
    assert 400 <= answer.status < 500


def test_a_session_that_ended_is_told_so(service: HttpService) -> None:
    answer, _ = asked(service, Mcp_Session_Id="0" * 32)
    assert answer.status == 404


def test_it_says_where_it_is_and_never_the_token(tmp_path: Path) -> None:
    with http_service(tmp_path) as service:
        asked(service, Authorization="Bearer wrong")
        asked(service, body=b"{")
        with agent_at(service) as agent:
            agent.refused("record_memory", text="")
    said = service.stderr.read_text()
    (file,) = (tmp_path / "data").glob("*/mcp-token")
    assert service.url in said
    assert str(file) in said
    assert f"claude mcp add --transport http treering {service.url}" in said
    assert service.token not in said


def test_a_token_from_the_environment_is_in_no_file(tmp_path: Path) -> None:
    with http_service(tmp_path, TREERING_MCP_TOKEN=OWN_TOKEN) as service:
        assert service.token == ""
        with agent_at(service, token=OWN_TOKEN) as agent:
            agent.told("memory_stats")
    assert not list(tmp_path.rglob("mcp-token"))


def test_the_next_server_has_the_same_token(tmp_path: Path) -> None:
    tokens = set()
    for _ in range(2):
        with http_service(tmp_path) as service:
            tokens.add(service.token)
    assert len(tokens) == 1


def test_it_does_not_listen_elsewhere_without_auth(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    elsewhere = ("mcp", "--http", "--host", "0.0.0.0", "--port", "0")
    assert "--token-file FILE" in (said := terminal.refused(*elsewhere))
    assert "--allow-host NAME" in said
    assert "--token-file FILE" in terminal.refused(*elsewhere, "--allow-host", "memory.example.org")
    file = tmp_path / "token"
    file.write_text(OWN_TOKEN)
    file.chmod(0o600)
    assert "--allow-host NAME" in terminal.refused(*elsewhere, "--token-file", str(file))
    file.chmod(0o644)
    assert "chmod 600" in terminal.refused(*elsewhere, "--token-file", str(file), "--allow-host", "memory.example.org")


def test_elsewhere_it_answers_to_the_names_that_were_allowed(tmp_path: Path) -> None:
    names = ("--host", "0.0.0.0", "--allow-host", "memory.example.org")
    with http_service(tmp_path, *names, TREERING_MCP_TOKEN=OWN_TOKEN) as service:
        port = httpx2.URL(service.url).port
        here = replace(service, url=f"http://127.0.0.1:{port}/mcp", token=OWN_TOKEN)
        for host, status in (("memory.example.org", 400), (f"localhost:{port}", 421), (f"0.0.0.0:{port}", 421)):
            assert asked(here, "GET", Host=host)[0].status == status
        assert asked(here, "GET", Host="memory.example.org", Authorization="")[0].status == 401
    said = service.stderr.read_text()
    assert "TLS" in said
    assert "claude mcp add --transport http treering https://memory.example.org/mcp " in said


def test_a_port_that_is_taken_says_what_to_do(service: HttpService, tmp_path: Path) -> None:
    port = str(httpx2.URL(service.url).port)
    assert f"port {port} is in use" in Terminal(tmp_path).refused("mcp", "--http", "--port", port)


@pytest.mark.parametrize(
    "options", [("--host", "0.0.0.0"), ("--host", "no.such.host.invalid"), ("--allow-host", "no name")]
)
def test_a_start_that_is_refused_leaves_nothing_behind(tmp_path: Path, options: tuple[str, str]) -> None:
    Terminal(tmp_path).refused("mcp", "--http", "--port", "0", *options)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "option", [("--port", "1"), ("--host", "::1"), ("--token-file", "x"), ("--allow-host", "a.example")]
)
def test_options_of_http_need_it(tmp_path: Path, option: tuple[str, str]) -> None:
    assert f"{option[0]} has no effect without --http" in Terminal(tmp_path).refused("mcp", *option)


def test_an_answer_in_json_is_of_http_too(tmp_path: Path) -> None:
    done = Terminal(tmp_path).run("mcp", "--json")
    assert done.returncode == 1
    assert "--json has no effect without --http" in json.loads(done.stderr)["error"]
