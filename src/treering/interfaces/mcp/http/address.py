"""Where the server listens, and by which names it is asked for."""

import errno
import ipaddress
import os
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass

from treering.core.errors import InvalidInput

PATH = "/mcp"
_LOCAL = ("127.0.0.1", "localhost", "[::1]")
_NAMED = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9_]([a-z0-9._-]*[a-z0-9_])?)(:(?P<port>[0-9]{1,5}))?")


@dataclass(frozen=True, slots=True)
class Address:
    """An address of this machine, as the system knows it."""

    family: socket.AddressFamily
    ip: str
    port: int

    @property
    def is_loopback(self) -> bool:
        return ipaddress.ip_address(self.ip.partition("%")[0]).is_loopback

    @property
    def name(self) -> str:
        """As it stands in a URL."""
        return f"[{self.ip}]" if self.family is socket.AF_INET6 else self.ip


def resolved(host: str, port: int) -> Address:
    """What a host means here. A name is what it resolves to: `localhost` is not always this machine."""
    if not host.strip():
        raise InvalidInput("--host needs an address of this machine, such as 127.0.0.1")
    try:
        family, _, _, _, (ip, *_) = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as exc:
        raise InvalidInput(f"--host {host} is not a local address ({exc}); leave it out for 127.0.0.1") from exc
    return Address(family, str(ip), port)


def refuse_strangers_without_auth(address: Address, names: Iterable[str], *, brings_token: bool) -> None:
    """Others can reach an address that is not loopback: somebody must have meant it, and said so twice."""
    if address.is_loopback:
        return
    missing = [] if brings_token else ["--token-file FILE (or TREERING_MCP_TOKEN) with a token of your own"]
    missing += [] if tuple(names) else ["--allow-host NAME, the name by which clients reach it"]
    if missing:
        raise InvalidInput(f"{address.ip} can be reached from outside this machine; add {' and '.join(missing)}")


def listening(address: Address) -> socket.socket:
    """A socket there; a port of 0 has become a free one."""
    sock = socket.socket(address.family, socket.SOCK_STREAM)
    try:
        # After a restart the old connections may linger; Windows would let two servers share the port.
        if os.name != "nt":
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((address.ip, address.port))
        sock.listen(socket.SOMAXCONN)
    except OSError as exc:
        sock.close()
        if exc.errno == errno.EADDRINUSE:
            raise InvalidInput(
                f"port {address.port} is taken, perhaps by another `treering mcp --http`; name another with --port, or "
                "--port 0 for any that is free"
            ) from exc
        raise InvalidInput(
            f"cannot listen on {address.name}:{address.port} ({exc.strerror}); try other --host or --port"
        ) from exc
    return sock


def hosts(address: Address, port: int, allowed: Iterable[str]) -> frozenset[str]:
    """What may stand in `Host`. A web page that points a name of its own at this machine has another there."""
    own = {f"{name}:{port}" for name in (*_LOCAL, address.name)} if address.is_loopback else set[str]()
    return frozenset(own | {form for name in allowed for form in _forms(name, port)})


def origins(hosts: Iterable[str]) -> frozenset[str]:
    """What may stand in `Origin`, where a browser sends one: our own pages, plain or behind a TLS proxy."""
    return frozenset(f"{scheme}://{host}" for host in hosts for scheme in ("http", "https"))


def _forms(allowed: str, port: int) -> tuple[str, ...]:
    """A name with a port is meant so; one without is asked for at our port, or at the usual one of a proxy."""
    found = _NAMED.fullmatch(allowed.strip().lower())
    if not found:
        raise InvalidInput(f"--allow-host {allowed} is not NAME or NAME:PORT, such as memory.example.org")
    return (found[0],) if found["port"] else (found["name"], f"{found['name']}:{port}")
