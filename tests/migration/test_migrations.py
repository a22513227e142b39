"""One linear history on both engines: from every revision to the present with its data, and never half-way."""

import json
import os
import shutil
import sqlite3
import struct
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, MetaData, insert, inspect, make_url
from sqlalchemy import text as sql

import treering
from tests.conftest import own_database
from tests.forked_process import ForkedProcess
from tests.lengths import at_length
from tests.migration.opening_process import open_and_write
from tests.samples import COLLECTIONS, NOW, collection, put, sample
from treering.adapters.sql import migrate
from treering.adapters.sql.context import Dialect
from treering.adapters.sql.migrate import VERSION_TABLE, bring_up_to_date, revision_of
from treering.adapters.sql.migrations import REVISIONS
from treering.adapters.sql.postgres import Postgres
from treering.adapters.sql.schema import metadata
from treering.adapters.sql.sqlite import SQLite
from treering.core.errors import NotADatabase, StoreError, StoreTooNew
from treering.core.history import Action
from treering.core.queries import KnowledgeFilter
from treering.core.scope import Scope
from treering.core.settings import StoreSettings
from treering.core.taint import UNKNOWN
from treering.core.turns import Session

DATA = Path(__file__).parent / "data"
SCRIPTS = Path(migrate.__file__).parent / "migrations"
SCOPE = Scope(tenant="frozen", project="p")
SERVER_INDEXES = {
    "documents": {
        "documents_by_thread": ["tenant", "project", "thread", "place"],
        "documents_by_number": ["tenant", "project", "number"],
    }
}


@pytest.fixture
def fresh_postgres(postgres_admin_url: str) -> Iterator[str]:
    """A database that nothing was ever written to."""
    with own_database(postgres_admin_url) as url:
        yield url


