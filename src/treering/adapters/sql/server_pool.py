"""Connections to PostgreSQL: one pool for all memories of a process with the same database, login and settings."""

from __future__ import annotations

import os
import threading
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakSet, WeakValueDictionary

from sqlalchemy import URL, Engine, create_engine, event

from treering.adapters.sql.forks import survive_forks
from treering.adapters.sql.pending_rows import insert_before_statements
from treering.core.errors import InvalidInput, MissingDependency

if TYPE_CHECKING:
    import psycopg

    from treering.core.settings import StoreSettings

PREPARE_THRESHOLD = "prepare_threshold"
"""Parameter of a database URL: executions after which a statement is prepared on the server."""
NEVER = "none"
_PID = "SELECT pg_backend_pid()"


class PoolUser(Protocol):
    """One open memory."""

    def after_fork(self) -> None:
        """Reset inherited state in the child process."""
        ...


class ServerPool:
    """The connections of all users with the same URL, environment and settings. Closed when its last user leaves."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        # A memory that was dropped without being closed does not keep the connections open.
        self.users = WeakSet[PoolUser]()


_lock = threading.Lock()
_pools: WeakValueDictionary[Hashable, ServerPool] = WeakValueDictionary()


def join_pool(user: PoolUser, url: URL, settings: StoreSettings) -> ServerPool:
    """The pool for this URL, created for its first user. `leave_pool` must follow."""
    try:
        import psycopg  # noqa: F401
    except ImportError as exc:
        raise MissingDependency("PostgreSQL needs its driver: pip install 'treering[postgres]'") from exc
    key = (_login(url), settings.pool_size, settings.busy_seconds, settings.connect_seconds)
    with _lock:
        pool = _pools.get(key)
        if pool is None:
            pool = _pools[key] = _new_pool(url, settings)
        pool.users.add(user)
    return pool


def leave_pool(user: PoolUser, pool: ServerPool) -> None:
    """Close the connections if no other memory uses them. Leaving twice is harmless."""
    with _lock:
        pool.users.discard(user)
        if pool.users:
            return
        for key in [key for key, each in _pools.items() if each is pool]:
            del _pools[key]
    pool.engine.dispose()


def prepare_options(url: URL) -> Mapping[str, int | None]:
    """Connection options for `prepare_threshold` of a URL; empty if the URL leaves the choice to Treering."""
    given = url.query.get(PREPARE_THRESHOLD)
    if given is None:
        return {}
    if isinstance(given, str) and given.lower() == NEVER:
        return {PREPARE_THRESHOLD: None}
    if isinstance(given, str) and given.isascii() and given.isdecimal():
        return {PREPARE_THRESHOLD: int(given)}
    shown = given if isinstance(given, str) else ", ".join(given)
    raise InvalidInput(
        f"{PREPARE_THRESHOLD}={shown} in the database URL is not a number of executions; write one number from 0, "
        f"such as 5, or {NEVER} to prepare no statements"
    )


def _login(url: URL) -> Hashable:
    """Everything that decides as whom and to which server a connection is made, also outside the URL."""
    from psycopg.pq import Conninfo

    # The driver takes what the URL omits from variables such as PGUSER and PGPASSWORD, and from a service file.
    defaults = tuple((option.keyword, option.val) for option in Conninfo.get_defaults())
    return (url.render_as_string(hide_password=False), defaults)


def _new_pool(url: URL, settings: StoreSettings) -> ServerPool:
    options = prepare_options(url)
    pool = ServerPool(
        create_engine(
            url.set(drivername="postgresql+psycopg").difference_update_query([PREPARE_THRESHOLD]),
            pool_size=settings.pool_size,
            max_overflow=settings.pool_size,
            pool_timeout=settings.busy_seconds,
            connect_args={"connect_timeout": max(1, round(settings.connect_seconds)), **options},
        )
    )
    insert_before_statements(pool.engine)
    if not options:
        event.listen(pool.engine, "connect", _prepare_nothing_behind_pooler)
    users = pool.users

    def renew() -> None:
        for user in list(users):
            user.after_fork()

    # A server knows nothing of forks: a child may connect even if its parent was in the middle of a transaction.
    survive_forks(pool.engine, renew, reconnect=True)
    return pool


def _prepare_nothing_behind_pooler(connection: psycopg.Connection[Any], _record: object) -> None:
    """Disable prepared statements if the next transaction may run on another server connection, without them.

    A pooler such as PgBouncer announces a process id of its own when a client connects.
    """
    connection.autocommit = True
    row = connection.execute(_PID).fetchone()
    connection.autocommit = False
    if row is None or row[0] != connection.info.backend_pid:
        connection.prepare_threshold = None


def _forget_pools() -> None:
    """In a child process: memories opened from now on share no pool with inherited ones."""
    global _lock  # noqa: PLW0603 - a thread of the parent may hold the lock
    _lock = threading.Lock()
    _pools.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pools)
