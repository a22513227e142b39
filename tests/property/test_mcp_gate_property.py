"""Whoever does not know the token, or asks by another name or from another page, does not come in."""

import asyncio

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from treering.interfaces.mcp.http.gate import NO_SUCH_PATH, McpGate
from treering.interfaces.servers.http.gate import FOREIGN_HOST, FOREIGN_ORIGIN, NO_TOKEN
from treering.interfaces.servers.http.limits import HttpLimits

TOKEN = "a-token-that-somebody-made-for-us-0001"
HOSTS = ("127.0.0.1:4711", "localhost:4711")
SHOWN = (b"authorization", f"Bearer {TOKEN}".encode())
HERE = (b"host", HOSTS[0].encode())

anything = st.binary(max_size=80)


def gate() -> McpGate:
    return McpGate(lambda *_: None, hosts=HOSTS, token=TOKEN, limits=HttpLimits())  # type: ignore[arg-type]


def test_who_knows_the_token_comes_in() -> None:
    for host in (*HOSTS, "LocalHost:4711"):
        for scheme in ("Bearer", "bearer", "BEARER"):
            shown = (b"authorization", f"{scheme} {TOKEN}".encode())
            for origin in ((), ((b"origin", b"http://localhost:4711"),)):
                assert gate().refusal("POST", "/mcp", [(b"host", host.encode()), shown, *origin]) is None


@given(anything)
@example(b"")
@example(TOKEN.encode())
@example(f"Bearer {TOKEN}x".encode())
@example(f"Bearer {TOKEN[:-1]}".encode())
@example(f"Basic {TOKEN}".encode())
@example(f"Bearer {TOKEN.upper()}".encode())
def test_whatever_else_is_shown_is_refused_without_a_reason(shown: bytes) -> None:
    refusal = gate().refusal("POST", "/mcp", [HERE, (b"authorization", shown)])
    assert refusal is NO_TOKEN
    assert refusal.why == "unauthorized"
    assert ("WWW-Authenticate", "Bearer") in refusal.headers


@given(anything)
@example(b"localhost")
@example(b"localhost:4712")
@example(b"localhost:4711.evil.example")
@example(b"evil.example:4711")
@example(b"127.0.0.1:4711@evil.example")
def test_another_host_is_refused_even_with_the_token(host: bytes) -> None:
    for token in ((), (SHOWN,)):
        assert gate().refusal("POST", "/mcp", [(b"host", host), *token]) is FOREIGN_HOST


@given(anything)
@example(b"null")
@example(b"")
@example(b"http://localhost")
@example(b"http://evil.example")
@example(b"http://localhost:4711.evil.example")
def test_another_page_is_refused_even_with_the_token(origin: bytes) -> None:
    assert gate().refusal("POST", "/mcp", [HERE, SHOWN, (b"origin", origin)]) is FOREIGN_ORIGIN


@given(st.text(max_size=40).filter(lambda path: path != "/mcp"))
@example("/mcp/")
@example("//mcp")
@example("/")
@example("/.well-known/oauth-protected-resource")
def test_nothing_else_is_here(path: str) -> None:
    assert gate().refusal("POST", path, [HERE, SHOWN]) is NO_SUCH_PATH
    assert gate().refusal("POST", path, [HERE]) is NO_SUCH_PATH


@pytest.mark.parametrize("kind", ["websocket", "webtransport", ""])
def test_nothing_but_http_comes_in(kind: str) -> None:
    with pytest.raises(ValueError, match="not served"):
        asyncio.run(gate()({"type": kind}, None, None))  # type: ignore[arg-type]


def test_what_is_said_twice_counts_as_not_said() -> None:
    assert gate().refusal("POST", "/mcp", [HERE, HERE, SHOWN]) is FOREIGN_HOST
    assert gate().refusal("POST", "/mcp", [HERE, SHOWN, SHOWN]) is NO_TOKEN
    assert gate().refusal("POST", "/mcp", [SHOWN]) is FOREIGN_HOST
    foreign = [(b"origin", b"http://localhost:4711"), (b"origin", b"http://evil.example")]
    assert gate().refusal("POST", "/mcp", [HERE, SHOWN, *foreign]) is FOREIGN_ORIGIN