@pytest.fixture
def place(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """Where a new database of this engine may be made."""
    return str(tmp_path / "memory.db") if engine == "sqlite" else str(request.getfixturevalue("fresh_postgres"))


@pytest.fixture
def database(engine: str, place: str) -> Iterator[tuple[Dialect, Engine]]:
    """The same, opened below the store."""
    settings = StoreSettings()
    dialect: Dialect = SQLite(Path(place), settings) if engine == "sqlite" else Postgres(make_url(place), settings)
    opened = dialect.open()
    yield dialect, opened
    dialect.release(opened)


def at_revision(database: tuple[Dialect, Engine], revision: str) -> None:
    dialect, engine = database
    bring_up_to_date(engine, dialect, revision)


def write_frozen_data(revision: str) -> None:
    """Run once for each new revision, by hand: `python -c "from … import *; write_frozen_data('0002')"`.

    The rows of every table as this revision stores them, with a changed, a corrected and a forgotten record.
    """
    with (
        tempfile.TemporaryDirectory() as folder,
        treering.open(Path(folder) / "x.db", tenant=SCOPE.tenant, project=SCOPE.project, clock=lambda: NOW) as memory,
    ):
        record = memory.remember("The pool holds eight connections", id="pool", tags=["db"], files=["src/db.py"])
        memory.correct(record.id, "outdated", text="The pool holds twelve connections")
        memory.forget(memory.remember("forgotten words", id="gone").id)
        memory.turn(session="talk", role="user", text="How large is the pool? 🌳 שלום", id="asked")
        # Last of all the session: whatever is said in another ends it.
        with memory.store.transaction(SCOPE, NOW) as tx:
            put(tx, [sample(cls, f"old-{cls.__name__}") for cls in sorted(COLLECTIONS, key=lambda cls: cls is Session)])
        with memory.store.reading(SCOPE, NOW) as tx:
            connection = tx._context.connection  # type: ignore[attr-defined]
            rows = {
                name: [dict(row) for row in connection.execute(sql(f"SELECT * FROM {name}")).mappings()]
                for name in metadata.tables
            }
    for document in rows["documents"]:
        document.pop("number")
    DATA.mkdir(exist_ok=True)
    (DATA / f"{revision}.json").write_text(
        json.dumps(rows, indent=1, ensure_ascii=False, default=lambda stored: {"hex": stored.hex()}) + "\n",
        encoding="utf-8",
    )


def load_frozen_data(engine: Engine, revision: str, replaced: tuple[str, str] = ("", "")) -> None:
    """Straight into the tables, as an earlier Treering left them, with one text of the file `replaced` by another."""
    frozen = (DATA / f"{revision}.json").read_text(encoding="utf-8")
    rows = json.loads(
        frozen.replace(*replaced) if replaced[0] else frozen,
        object_hook=lambda read: bytes.fromhex(read["hex"]) if set(read) == {"hex"} else read,
    )
    as_it_was = MetaData()
    as_it_was.reflect(engine, only=lambda name, _: name != "nearby")
    with engine.connect().execution_options(writing=True) as connection, connection.begin():
        if engine.dialect.name == "postgresql":
            for name in ("tenant", "project", "principal"):
                setting = {"name": f"treering.{name}", "value": getattr(SCOPE, name)}
                connection.execute(sql("SELECT set_config(:name, :value, true)"), setting)
        for name, found in rows.items():
            if not found:
                continue
            table = as_it_was.tables[name]
            flags = {column.name for column in table.c if str(column.type) == "BOOLEAN"}
            typed = [{key: bool(each) if key in flags else each for key, each in row.items()} for row in found]
            connection.execute(insert(table), typed)
        if "lexicon" in as_it_was.tables:
            connection.execute(sql("INSERT INTO lexicon(lexicon) VALUES ('rebuild')"))
        if "postings" in as_it_was.tables:
            documents: Sequence[Any] = connection.execute(as_it_was.tables["documents"].select()).mappings().all()
            connection.execute(insert(as_it_was.tables["postings"]), [each for row in documents for each in held(row)])


def held(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A row for each word, as the server engine has kept them since 0002."""
    codes = struct.unpack(f"<{len(document['counts'])}I", document["codes"])
    for code, count in zip(codes, document["counts"], strict=True):
        copied = {name: document[name] for name in ("tenant", "project", "number", "length")}
        yield {**copied, "code": code, "count": count, "kind": crc32(document["kind"].encode()) & 0x7FFF}


def test_the_list_of_revisions_is_the_history_of_the_scripts() -> None:
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    scripts = ScriptDirectory.from_config(config)
    history = list(reversed(list(scripts.walk_revisions())))
    assert tuple(script.revision for script in history) == REVISIONS
    assert [script.down_revision for script in history] == [None, *REVISIONS[:-1]]
    assert scripts.get_heads() == [REVISIONS[-1]]


def test_every_revision_has_its_frozen_data() -> None:
    assert {file.stem for file in DATA.glob("*.json")} == set(REVISIONS)


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_database_of_an_earlier_revision_opens_with_everything_in_it(
    revision: str, place: str, database: tuple[Dialect, Engine], tmp_path: Path
) -> None:
    at_revision(database, revision)
    load_frozen_data(database[1], revision)

    with treering.open(place, tenant=SCOPE.tenant, project=SCOPE.project, blobs=tmp_path / "b") as memory:
        frozen = (DATA / f"{revision}.json").read_text(encoding="utf-8")
        with memory.store.reading(SCOPE, NOW) as tx:
            for cls in (cls for cls in COLLECTIONS if f'"old-{cls.__name__}"' in frozen):
                stored = collection(tx, cls).get(f"old-{cls.__name__}")
                assert stored == sample(cls, f"old-{cls.__name__}"), cls
            assert revision_of(tx._context.connection) == REVISIONS[-1]  # type: ignore[attr-defined]
        (held,) = memory.search("connections")
        assert (held.text, held.record.half_life_days) == ("The pool holds twelve connections", 90)
        assert [hit.id for hit in memory.search("large pool 🌳", knowledge=None)] == ["asked"]
        assert memory.undo("pool").content == "The pool holds eight connections"
        assert memory.undo("gone").content == "forgotten words"
        assert [entry.action for entry in memory.history("gone")] == [Action.UNDO, Action.DELETE, Action.CREATE]
        assert memory.doctor().healthy


def test_an_episode_of_revision_0010_is_found_by_its_plan(
    place: str, database: tuple[Dialect, Engine], tmp_path: Path
) -> None:
    at_revision(database, "0010")
    load_frozen_data(database[1], "0010", (r"\"plan\":[]", r"\"plan\":[\"numbat first\"]"))

    with treering.open(place, tenant=SCOPE.tenant, project=SCOPE.project, blobs=tmp_path / "b") as memory:
        assert [hit.id for hit in memory.episodes.search("numbat")] == ["old-Episode"]
        assert memory.doctor().healthy


def test_the_schema_that_migrations_make_is_the_one_the_code_uses(database: tuple[Dialect, Engine]) -> None:
    at_revision(database, REVISIONS[-1])
    on_server = database[1].dialect.name == "postgresql"

    def include(name: str | None, kind: str, parents: Any) -> bool:
        if kind == "table":
            return name in metadata.tables
        return not on_server or kind != "index" or name not in SERVER_INDEXES.get(parents["table_name"], {})

    with database[1].connect() as connection:
        options = {"compare_type": True, "include_name": include}
        assert compare_metadata(MigrationContext.configure(connection, opts=options), metadata) == []
        found = inspect(connection)
        for table in metadata.sorted_tables:
            columns = {column["name"]: column["nullable"] for column in found.get_columns(table.name)}
            assert columns == {column.name: bool(column.nullable) for column in table.c}
            assert found.get_pk_constraint(table.name)["constrained_columns"] == list(table.primary_key.columns.keys())
            indexes = {index["name"]: index["column_names"] for index in found.get_indexes(table.name)}
            wanted = {index.name: list(index.columns.keys()) for index in table.indexes}
            assert indexes == wanted | (SERVER_INDEXES.get(table.name, {}) if on_server else {})
        others = {name for name in found.get_table_names() if not name.startswith("treering_")} - {*metadata.tables}
        assert others == ({"postings", "posting_blocks", "nearby"} if on_server else set())


def snapshot(engine: Engine) -> Any:
    with engine.connect() as connection:
        names = sorted(inspect(connection).get_table_names())
        return names, {name: connection.execute(sql(f'SELECT * FROM "{name}"')).all() for name in names}


def test_a_database_from_the_future_is_refused_and_left_alone(place: str, database: tuple[Dialect, Engine]) -> None:
    at_revision(database, REVISIONS[-1])
    with database[1].connect().execution_options(writing=True) as connection, connection.begin():
        connection.execute(sql(f"UPDATE {VERSION_TABLE} SET version_num = '9999'"))
    before = snapshot(database[1])
    with pytest.raises(StoreTooNew, match=r"schema 9999.*upgrade Treering"):
        treering.open(place)
    assert snapshot(database[1]) == before


def test_another_programs_file_is_refused_and_not_a_byte_of_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE bookmarks (url TEXT)")
        other.execute("INSERT INTO bookmarks VALUES ('https://example.com')")
    other.close()
    before = path.read_bytes()
    with pytest.raises(NotADatabase, match="bookmarks"):
        treering.open(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["other.db"]


PROCESSES = at_length(2, full=4)


def test_processes_that_open_a_new_database_at_once_migrate_it_once(
    place: str, database: tuple[Dialect, Engine], tmp_path: Path
) -> None:
    running = [
        ForkedProcess(
            (place, str(tmp_path / "b"), f"from {number}"),
            cwd=tmp_path,
            env=os.environ,
            text=True,
            function=open_and_write,
        )
        for number in range(PROCESSES)
    ]
    results = [process.communicate(timeout=120) for process in running]
    assert [errors for _, errors in results] == [""] * PROCESSES
    assert [process.returncode for process in running] == [0] * PROCESSES
    with database[1].connect() as connection:
        assert connection.execute(sql(f"SELECT version_num FROM {VERSION_TABLE}")).all() == [(REVISIONS[-1],)]
    with treering.open(place, tenant="t", project="p", blobs=tmp_path / "b") as memory:
        assert {memory.get(id.strip()).id for id, _ in results} == {id.strip() for id, _ in results}


def test_a_migration_that_fails_half_way_leaves_the_revision_before_it(
    place: str, database: tuple[Dialect, Engine], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_revision(database, REVISIONS[-1])
    before = snapshot(database[1])
    scripts = tmp_path / "migrate"
    shutil.copytree(SCRIPTS, scripts / "migrations", ignore=shutil.ignore_patterns("__pycache__"))
    (scripts / "migrations" / "versions" / "9998_broken.py").write_text(
        "from alembic import op\n"
        "import sqlalchemy as sa\n"
        f'revision, down_revision = "9998", "{REVISIONS[-1]}"\n'
        "def upgrade():\n"
        '    op.create_table("half_made", sa.Column("id", sa.Text()))\n'
        '    op.execute("ALTER TABLE knowledge ADD COLUMN half_made TEXT")\n'
        '    op.execute("nonsense")\n'
    )
    monkeypatch.setattr(migrate, "__file__", str(scripts / "migrate.py"))
    monkeypatch.setattr(migrate, "REVISIONS", (*REVISIONS, "9998"))
    dialect, engine = database

    with pytest.raises(StoreError), dialect.translated():
        bring_up_to_date(engine, dialect, "9998")

    assert snapshot(engine) == before
    monkeypatch.undo()
    with treering.open(place, blobs=tmp_path / "b") as memory:
        assert memory.remember("works as before").version == 1


def test_a_failure_while_derived_rows_are_rebuilt_leaves_the_revision_before_it(
    database: tuple[Dialect, Engine],
) -> None:
    at_revision(database, REVISIONS[-2])
    dialect, engine = database
    before = snapshot(engine)

    def fail(_connection: Connection) -> None:
        raise ValueError("cannot rebuild")

    with pytest.raises(ValueError, match="cannot rebuild"):
        bring_up_to_date(engine, dialect, rederive=fail)

    assert snapshot(engine) == before


@pytest.mark.parametrize("name", ["jobs", "graph_nodes", "postings", "posting_blocks", "nearby"])
def test_a_server_where_another_program_took_a_name_is_left_as_it_is(
    name: str, fresh_postgres: str, tmp_path: Path
) -> None:
    with psycopg.connect(fresh_postgres, autocommit=True) as admin:
        admin.execute(f"CREATE TABLE {name} (theirs int)")
        admin.execute("CREATE SCHEMA treering")
        with pytest.raises(NotADatabase, match=rf"another program \({name}\).*search_path%3Dtreering"):
            treering.open(fresh_postgres, project="p", blobs=tmp_path)
        found = admin.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        assert found == [(name,)]
    with treering.open(f"{fresh_postgres}&options=-csearch_path%3Dtreering", project="p", blobs=tmp_path) as memory:
        memory.remember("in a schema of its own")
        assert len(memory.search("schema")) == 1


def test_a_server_may_hold_other_tables_of_another_program(fresh_postgres: str, tmp_path: Path) -> None:
    with psycopg.connect(fresh_postgres, autocommit=True) as admin:
        admin.execute("CREATE TABLE customers (theirs int)")
    with treering.open(fresh_postgres, project="p", blobs=tmp_path) as memory:
        memory.remember("side by side")
        assert len(memory.search("side")) == 1


def test_what_was_tainted_before_its_source_was_kept_waits_for_review_and_reaches_its_entities(
    place: str, database: tuple[Dialect, Engine], tmp_path: Path
) -> None:
    at_revision(database, "0007")
    load_frozen_data(database[1], "0007")
    linked = {"tenant": SCOPE.tenant, "project": SCOPE.project, "entity": "old-Entity", "record": "old-Knowledge"}
    with database[1].connect().execution_options(writing=True) as connection, connection.begin():
        if database[1].dialect.name == "postgresql":
            for name in ("tenant", "project", "principal"):
                setting = {"name": f"treering.{name}", "value": getattr(SCOPE, name)}
                connection.execute(sql("SELECT set_config(:name, :value, true)"), setting)
        connection.execute(sql("UPDATE knowledge SET tainted = true WHERE id IN ('old-Knowledge', 'pool')"))
        connection.execute(
            sql("UPDATE entity_links SET entity = :entity, record = :record WHERE tenant = :tenant"), linked
        )

    with treering.open(place, tenant=SCOPE.tenant, project=SCOPE.project, blobs=tmp_path / "b") as memory:
        with memory.store.reading(SCOPE, NOW) as tx:
            held, retired = tx.knowledge.get("old-Knowledge"), tx.knowledge.get("pool")
            entity = tx.entities.get("old-Entity")
            waiting = [each.id for each in tx.knowledge.stream(KnowledgeFilter(needs_review=True, tainted=True))]
        assert held is not None
        assert retired is not None
        assert entity is not None
        assert (held.taint, held.needs_review, entity.taint) == (UNKNOWN, True, UNKNOWN)
        assert (retired.taint, retired.needs_review) == (UNKNOWN, False)
        assert waiting == ["old-Knowledge"]
        assert memory.doctor().healthy
