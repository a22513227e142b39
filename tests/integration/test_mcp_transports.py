"""Every tool, resource and prompt as the official client gets it from a `treering mcp` process, by both transports."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

import treering
from tests.e2e.terminal import Terminal
from tests.forked_process import launcher_command
from tests.integration.http_service import HttpService, http_service
from tests.integration.stdio_server import Project, call
from tests.served import ERAS, connected
from tests.served_table import filled, go_through, repository

eras = pytest.mark.parametrize("era", ERAS)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return repository(tmp_path / "shop")


@pytest.fixture
def ids(tmp_path: Path) -> dict[str, str]:
    with treering.open(str(tmp_path / "memory.db"), project="p") as memory:
        return filled(memory)


@eras
def test_everything_is_answered_over_stdio(tmp_path: Path, root: Path, ids: dict[str, str], era: str) -> None:
    command, *launcher = launcher_command()
    served = StdioServerParameters(
        command=command,
        args=[*launcher, "mcp", "--db", str(tmp_path / "memory.db"), "--project", "p"],
        cwd=root,
        env=Terminal(tmp_path).variables({}),
    )
    with connected(stdio_client(served), era) as agent:
        go_through(agent, ids)


@eras
def test_everything_is_answered_over_http(tmp_path: Path, root: Path, ids: dict[str, str], era: str) -> None:
    options = ("--db", str(tmp_path / "memory.db"), "--project", "p", "--root", str(root))
    with http_service(tmp_path, *options) as service, connected(_way_to(service), era) as agent:
        go_through(agent, ids)


@asynccontextmanager
async def _way_to(service: HttpService) -> AsyncIterator[Any]:
    headers = {"Authorization": f"Bearer {service.token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        streamable_http_client(service.url, http_client=http) as streams,
    ):
        yield streams


def _call(id: int, arguments: bytes) -> bytes:
    """A call as no client of the SDK would write it."""
    plain = call(id, "record_memory").replace(b'"arguments": {}', b'"arguments": ' + arguments)
    assert arguments in plain
    return plain


MALFORMED = (
    rb'{"text": "half a pair \ud800"}',
    rb'{"text": "plain", "\udfff": 1}',
    b'{"text": NaN}',
    b'{"text": 1e999}',
    b'{"text": ' + b"9" * 100_000 + b"}",
    b'{"text": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    b'{"tags": ' + b'{"a":' * 5_000 + b"1" + b"}" * 5_000 + b"}",
    b'"no object"',
    b"[1, 2]",
    b'{"text": "a", "text": "b", "__proto__": {"admin": true}}',
    b'{"text": "cut off',
)


def test_what_no_client_should_write_leaves_the_server_alive(tmp_path: Path) -> None:
    project = Project(tmp_path)
    with project.server() as server:
        server.greeted()
        for id, arguments in enumerate(MALFORMED, start=1):
            server.say(_call(id, arguments))
            server.say(call(1_000 + id, "memory_stats"))
            assert _answer_to(1_000 + id, server)["result"]["structuredContent"]["project"], arguments[:40]
        assert server.ask(call(2_000, "record_memory", text="still here"))["result"]["structuredContent"]["id"]


def _answer_to(id: int, server: Any) -> Any:
    """The answer to one call; those to others are short, whatever they say."""
    while (heard := server.hear()).get("id") != id:
        assert len(json.dumps(heard)) < 2_000
    return heard
