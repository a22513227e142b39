"""A server that is there and refuses: the message names its reason, not the network."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Engine, event

import treering
from tests.conftest import own_database
from treering.core.errors import StoreError, StoreFull, StoreUnavailable

_SSL_REQUEST = 80877103


@contextmanager
def refusing_server(state: str, message: str) -> Iterator[str]:
    """The URL of a server that answers each connection with this error."""
    fields = f"SFATAL\0VFATAL\0C{state}\0M{message}\0\0".encode()
    answer = b"E" + (len(fields) + 4).to_bytes(4) + fields

    def refuse(connection: socket.socket) -> None:
        with connection:
            while len(asked := connection.recv(4096)) == 8 and int.from_bytes(asked[4:8]) >= _SSL_REQUEST:
                connection.sendall(b"N")
            connection.sendall(answer)

    def listen() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            refuse(connection)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=listen)
        thread.start()
        yield f"postgresql://ada:secret@127.0.0.1:{listening.getsockname()[1]}/shop"
        listening.shutdown(socket.SHUT_RDWR)
    thread.join(10)


@pytest.mark.parametrize(
    ("state", "message", "error", "said"),
    [
        ("53300", "sorry, too many clients already", StoreUnavailable, "no connection left"),
        (
            "53300",
            "remaining connection slots are reserved for roles with the SUPERUSER attribute",
            StoreUnavailable,
            "max_connections",
        ),
        ("53300", 'too many connections for database "shop"', StoreUnavailable, "no connection left"),
        ("57P03", "the database system is starting up", StoreUnavailable, "try again in a moment"),
        ("57P03", "the database system is shutting down", StoreUnavailable, "try again in a moment"),
        ("57P03", "the database system is in recovery mode", StoreUnavailable, "try again in a moment"),
        ("57P03", "the database system is not yet accepting connections", StoreUnavailable, "try again in a moment"),
        (
            "53100",
            'could not write init file "base/1/pg_internal.init": No space left on device',
            StoreFull,
            "disk is full",
        ),
        ("53200", "out of memory", StoreUnavailable, "out of memory"),
        ("28000", 'no pg_hba.conf entry for host "10.0.0.1"', StoreUnavailable, "refused the login"),
    ],
)
def test_a_refused_connection_names_its_reason(state: str, message: str, error: type[StoreError], said: str) -> None:
    with refusing_server(state, message) as url, pytest.raises(error, match=said) as refused:
        treering.open(url)
    assert "cannot be reached" not in str(refused.value)
    assert "secret" not in str(refused.value)


def test_a_role_without_a_connection_left_is_said_so(postgres_admin_url: str) -> None:
    import psycopg
    from sqlalchemy import make_url

    with own_database(postgres_admin_url, pgvector=False) as url:
        with psycopg.connect(postgres_admin_url, autocommit=True) as admin:
            admin.execute(f"ALTER ROLE {make_url(url).username} CONNECTION LIMIT 0")
        with pytest.raises(StoreUnavailable, match="no connection left"):
            treering.open(url)


def test_pgvector_is_not_created_again_with_each_search(postgres_admin_url: str, tmp_path: Path) -> None:
    attempts = list[str]()

    def listen(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        if "CREATE EXTENSION" in statement:
            attempts.append(statement)

    with own_database(postgres_admin_url, pgvector=False) as url:
        event.listen(Engine, "before_cursor_execute", listen)
        try:
            with treering.open(url, project="p", blobs=tmp_path) as memory:
                for number in range(3):
                    memory.remember(f"fact number {number}")
                    assert memory.search("fact")
                    memory.settle()
        finally:
            event.remove(Engine, "before_cursor_execute", listen)
    assert attempts == []
