"""The server engine: PostgreSQL, with row-level security for every scope."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    URL,
    ColumnElement,
    Connection,
    Engine,
    String,
    Text,
    and_,
    any_,
    bindparam,
    delete,
    func,
    make_url,
    select,
)
from sqlalchemy import text as sql
from sqlalchemy.dialects.postgresql import ARRAY, BIGINT, insert
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from treering.adapters.sql.context import ListParameters, PrincipalName, TransactionContext
from treering.adapters.sql.document_cache import DocumentCache
from treering.adapters.sql.kinds import KINDS
from treering.adapters.sql.owners import SHARED
from treering.adapters.sql.pending_rows import KEEP_PENDING
from treering.adapters.sql.server_pool import ServerPool, join_pool, leave_pool, prepare_options
from treering.adapters.sql.tables import documents, facets, vectors
from treering.core.errors import (
    Conflict,
    InvalidInput,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
    TransactionAborted,
)
from treering.core.scope import EVERY_VISIBILITY, Scope, Visibility
from treering.core.settings import StoreSettings
from treering.core.values import LABELS
from treering.ports.index import SearchIndex
from treering.ports.store import Check

if TYPE_CHECKING:
    from treering.adapters.sql.nearby import Nearby
    from treering.adapters.sql.server_statistics import Remembered

_PREPARED_ELSEWHERE = (
    "a pooler such as PgBouncer ran a prepared statement on another server connection; set prepare_threshold=none in "
    "the URL"
)
# By SQLSTATE, most specific first, with advice.
_ERRORS: tuple[tuple[str, type[StoreError], str], ...] = (
    ("28", StoreUnavailable, "the server refused the login; check user and password in the URL"),
    ("3D", StoreUnavailable, "the database or role does not exist; create it or correct the URL"),
    (
        "42501",
        StoreReadOnly,
        "this role lacks rights on the tables; as the role that owns them run GRANT USAGE ON SCHEMA … TO it, and "
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA … TO it",
    ),
    ("25006", StoreReadOnly, "the server is read-only; connect to the primary"),
    ("53100", StoreFull, "the server's disk is full; free some room and try again, nothing stored is harmed"),
    (
        "53300",
        StoreUnavailable,
        "the server has no connection left; close some, or raise max_connections, then try again",
    ),
    ("53200", StoreUnavailable, "the server is out of memory; try again later, or give it more"),
    ("53", StoreUnavailable, "the server is out of resources; try again later"),
    ("57P03", StoreUnavailable, "the server is starting, stopping or recovering; try again in a moment"),
    ("57P04", StoreUnavailable, "the database was dropped; create it again or correct the URL"),
    ("57014", StoreUnavailable, "the server cancelled the statement; raise its statement_timeout, or try again"),
    ("57", StoreUnavailable, "the server ended the connection; try again when it is back"),
    ("08", StoreUnavailable, "the connection was lost; try again when the server is back"),
    ("40", TransactionAborted, "the server aborted this transaction in favour of another one; try again"),
    ("55P03", StoreUnavailable, "another transaction kept a lock; try again"),
    ("26000", StoreError, _PREPARED_ELSEWHERE),
    ("42P05", StoreError, _PREPARED_ELSEWHERE),
)
# Other errors with the SQLSTATE of missing privileges, distinguished by their text.
_DENIALS: tuple[tuple[str, type[StoreError], str], ...] = (
    (
        "row-level security",
        StoreError,
        "a row of another tenant, project or principal was not written; please report it",
    ),
    ("must be owner", StoreReadOnly, "only the role that owns the tables may do that; connect as this role once"),
    ("for schema", StoreReadOnly, "this role may not create tables; connect once as the role that owns the database"),
)
_WITHOUT_DOCUMENT = (
    "DELETE FROM {table} WHERE tenant = %s AND project = %s AND NOT EXISTS "
    "(SELECT FROM documents WHERE documents.number = {table}.number)"
)
_WORDS = (
    "SELECT (SELECT coalesce(sum(held), 0) FROM posting_blocks WHERE tenant = %s AND project = %s) "
    "+ (SELECT coalesce(sum(CASE count WHEN 0 THEN -1 ELSE 1 END), 0) FROM postings "
    "WHERE tenant = %s AND project = %s), "
    "(SELECT coalesce(sum(length(counts)), 0) FROM documents WHERE tenant = %s AND project = %s)"
)
_WORD_TABLES = ("postings", "posting_blocks")
_ENTER = (
    "SELECT set_config('treering.tenant', %s, true), set_config('treering.project', %s, true), "
    "set_config('treering.principal', %s, true)"
)
# Every look-up of a search has an index, but the planner has no statistics of tables that were just filled. One plan is
# good for all parameters; making it again for each search took an eighth of the server's processor time.
_PLANNING = {"plan_cache_mode": "force_generic_plan"} | {
    f"enable_{way}": "off" for way in ("seqscan", "bitmapscan", "sort")
}
_BY_INDEX = ", ".join(f"set_config('{name}', '{value}', true)" for name, value in _PLANNING.items())
_START = {False: f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {_ENTER}", True: f"BEGIN; {_ENTER}"}
_NAMES = "SELECT tenant, project, principal FROM treering_names(%s::text, %s::text) ORDER BY 1, 2, 3"
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"
_ALSO_LOCK = _LOCK.replace("SELECT", ",")
_LOCK_JOB_KEYS = "SELECT * FROM treering_lock_job_keys(%s, %s, %s::text[], %s::text[], %s::text[])"
_MIGRATION_LOCK = 0x7472_6565
_EMPTIED = tuple(documents.c[name] for name in ("tenant", "project", "number", "owner", "codes", "counts"))

_PGVECTOR = """
    SELECT default_version AS available, installed_version AS created
    FROM (VALUES (1)) AS always LEFT JOIN pg_available_extensions ON name = 'vector'
