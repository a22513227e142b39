"""The address that the server listens on, and the host names that it accepts."""

import errno
import ipaddress
import os
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass

from treering.core.errors import InvalidInput

MCP_VARIABLE = "TREERING_MCP_TOKEN"
"""Environment variable with the token of an MCP server."""
_LOCAL = ("127.0.0.1", "localhost", "[::1]")
_NAMED = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9_]([a-z0-9._-]*[a-z0-9_])?)(:(?P<port>[0-9]{1,5}))?")


@dataclass(frozen=True, slots=True)
class Address:
    """A resolved address of this machine."""

    family: socket.AddressFamily
    ip: str
    port: int

    @property
    def is_loopback(self) -> bool:
        ip = ipaddress.ip_address(self.ip.partition("%")[0])
        # Python 3.13 takes mapped IPv4 addresses for loopback, earlier versions do not.
        return ip.is_loopback and getattr(ip, "ipv4_mapped", None) is None

    @property
    def name(self) -> str:
        """The address as part of a URL."""
        return f"[{self.ip}]" if self.family is socket.AF_INET6 else self.ip


def resolve(host: str, port: int) -> Address:
    """The address of a host name, as the system resolves it: `localhost` is not always this machine."""
    if not host.strip():
        raise InvalidInput("--host is empty; pass a local address, such as 127.0.0.1")
    try:
        family, _, _, _, (ip, *_) = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as exc:
        raise InvalidInput(f"--host {host} is not a local address ({exc}); omit it to use 127.0.0.1") from exc
    return Address(family, str(ip), port)


def check_exposure(address: Address, names: Iterable[str], *, has_token: bool, variable: str = MCP_VARIABLE) -> None:
    """Refuse an address that other machines can reach, unless the user gave a token and a host name for it."""
    if address.is_loopback:
        return
    missing = [] if has_token else [f"--token-file FILE (or {variable}) with a token of your own"]
    missing += [] if tuple(names) else ["--allow-host NAME, the name by which clients reach it"]
    if missing:
        raise InvalidInput(f"{address.ip} can be reached from outside this machine; add {' and '.join(missing)}")


def listen(address: Address) -> socket.socket:
    """A listening socket; port 0 picks a free one."""
    # The protocol must be named: asyncio sends small packets at once (TCP_NODELAY) only on sockets that name it.
    sock = socket.socket(address.family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
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
                f"port {address.port} is in use, perhaps by another server of Treering; pass another --port, "
                "or --port 0 for a free one"
            ) from exc
        raise InvalidInput(
            f"cannot listen on {address.name}:{address.port} ({exc.strerror}); try another --host or --port"
        ) from exc
    return sock


def accepted_hosts(address: Address, port: int, allowed: Iterable[str]) -> frozenset[str]:
    """Accepted values of `Host`. Prevents DNS rebinding: a page that points its own name at this machine sends that."""
    own = {f"{name}:{port}" for name in (*_LOCAL, address.name)} if address.is_loopback else set[str]()
    return frozenset(own | {form for name in allowed for form in _forms(name, port)})


def origins(hosts: Iterable[str]) -> frozenset[str]:
    """Accepted values of `Origin`, which browsers send: our own pages, plain or behind a TLS proxy."""
    return frozenset(f"{scheme}://{host}" for host in hosts for scheme in ("http", "https"))


def _forms(allowed: str, port: int) -> tuple[str, ...]:
    """The name as given if it has a port, else the name alone (behind a proxy) and with our port."""
    found = _NAMED.fullmatch(allowed.strip().lower())
    if not found:
        raise InvalidInput(f"--allow-host {allowed} is not NAME or NAME:PORT, such as memory.example.org")
    return (found[0],) if found["port"] else (found["name"], f"{found['name']}:{port}")
