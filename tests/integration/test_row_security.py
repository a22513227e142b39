"""Row-level security on PostgreSQL: raw SQL of an ordinary role meets no row of another scope."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import make_url

import treering
from tests.conftest import own_database
from tests.samples import COLLECTIONS, NOW, put, sample
from treering.adapters.sql.kinds import KINDS
from treering.core.errors import StoreError
from treering.memory import Memory

MARK = "xylophonist"
PROJECT_WIDE = frozenset(
    {"co_access_edges", "signal_evidence", "project_settings", "jobs", "runs"}
    | {"code_state", "code_files", "code_facts", "code_uses", "code_ties", "code_history"}
    | {"code_chunks", "code_vectors", "ids"}
)
"""Tables that hold no text of a personal record: a new table is either named here, or has an owner.

Jobs name principals and sessions, because a worker does them for every principal. Of ids there are digests only.
"""
COLUMNS = """
    SELECT table_name, array_agg(column_name::text) FROM information_schema.columns
    JOIN information_schema.tables USING (table_schema, table_name)
    WHERE table_schema = 'public' AND table_type = 'BASE TABLE' GROUP BY table_name
"""
POLICIES = "SELECT qual, coalesce(with_check, qual) FROM pg_policies WHERE tablename = %s AND policyname = 'scope'"
FORCED = "SELECT relrowsecurity AND relforcerowsecurity FROM pg_class WHERE oid = %s::regclass"


@pytest.fixture
def url(postgres_admin_url: str) -> Iterator[str]:
    with own_database(postgres_admin_url) as url:
        yield url


@contextmanager
def connected(url: str, **names: str) -> Iterator[psycopg.Connection[Any]]:
    """Raw SQL, with the variables that a scope sets."""
    plain = make_url(url).set(drivername="postgresql").render_as_string(False)
    with psycopg.connect(plain, autocommit=True) as raw:
        for name, value in names.items():
            raw.execute("SELECT set_config(%s, %s, false)", (f"treering.{name}", value))
        yield raw


def opened(url: str, folder: Path, principal: str) -> Memory:
    return treering.open(url, tenant="t", project="p", principal=principal, blobs=folder, clock=lambda: NOW)


def fill(memory: Memory, visibility: str) -> None:
    """A row in every table that personal records leave rows in, each with the mark, and their vectors."""
    name = memory.scope.principal
    memory.remember(f"{MARK} of {name}", type="fact", tags=[MARK], visibility=visibility)
    memory.turn(session=f"{MARK}-{name}", role="user", text=f"{MARK} said {name}", visibility=visibility)
    kept = {"owner": name, "visibility": visibility}
    with memory.store.transaction(memory.scope, NOW) as tx:
        personal = [cls for cls in COLLECTIONS if {"owner", "visibility"} <= cls.model_fields.keys()]
        in_session = {"session": f"{MARK}-{name}"}
        for cls in personal:
            fields = kept | (in_session if "session" in cls.model_fields else {})
            put(tx, [sample(cls, f"{MARK}-{name}-{cls.__name__}", **fields)])
    memory.search(MARK)
    memory.settle()


def unprotected(raw: psycopg.Connection[Any]) -> dict[str, str]:
    """Tables with data of a project or an owner whose rows are not hidden as they should be, and why."""
    wrong: dict[str, str] = {}
    for table, columns in raw.execute(COLUMNS).fetchall():
        if not {"tenant", "project", "owner", "principal"} & set(columns):
            continue
        wanted = ["treering.tenant", "treering.project"]
        if table not in PROJECT_WIDE:
            wanted.append("treering.principal")
        conditions = raw.execute(POLICIES, (table,)).fetchall()
        if raw.execute(FORCED, (table,)).fetchone() != (True,):
            wrong[table] = "row-level security is not forced"
        elif len(conditions) != 1:
            wrong[table] = "no policy `scope`"
        elif missing := [name for name in wanted if any(name not in each for each in conditions[0])]:
            wrong[table] = f"its policy does not ask for {', '.join(missing)}"
    return wrong


def rows_with_mark(raw: psycopg.Connection[Any], name: str) -> dict[str, int]:
    tables = [table for table, _ in raw.execute(COLUMNS).fetchall() if table not in PROJECT_WIDE]
    marked = {
        table: raw.execute(
            f'SELECT count(*) FROM "{table}" AS each WHERE each::text LIKE %s', (f"%{name}%",)
        ).fetchone()
        for table in tables
    }
    return {table: row[0] for table, row in marked.items() if row and row[0]}


def test_every_table_asks_for_tenant_project_and_principal(url: str, tmp_path: Path) -> None:
    with opened(url, tmp_path, "adelheid") as ada:
        fill(ada, "personal")
    with connected(url) as raw:
        assert unprotected(raw) == {}
        raw.execute("CREATE TABLE leak (tenant text, project text, id text)")
        assert unprotected(raw) == {"leak": "row-level security is not forced"}
        raw.execute("ALTER TABLE leak ENABLE ROW LEVEL SECURITY; ALTER TABLE leak FORCE ROW LEVEL SECURITY")
        here = "tenant = current_setting('treering.tenant') AND project = current_setting('treering.project')"
        raw.execute(f"CREATE POLICY scope ON leak USING ({here})")
        assert unprotected(raw) == {"leak": "its policy does not ask for treering.principal"}


@pytest.mark.parametrize("upkeep", ["off", "on"])
def test_raw_sql_meets_no_personal_row_of_another_principal(
    url: str, tmp_path: Path, postgres_admin_url: str, upkeep: str
) -> None:
    with opened(url, tmp_path, "adelheid") as ada, opened(url, tmp_path, "bob") as bob:
        fill(ada, "personal")
        fill(bob, "project")
    admin = make_url(postgres_admin_url).set(database=make_url(url).database).render_as_string(False)
    with connected(admin) as everything:
        found = everything.execute("SELECT number FROM documents WHERE owner = 'adelheid'").fetchall()
        numbers = [number for (number,) in found]
        stored = set(rows_with_mark(everything, "adelheid"))
    personal = {kind.table.name for kind in KINDS if kind.personal}
    assert stored >= personal | {"documents", "facets", "principals"}
    with connected(url, tenant="t", project="p", principal="bob", upkeep=upkeep) as raw:
        assert rows_with_mark(raw, "adelheid") == {}
        for table in ("documents", "vectors", "nearby", "postings"):
            mine, all_numbered = (
                raw.execute(f"SELECT count(*) FROM {table} WHERE number = ANY(%s)", (numbers,)).fetchone(),
                raw.execute(f"SELECT count(*) FROM {table}").fetchone(),
            )
            assert (mine, all_numbered != (0,)) == ((0,), True), table
        for table in ("documents", "vectors", "nearby", "facets", "knowledge"):
            assert raw.execute(f"UPDATE {table} SET owner = 'bob' WHERE owner = 'adelheid'").rowcount == 0
    with connected(url, tenant="t", project="p", principal="adelheid") as raw:
        for table in ("documents", "vectors", "nearby", "postings"):
            seen = raw.execute(f"SELECT count(*) FROM {table} WHERE number = ANY(%s)", (numbers,)).fetchone()
            assert seen != (0,), table


def test_nobody_writes_rows_that_are_another_principals(url: str, tmp_path: Path) -> None:
    with opened(url, tmp_path, "adelheid") as ada:
        fill(ada, "personal")
    with connected(url, tenant="t", project="p", principal="bob") as raw:
        for statement in (
            "INSERT INTO facets VALUES ('t', 'p', 'knowledge', 'tag', 'x', 1, 'x', 'adelheid')",
            "INSERT INTO vectors VALUES ('t', 'p', 1, 'm', 'd', 'x', 'adelheid')",
            "INSERT INTO principals VALUES ('t', 'p', 'adelheid')",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                raw.execute(statement)


def test_maintenance_works_for_every_principal(url: str, tmp_path: Path) -> None:
    """Rebuilding, checking and embedding reach personal records of principals who are not here."""
    with opened(url, tmp_path, "adelheid") as ada, opened(url, tmp_path, "bob") as bob:
        ada.remember(f"{MARK} sleeps", type="fact", tags=["own"], visibility="personal", id="own")
        bob.remember("water is wet", type="fact")
        with connected(url, tenant="t", project="p", principal="adelheid") as raw:
            raw.execute("DELETE FROM facets; DELETE FROM postings; DELETE FROM documents; DELETE FROM vectors")
        assert not all(check.fine for check in bob.store.check(bob.scope, NOW))
        bob.store.rebuild(bob.scope, NOW)  # type: ignore[attr-defined]
        assert all(check.fine for check in bob.store.check(bob.scope, NOW))
        bob.settle()
        with ada.store.reading(ada.scope, NOW) as tx:
            covered = tx.index.coverage(tx.index.models()[0])
        assert covered.vectors == covered.documents == 2
        assert [hit.id for hit in ada.search(MARK)] == ["own"]
        assert len(bob.search(MARK)) <= 1


def test_a_role_that_owns_nothing_works_with_the_documented_grants(
    url: str, tmp_path: Path, postgres_admin_url: str
) -> None:
    """As in docs/how-to/postgresql.md: one role owns the tables, another one uses them."""
    with opened(url, tmp_path, "adelheid"):
        pass
    owner, user = str(make_url(url).username), f"{make_url(url).username}_app"
    admin = make_url(postgres_admin_url).set(database=make_url(url).database).render_as_string(False)
    app = make_url(url).set(username=user).render_as_string(False)
    with connected(admin) as superuser:
        superuser.execute(f"CREATE ROLE {user} LOGIN PASSWORD 'treering'")
        with pytest.raises(StoreError, match="GRANT"):
            opened(app, tmp_path, "adelheid")
        superuser.execute(f"SET ROLE {owner}")
        superuser.execute(f"GRANT USAGE ON SCHEMA public TO {user}")
        superuser.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {user}")
    try:
        with opened(app, tmp_path, "adelheid") as ada, opened(app, tmp_path, "bob") as bob:
            fill(ada, "personal")
            record = bob.remember("water is wet", type="fact")
            assert [each.project for each in bob.projects()] == ["p"]
            assert all(check.fine for check in bob.store.check(bob.scope, NOW))
            assert bob.search("water")[0].id == record.id
            gone = bob.forget(record.id, hard=True)
            assert gone is not None
            assert gone.prove().clean
    finally:
        with connected(admin) as superuser:
            superuser.execute(f"DROP OWNED BY {user}")
            superuser.execute(f"DROP ROLE {user}")


def test_listing_projects_waits_for_no_lock(url: str, tmp_path: Path) -> None:
    """While another transaction reads every table: whatever alters one would have to wait for its end."""
    with opened(url, tmp_path, "adelheid") as ada:
        fill(ada, "personal")
    impatient = make_url(url).update_query_dict({"options": "-clock_timeout=2s"}).render_as_string(False)
    with opened(impatient, tmp_path, "bob") as bob, connected(url) as reader, reader.transaction():
        tables = [table for table, _ in reader.execute(COLUMNS).fetchall()]
        reader.execute(f"LOCK TABLE {', '.join(tables)} IN ACCESS SHARE MODE")
        with connected(impatient) as altering, pytest.raises(psycopg.errors.LockNotAvailable):
            altering.execute("ALTER TABLE knowledge NO FORCE ROW LEVEL SECURITY")
        (size,) = bob.projects()
    assert (size.project, size.knowledge, size.turns > 0) == ("p", 2, True)