"""
_BROKEN_GRAPHS = """
    SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid = 'nearby'::regclass AND NOT indisvalid
"""


def server_url(written: str) -> URL:
    """Parse the URL; an error message never contains the password."""
    try:
        return make_url(written)
    except (ArgumentError, ValueError):
        raise InvalidInput(
            "that is not a PostgreSQL URL; write postgresql://user:password@host:port/database"
        ) from None


class ArrayLists:
    """Lists as arrays."""

    def among(self, column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
        return column == any_(bindparam(name, type_=ARRAY(Text if isinstance(column.type, String) else BIGINT)))

    def bound(self, values: Sequence[Any]) -> Sequence[Any]:
        return values


class Postgres:
    """Differences of the server engine."""

    name = "postgresql"
    raw_files: tuple[str, ...] = ()
    lists: ListParameters = ArrayLists()

    def __init__(self, url: URL, settings: StoreSettings, *, read_only: StoreError | None = None) -> None:
        """`read_only` is raised by every write; `InvalidInput` if a parameter of the URL is wrong."""
        prepare_options(url)
        self._url = url
        self._pool: ServerPool | None = None
        self.read_only = read_only
        self._settings = settings
        self.registered = set[PrincipalName]()
        self._nearby: Nearby | None = None
        self._remembered: dict[Scope, Remembered] = {}
        self._documents = DocumentCache()
        self.location = url.render_as_string(hide_password=True).replace("+psycopg", "")

    def open(self) -> Engine:
        self._pool = join_pool(self, self._url, self._settings)
        return self._pool.engine

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

    def writing(self, seconds: float | None) -> nullcontext[None]:
        return nullcontext()

    def options(self, *, writing: bool) -> dict[str, Any]:
        """The driver sends no BEGIN of its own: `start` does."""
        return {"isolation_level": "AUTOCOMMIT"}

    def start(
        self,
        connection: Connection,
        scope: Scope,
        *,
        writing: bool,
        for_search: bool,
        seconds: float | None,
        locks: Sequence[str] = (),
    ) -> None:
        """One message begins the transaction, sets its scope and takes its locks."""
        from psycopg import ClientCursor, Error

        from treering.adapters.sql.nearby import SEARCHING

        statement, driver = _START[writing], connection.connection.driver_connection
        assert driver is not None
        if for_search:
            statement += f", {_BY_INDEX}"
        if self._nearby is not None and not writing:
            statement += f", {SEARCHING}"
        if seconds is not None:
            # 0 means no timeout; the server's minimum is a millisecond.
            statement += f", set_config('lock_timeout', '{max(1, round(seconds * 1000))}ms', true)"
        statement += len(locks) * _ALSO_LOCK
        values = (scope.tenant, scope.project, scope.principal, *(_lock_name(scope, name) for name in locks))
        try:
            with ClientCursor(driver) as cursor:
                cursor.execute(statement, values, prepare=False)
        except Error as exc:
            lost = bool(driver.closed)
            if lost:
                # As SQLAlchemy does: a restarted server has ended the idle connections, too.
                connection.engine.pool._invalidate(connection.connection, exc)
                connection.invalidate(exc)
            raise DBAPIError.instance(statement, None, exc, Error, connection_invalidated=lost) from exc

    def has_unstored_vectors(self, scope: Scope) -> bool:
        remembered = self._remembered.get(_counted_in(scope))
        return remembered is not None and bool(remembered.unstored.models())

    def lock(self, connection: Connection, scope: Scope, name: str) -> None:
        connection.exec_driver_sql(_LOCK, (_lock_name(scope, name),), execution_options=KEEP_PENDING)

    def lock_job_keys(
        self, context: TransactionContext, keys: Sequence[tuple[str, str]]
    ) -> Iterable[tuple[str, str, str, int]]:
        scope = context.scope
        locks = [_lock_name(scope, f"job {kind} {key}") for kind, key in keys]
        values = (scope.tenant, scope.project, *map(list, zip(*keys, strict=True)), locks)
        found = context.connection.exec_driver_sql(_LOCK_JOB_KEYS, values, execution_options=KEEP_PENDING)
        return [(kind, key, state, run_at) for kind, key, state, run_at in found]

    def enter(self, connection: Connection, scope: Scope) -> None:
        connection.exec_driver_sql(_ENTER, (scope.tenant, scope.project, scope.principal))

    def views(self, connection: Connection, scope: Scope) -> Sequence[Scope]:
        named = self.names(connection, scope.tenant, scope.project)
        others = [each.principal for each in named if each.principal not in (SHARED, scope.principal)]
        personal = frozenset({Visibility.PERSONAL})
        return [*(scope.replace(principal=name, visible=personal) for name in others), scope]

    def migrating(self, connection: Connection) -> None:
        connection.execute(select(func.pg_advisory_xact_lock(_MIGRATION_LOCK)))

    def names(
        self, connection: Connection, tenant: str | None = None, project: str | None = None
    ) -> Sequence[PrincipalName]:
        return [PrincipalName(*row) for row in connection.exec_driver_sql(_NAMES, (tenant, project))]

    def guard_blobs(self, connection: Connection, scope: Scope, *, sweeping: bool) -> None:
        lock = func.pg_advisory_xact_lock if sweeping else func.pg_advisory_xact_lock_shared
        connection.execute(select(lock(func.hashtextextended(f"{scope.tenant}\x1f{scope.project}", 0))))

    def index_text(self, connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
        from treering.adapters.sql.server_words import add_documents

        add_documents(connection, rows)

    def unindex_text(self, context: TransactionContext, key: dict[str, Any]) -> None:
        self.clear_text(context, and_(*(documents.c[name] == stored for name, stored in key.items())))

    def clear_text(self, context: TransactionContext, where: ColumnElement[bool]) -> None:
        from treering.adapters.sql.server_words import remove_words

        connection = context.connection
        emptied = connection.execute(delete(documents).where(where).returning(*_EMPTIED)).mappings().all()
        for here in {(row["tenant"], row["project"]) for row in emptied}:
            removed = [(row["number"], row) for row in emptied if (row["tenant"], row["project"]) == here]
            if remove_words(connection, here, removed):
                context.cancelled_words.update(row["owner"] for _, row in removed)
            self._remove_vectors(connection, here, [number for number, _ in removed])
            self._forget_counts(here)
            # A search may have counted the removed documents before the commit.
            context.after_commit.append(partial(self._forget_counts, here))

    def erase_words(self, context: TransactionContext) -> None:
        from treering.adapters.sql.posting_blocks import erase_cancelled, lock_blocks

        here = (context.scope.tenant, context.scope.project)
        lock_blocks(context.connection, here)
        for owner in sorted(context.cancelled_words):
            with context.entered(context.scope.replace(principal=owner or context.scope.principal)) as view:
                erase_cancelled(view.connection, here)

    def restore_index(self, connection: Connection, scope: Scope) -> None:
        from treering.adapters.sql.server_words import restore_words

        here = (scope.tenant, scope.project)
        for name in (vectors.name, *self._existing(connection, ("nearby",))):
            connection.exec_driver_sql(_WITHOUT_DOCUMENT.format(table=name), here)
        for owner in (SHARED, scope.principal) if scope.visible == EVERY_VISIBILITY else (scope.principal,):
            restore_words(connection, here, owner)

    def before_bulk(self, connection: Connection) -> None:
        """No preparation needed."""

    def index(self, context: TransactionContext) -> SearchIndex:
        from treering.adapters.sql.nearby import SEARCHING, nearby_in
        from treering.adapters.sql.server_index import ServerIndex
        from treering.adapters.sql.server_statistics import Remembered

        if self._nearby is None and (nearby := nearby_in(context.connection)) is not None:
            context.connection.exec_driver_sql(f"SELECT {SEARCHING}")
            self._nearby = nearby
        if not context.for_search:
            context.connection.exec_driver_sql(f"SELECT {_BY_INDEX}")
        remembered = self._remembered.setdefault(_counted_in(context.scope), Remembered(documents=self._documents))
        return ServerIndex(context, remembered, self._nearby)

    def expect_names(self, context: TransactionContext, keys: Callable[[], Sequence[str]], max_links: int) -> None:
        from treering.adapters.sql.server_names import named_entities

        if not context.writing:
            context.companions.append(named_entities(context, list(keys())[:LABELS], max_links))

    def after_bulk(self, connection: Connection) -> None:
        """Autovacuum would do this within a minute or so; the first queries should not wait for it."""
        for name in ("knowledge", "turns", "episodes", "facets", "documents", *_WORD_TABLES, "vectors"):
            connection.exec_driver_sql(f"ANALYZE {name}")

    def changes(self, connection: Connection) -> int:
        return 0

    def sizes(self, connection: Connection) -> dict[str, int]:
        size = connection.execute(sql("SELECT pg_database_size(current_database())")).scalar_one()
        return {"database": int(size)}

    def check(self, connection: Connection, scope: Scope) -> Sequence[Check]:
        version = connection.execute(sql("SHOW server_version")).scalar_one()
        return (
            Check("engine", True, f"PostgreSQL {version}"),
            self._check_pgvector(connection, scope),
            self._check_row_security(connection),
            self._check_words(connection, scope),
        )

    def damage(self, connection: Connection) -> str:
        """The server checks its own files."""
        return ""

    def optimise(self, engine: Engine) -> None:
        """Blocks no one: ANALYZE reads a sample, and VACUUM only marks space as free."""
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            tables = (*(kind.table.name for kind in KINDS), documents.name, facets.name, *_WORD_TABLES, vectors.name)
            for name in (*tables, *self._existing(connection, ("nearby",))):
                connection.execute(sql(f"VACUUM (ANALYZE, SKIP_LOCKED) {name}"))

    def erase_traces(self, engine: Engine, seconds: float | None) -> None:
        """Frees deleted rows. The server overwrites them and recycles its log later."""
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            tables = (*(kind.table.name for kind in KINDS), documents.name, facets.name, *_WORD_TABLES, vectors.name)
            for name in (*tables, *self._existing(connection, ("nearby",))):
                connection.execute(sql(f"VACUUM {name}"))

    def copy_to(self, engine: Engine, target: Path, identity: str) -> None:
        return None

    def kept_aside(self) -> tuple[Path, ...]:
        return ()

    def before_close(self, engine: Engine) -> None:
        """Nothing to do."""

    def release(self, engine: Engine) -> None:
        if self._pool is not None:
            leave_pool(self, self._pool)

    def after_fork(self) -> None:
        """Start with an empty cache: its locks may be held by threads of the parent process."""
        self._remembered, self._documents = {}, DocumentCache()

    def _forget_counts(self, here: tuple[str, str]) -> None:
        for scope, remembered in list(self._remembered.items()):
            if (scope.tenant, scope.project) == here:
                remembered.forget_counts()
        self._documents.drop(*here)

    def _remove_vectors(self, connection: Connection, here: tuple[str, str], numbers: Sequence[int]) -> None:
        chosen = "tenant = %s AND project = %s AND number = ANY(%s::bigint[])"
        gone = connection.exec_driver_sql(f"DELETE FROM vectors WHERE {chosen} RETURNING model", (*here, list(numbers)))
        models = sorted(set(gone.scalars()))
        if models and self._existing(connection, ("nearby",)):
            statement = f"DELETE FROM nearby WHERE {chosen} AND model = ANY(%s::text[])"
            connection.exec_driver_sql(statement, (*here, list(numbers), models))

    def _check_words(self, connection: Connection, scope: Scope) -> Check:
        wrong = []
        for view in self.views(connection, scope):
            self.enter(connection, view)
            held, wanted = connection.exec_driver_sql(_WORDS, (scope.tenant, scope.project) * 3).one()
            wrong += [f"{held:,} words of {wanted:,}"] if held != wanted else []
        agrees = not wrong
        detail = "agrees with the documents" if agrees else wrong[0]
        return Check("search index", agrees, detail, "" if agrees else "run `treering doctor --repair` to rebuild it")

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

    def _check_pgvector(self, connection: Connection, scope: Scope) -> Check:
        """Without pgvector, vector search reads every vector: equally accurate, and fast while there are few."""
        from treering.adapters.sql.nearby import nearby_in
        from treering.adapters.sql.server_statistics import EXACT

        row = connection.execute(sql(_PGVECTOR)).one()
        if nearby_in(connection) is not None:
            broken = connection.execute(sql(_BROKEN_GRAPHS)).scalars().all()
            advice = "".join(f"run REINDEX INDEX {name}; " for name in broken).removesuffix("; ")
            return Check("pgvector", not broken, f"{row.created}", advice)
        here = (vectors.c.tenant == scope.tenant, vectors.c.project == scope.project)
        stored = int(connection.execute(select(func.count()).where(*here)).scalar_one())
        state = f"{row.created or row.available} not in use yet" if row.available else "not installed on the server"
        return Check(
            "pgvector",
            stored <= EXACT,
            f"{state}; search by meaning reads all {stored:,} vectors",
            "install pgvector 0.8 or newer on the server, run CREATE EXTENSION vector in this database as a "
            "superuser, then `treering doctor --repair`",
        )

    def _existing(self, connection: Connection, tables: Sequence[str]) -> Sequence[str]:
        """The tables that exist in this database."""
        named = sql("SELECT name FROM unnest(CAST(:names AS text[])) AS name WHERE to_regclass(name) IS NOT NULL")
        return connection.execute(named, {"names": list(tables)}).scalars().all()

    def _explain(self, exc: DBAPIError) -> StoreError | Conflict:
        said = str(exc.orig).strip()
        state = getattr(exc.orig, "sqlstate", None) or _state_of(said)
        reason = said.splitlines()[0] if said else type(exc.orig).__name__
        for said, error, advice in _DENIALS if state == "42501" else ():
            if said in reason:
                return error(f"{self.location}: {advice} ({reason})")
        if state.startswith("23"):
            return Conflict(f"the database rejected the change: {reason}")
        for prefix, error, advice in _ERRORS:
            if state.startswith(prefix):
                return error(f"{self.location}: {advice} ({reason})")
        if exc.connection_invalidated or not state:
            advice = "the server cannot be reached; check that it runs and that host and port are right"
            return StoreUnavailable(f"{self.location}: {advice} ({reason})")
        return StoreError(f"{self.location}: {reason}")


# A rejected connection has no SQLSTATE: psycopg has only its text, in the server's language. The known English texts,
# most specific first.
_REFUSALS: tuple[tuple[str, str], ...] = (
    ("too many clients already", "53300"),
    ("remaining connection slots", "53300"),
    ("too many connections", "53300"),
    ("the database system is", "57P03"),
    ("No space left on device", "53100"),
    ("out of memory", "53200"),
    ("password authentication failed", "28"),
    ("no password supplied", "28"),
    ("no pg_hba.conf entry", "28"),
    ("is not permitted to log in", "28"),
    ("does not exist", "3D"),
    ("closed the connection", "08"),
    ("connection is lost", "08"),
)


def _lock_name(scope: Scope, name: str) -> str:
    return "\x1f".join((scope.tenant, scope.project, name))


def _counted_in(scope: Scope) -> Scope:
    """Statistics are kept per principal, because each sees different rows."""
    return Scope.named(tenant=scope.tenant, project=scope.project, principal=scope.principal)


def _state_of(reason: str) -> str:
    """The SQLSTATE of a refused connection; empty if the server was not reached."""
    return next((state for said, state in _REFUSALS if said in reason), "")
