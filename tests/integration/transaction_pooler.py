"""A transaction pooler as PgBouncer is one: each transaction of a client may run on another server connection.

Session state, such as prepared statements, is not carried over. Real PgBouncer is not published as a Python package, so
tests use this everywhere, and PgBouncer too where it is installed.
"""

import os
import pwd
import select
import shutil
import socket
import struct
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Queue

from sqlalchemy import URL, make_url

_PATIENCE = 30
_ENCRYPTION_REQUESTS = (80877103, 80877104)  # SSL, GSSAPI
_CANCEL = 80877102
_PORT = 5432
"""Part of the name of a Unix socket."""


class _Wire:
    """One end of the protocol, cut into messages."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self._received = b""

    def fileno(self) -> int:
        return self.sock.fileno()

    def exactly(self, count: int) -> bytes:
        while len(self._received) < count:
            self._receive()
        taken, self._received = self._received[:count], self._received[count:]
        return taken

    def message(self) -> tuple[bytes, bytes]:
        """The next message: its type and all of it."""
        head = self.exactly(5)
        return head[:1], head + self.exactly(struct.unpack("!I", head[1:])[0] - 4)

    def messages(self) -> Iterator[tuple[bytes, bytes]]:
        """The messages that have arrived completely, after one wait for more data."""
        self._receive()
        while len(self._received) >= 5:
            if len(self._received) <= struct.unpack("!I", self._received[1:5])[0]:
                return
            yield self.message()

    def _receive(self) -> None:
        more = self.sock.recv(1 << 16)
        if not more:
            raise ConnectionError
        self._received += more


class TransactionPooler:
    """Serves a Unix socket, with few server connections that all clients take in turn."""

    def __init__(self, server_socket: str, folder: Path, connections: int) -> None:
        self._server_socket = server_socket
        self._startup = b""
        self._greeting = b""
        self._free: Queue[_Wire] = Queue()
        self._opening = threading.Lock()
        self._connections = connections
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / f".s.PGSQL.{_PORT}"))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()
        while not self._free.empty():
            self._free.get().sock.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client = self._listener.accept()[0]
                threading.Thread(target=self._serve, args=(_Wire(client),), daemon=True).start()

    def _serve(self, client: _Wire) -> None:
        with client.sock, suppress(OSError):
            if startup := _startup_of(client):
                self._open_server_connections(startup)
                client.sock.sendall(self._greeting)
                self._pool(client)

    def _open_server_connections(self, startup: bytes) -> None:
        """With the first client: all of a test have the same login."""
        with self._opening:
            if not self._greeting:
                self._startup = startup
                for _ in range(self._connections):
                    self._free.put(self._connect())

    def _connect(self) -> _Wire:
        server = _Wire(socket.socket(socket.AF_UNIX))
        server.sock.connect(self._server_socket)
        server.sock.sendall(self._startup)
        greeting = b""
        while True:
            kind, message = server.message()
            assert kind != b"E", message
            # The process id and the key of this connection say nothing about those of the next transaction.
            greeting += b"K" + struct.pack("!III", 12, 1, 1) if kind == b"K" else message
            if kind == b"Z":
                self._greeting = greeting
                return server

    def _pool(self, client: _Wire) -> None:
        """Pass messages on, between the transactions of the client to no server connection."""
        server: _Wire | None = None
        unanswered = 0
        try:
            while True:
                for side in select.select([client] if server is None else [client, server], [], [])[0]:
                    for kind, message in side.messages():
                        if side is client:
                            if kind == b"X":
                                return
                            server = server or self._free.get()
                            server.sock.sendall(message)
                            unanswered += kind in (b"S", b"Q")
                            continue
                        client.sock.sendall(message)
                        unanswered -= kind == b"Z"
                        if server and kind == b"Z" and not unanswered and message[5:] == b"I":
                            self._free.put(server)
                            server = None
        finally:
            # As PgBouncer does: a connection in the middle of a transaction is replaced.
            if server is not None:
                server.sock.close()
                self._free.put(self._connect())


def _startup_of(client: _Wire) -> bytes:
    """The login of a client; empty if it only wanted to cancel a statement."""
    while True:
        head = client.exactly(8)
        length, code = struct.unpack("!II", head)
        body = client.exactly(length - 8)
        if code == _CANCEL:
            return b""
        if code not in _ENCRYPTION_REQUESTS:
            return head + body
        client.sock.sendall(b"N")


@contextmanager
def python_pooler(url: URL, folder: Path) -> Iterator[URL]:
    pooler = TransactionPooler(f"{url.query['host']}/.s.PGSQL.{_PORT}", folder, connections=3)
    try:
        yield url.update_query_dict({"host": str(folder)})
    finally:
        pooler.close()


@contextmanager
def pgbouncer(url: URL, folder: Path) -> Iterator[URL]:
    """PgBouncer as the user of the server, since it does not run as root."""
    owner = pwd.getpwuid(Path(str(url.query["host"])).stat().st_uid)
    login = f"host={url.query['host']} dbname={url.database} user={url.username} password={url.password}"
    options = f"auth_type=any\npool_mode=transaction\ndefault_pool_size=3\nlisten_addr=\nunix_socket_dir={folder}"
    options += f"\nlisten_port={_PORT}\nserver_round_robin=1\nlogfile={folder}/log\n"
    (folder / "pgbouncer.ini").write_text(f"[databases]\n{url.database} = {login}\n[pgbouncer]\n{options}")
    os.chown(folder, owner.pw_uid, owner.pw_gid)
    command = [_installed_pgbouncer(), "-q", str(folder / "pgbouncer.ini")]
    with subprocess.Popen(command, user=owner.pw_uid if os.geteuid() == 0 else None) as process:
        try:
            _wait_for(lambda: (folder / f".s.PGSQL.{_PORT}").exists() or process.poll() is not None)
            yield url.update_query_dict({"host": str(folder)})
        finally:
            process.terminate()
            process.wait(_PATIENCE)


def _installed_pgbouncer() -> str:
    return shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin") or ""


def _wait_for(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


_POOLERS = {"python": python_pooler} | ({"pgbouncer": pgbouncer} if _installed_pgbouncer() else {})
POOLERS = tuple(_POOLERS)
"""Those that can run on this machine."""


@contextmanager
def pooled(kind: str, url: str) -> Iterator[str]:
    """The URL of a pooler before this database."""
    with tempfile.TemporaryDirectory(prefix="pool-", dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        with _POOLERS[kind](make_url(url), Path(folder)) as pooled_url:
            yield pooled_url.render_as_string(hide_password=False)
