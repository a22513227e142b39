"""The server engine: PostgreSQL, with row-level security for every scope."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from sqlalchemy import (
    URL,
    ColumnElement,
    Connection,
    Engine,
    RowMapping,
    create_engine,
    delete,
    func,
    literal,
    literal_column,
    make_url,
    select,
)
from sqlalchemy import text as sql
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from treering.adapters.sql.kinds import KINDS, Kind
from treering.adapters.sql.rows import insert_rows
from treering.adapters.sql.searching import best_rows
from treering.adapters.sql.tables import documents, facets
from treering.core.errors import (
    Conflict,
    InvalidInput,
    MissingDependency,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)
from treering.core.scope import Scope
from treering.core.settings import StoreSettings
from treering.ports.store import Check

# By SQLSTATE, the most specific first, and what to do about it.
_ERRORS: tuple[tuple[str, type[StoreError], str], ...] = (
    ("28", StoreUnavailable, "the server refused the login; check user and password in the URL"),
    ("3D", StoreUnavailable, "there is no such database; create it with `createdb` or correct the URL"),
    ("42501", StoreReadOnly, "this role may not do that; grant it rights on the schema"),
    ("25006", StoreReadOnly, "the server is read-only; connect to the primary"),
    ("53100", StoreFull, "the server's disk is full; free some room and try again, nothing stored is harmed"),
    ("53", StoreUnavailable, "the server is out of resources; try again later"),
    ("57", StoreUnavailable, "the server ended the connection; try again when it is back"),
    ("08", StoreUnavailable, "the connection was lost; try again when the server is back"),
    ("40", StoreUnavailable, "the server gave way to another transaction; try again"),
    ("55P03", StoreUnavailable, "another transaction kept a lock; try again"),
)
_MIGRATION_LOCK = 0x7472_6565
_FULL_TEXT: ColumnElement[Any] = literal_column("'treering'::regconfig")


def server_url(written: str) -> URL:
    """The URL, taken apart; its password stays out of the message where it cannot be."""
    try:
        return make_url(written)
    except (ArgumentError, ValueError):
        raise InvalidInput("that is no PostgreSQL URL; write postgresql://user:password@host:port/database") from None


class Postgres:
    """Differences of the server engine."""

    name = "postgresql"

    def __init__(self, url: URL, settings: StoreSettings) -> None:
        self._url = url
        self._settings = settings
        self.location = url.render_as_string(hide_password=True).replace("+psycopg", "")

    def open(self) -> Engine:
        try:
            import psycopg  # noqa: F401
        except ImportError as exc:
            raise MissingDependency("PostgreSQL needs its driver: pip install 'treering[postgres]'") from exc
        return create_engine(
            self._url.set(drivername="postgresql+psycopg"),
            pool_size=self._settings.pool_size,
            max_overflow=self._settings.pool_size,
            pool_timeout=self._settings.busy_seconds,
            connect_args={"connect_timeout": max(1, round(self._settings.connect_seconds))},
        )

    @contextmanager
    def translated(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as exc:
            raise self._explain(exc) from exc
        except PoolTimeout as exc:
            raise StoreUnavailable(f"{self.location}: every connection is busy; close transactions sooner") from exc

    def insert(self, table: Any) -> Any:
        return insert(table)

    def writing(self) -> nullcontext[None]:
        return nullcontext()

    def options(self, *, writing: bool) -> dict[str, Any]:
        if writing:
            return {}
        return {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}

    def lock(self, connection: Connection, scope: Scope, name: str) -> None:
        named = "\x1f".join((scope.tenant, scope.project, name))
        connection.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(named, 0))))

    def enter(self, connection: Connection, scope: Scope, *, upkeep: bool) -> None:
        connection.execute(
            select(
                func.set_config("treering.tenant", scope.tenant, True),
                func.set_config("treering.project", scope.project, True),
                func.set_config("treering.principal", scope.principal, True),
                func.set_config("treering.upkeep", "on" if upkeep else "off", True),
            )
        )

    def migrating(self, connection: Connection) -> None:
        connection.execute(select(func.pg_advisory_xact_lock(_MIGRATION_LOCK)))

    def guard_blobs(self, connection: Connection, scope: Scope, *, sweeping: bool) -> None:
        lock = func.pg_advisory_xact_lock if sweeping else func.pg_advisory_xact_lock_shared
        connection.execute(select(lock(func.hashtextextended(f"{scope.tenant}\x1f{scope.project}", 0))))

    def index_text(self, connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
        insert_rows(connection, documents, rows)

    def unindex_text(self, connection: Connection, key: dict[str, Any]) -> None:
        connection.execute(delete(documents).where(*(documents.c[name] == stored for name, stored in key.items())))

    def clear_text(self, connection: Connection, where: ColumnElement[bool]) -> None:
        connection.execute(delete(documents).where(where))

    def before_bulk(self, connection: Connection) -> None:
        """Nothing to prepare."""

    def search(
        self,
        connection: Connection,
        kind: Kind[Any],
        words: Sequence[str],
        conditions: Sequence[ColumnElement[bool]],
        limit: int,
    ) -> Sequence[tuple[RowMapping, float]]:
        # A quoted word is never tsquery syntax.
        query = func.to_tsquery(_FULL_TEXT, " | ".join(f"'{word}'" for word in words))
        lexemes: ColumnElement[Any] = literal_column("documents.lexemes")
        score = func.ts_rank_cd(lexemes, query, literal(1))
        holding = lexemes.op("@@")(query)
        return best_rows(connection, kind, documents, score, conditions=[holding, *conditions], limit=limit)

    def after_bulk(self, connection: Connection) -> None:
        """Autovacuum would come to it in a minute or so; the first queries should not wait."""
        for name in ("knowledge", "turns", "episodes", "facets", "documents"):
            connection.exec_driver_sql(f"ANALYZE {name}")

    def sizes(self, connection: Connection) -> dict[str, int]:
        size = connection.execute(sql("SELECT pg_database_size(current_database())")).scalar_one()
        return {"database": int(size)}

    def check(self, connection: Connection, scope: Scope) -> Sequence[Check]:
        version = connection.execute(sql("SHOW server_version")).scalar_one()
        vector = connection.execute(
            sql("SELECT default_version FROM pg_available_extensions WHERE name = 'vector'")
        ).scalar()
        return (
            Check("engine", True, f"PostgreSQL {version}"),
            Check(
                "pgvector",
                vector is not None,
                f"{vector} available" if vector else "not installed on the server",
                "" if vector else "install the pgvector extension on the server for search by meaning",
            ),
            self._check_row_security(connection),
            self._check_search(connection),
        )

    def damage(self, connection: Connection) -> str:
        """The server looks after its own files."""
        return ""

    def rebuild_search(self, connection: Connection) -> None:
        connection.execute(sql("REINDEX INDEX documents_by_lexemes"))

    def forget_traces(self, engine: Engine) -> None:
        """Frees what was deleted. The server overwrites it, and recycles its log, in its own time."""
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            for table in (*(kind.table for kind in KINDS), documents, facets):
                connection.execute(sql(f"VACUUM {table.name}"))

    def copy_to(self, engine: Engine, target: Path, identity: str) -> None:
        return None

    def kept_aside(self) -> tuple[Path, ...]:
        return ()

    def before_close(self, engine: Engine) -> None:
        """Nothing to leave in order."""

    def after_fork(self) -> None:
        """Nothing but connections is held."""

    def _check_row_security(self, connection: Connection) -> Check:
        bypass = connection.execute(
            sql("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user")
        ).scalar_one()
        return Check(
            "row-level security",
            not bypass,
            "this role bypasses it" if bypass else "enforced",
            "connect with a role that is neither superuser nor BYPASSRLS" if bypass else "",
        )

    def _check_search(self, connection: Connection) -> Check:
        valid = connection.execute(
            sql("SELECT indisvalid FROM pg_index WHERE indexrelid = 'documents_by_lexemes'::regclass")
        ).scalar()
        return Check(
            "search index",
            bool(valid),
            "valid" if valid else "missing or invalid",
            "" if valid else "run `treering doctor --repair` to rebuild it",
        )

    def _explain(self, exc: DBAPIError) -> StoreError | Conflict:
        state = getattr(exc.orig, "sqlstate", None) or ""
        reason = str(exc.orig).strip().splitlines()[0] if str(exc.orig).strip() else type(exc.orig).__name__
        if state.startswith("23"):
            return Conflict(f"the database refused the change: {reason}")
        for prefix, error, advice in _ERRORS:
            if state.startswith(prefix):
                return error(f"{self.location}: {advice} ({reason})")
        if exc.connection_invalidated or not state:
            return StoreUnavailable(f"{self.location}: {_unreachable(reason)} ({reason})")
        return StoreError(f"{self.location}: {reason}")


def _unreachable(reason: str) -> str:
    if "password authentication failed" in reason or "no password supplied" in reason:
        return "the server refused the login; check user and password in the URL"
    if "does not exist" in reason:
        return "there is no such database or role; create it or correct the URL"
    if "closed the connection" in reason or "connection is lost" in reason:
        return "the connection was lost; try again when the server is back"
    return "the server cannot be reached; check that it runs and that host and port are right"
