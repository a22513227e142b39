"""Where the HTTP server listens, by which names it is known, and what it refuses without auth."""

import socket

import pytest

from treering.core.errors import InvalidInput
from treering.interfaces.servers.http.address import (
    Address,
    accepted_hosts,
    check_exposure,
    listen,
    origins,
    resolve,
)

MEANT = ("memory.example.org",)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.2", "::1"])
def test_loopback_needs_nothing_more(host: str) -> None:
    check_exposure(resolve(host, 80), (), has_token=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "::ffff:127.0.0.1", "2001:db8::1"])
def test_elsewhere_needs_a_token_of_ones_own_and_a_name(host: str) -> None:
    address = resolve(host, 80)
    with pytest.raises(InvalidInput, match=r"--token-file FILE .*TREERING_MCP_TOKEN.* and --allow-host NAME"):
        check_exposure(address, (), has_token=False)
    with pytest.raises(InvalidInput, match="add --allow-host NAME"):
        check_exposure(address, (), has_token=True)
    with pytest.raises(InvalidInput, match="add --token-file FILE"):
        check_exposure(address, MEANT, has_token=False)
    check_exposure(address, MEANT, has_token=True)


def test_a_name_is_what_it_resolves_to(monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.7", 80))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: elsewhere)
    assert not resolve("localhost", 80).is_loopback


@pytest.mark.parametrize("host", ["", " ", "no.such.host.invalid", "127.0.0.1:80", "a" * 300])
def test_what_is_no_address_is_refused(host: str) -> None:
    with pytest.raises(InvalidInput, match="--host"):
        resolve(host, 80)


def test_on_loopback_it_is_known_by_the_names_of_this_machine_at_its_port() -> None:
    known = accepted_hosts(resolve("127.0.0.1", 0), 4711, ())
    assert known == {"127.0.0.1:4711", "localhost:4711", "[::1]:4711"}
    assert "http://localhost:4711" in origins(known)


def test_elsewhere_it_is_known_by_the_names_that_were_allowed_only() -> None:
    elsewhere = Address(socket.AF_INET, "0.0.0.0", 4711)
    assert accepted_hosts(elsewhere, 4711, ["Memory.Example.org"]) == {"memory.example.org", "memory.example.org:4711"}
    assert accepted_hosts(elsewhere, 4711, ["a.example:443", "[2001:DB8::1]:8"]) == {"a.example:443", "[2001:db8::1]:8"}


@pytest.mark.parametrize(
    "name", ["*", "", "http://a.example", "a.example/mcp", "a b", "a.example:x", "*.example", "a:1:2"]
)
def test_what_is_no_name_is_not_allowed(name: str) -> None:
    with pytest.raises(InvalidInput, match="not NAME or NAME:PORT"):
        accepted_hosts(resolve("127.0.0.1", 0), 4711, [name])


def test_a_port_that_is_taken_says_which_option_helps() -> None:
    with listen(resolve("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InvalidInput, match=rf"port {port} is in use.*--port 0"):
            listen(resolve("127.0.0.1", port))
    listen(resolve("127.0.0.1", port)).close()


def test_an_address_of_another_machine_says_which_options_help() -> None:
    with pytest.raises(InvalidInput, match=r"cannot listen on 192\.0\.2\.7:4711 .*--host or --port"):
        listen(Address(socket.AF_INET, "192.0.2.7", 4711))


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_connections_send_small_answers_at_once(host: str) -> None:
    """asyncio turns Nagle's algorithm off only if the socket names its protocol; with it an answer waits 40 ms."""
    with listen(resolve(host, 0)) as listening, socket.create_connection(listening.getsockname()[:2]):
        connection, _ = listening.accept()
        with connection:
            assert connection.proto == socket.IPPROTO_TCP
