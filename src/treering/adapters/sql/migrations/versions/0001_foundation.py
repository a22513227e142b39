"""Foundation: records, their indexes, the full-text index, and on PostgreSQL row-level security."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None

TYPES: dict[str, Any] = {
    "text": sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql"),
    "whole": sa.BigInteger(),
    "real": sa.Float(53),
    "flag": sa.Boolean(),
}

# name: columns as `name:type`, `?` where they may be empty. All tables also have tenant and project.
TABLES = {
    "knowledge": "id:text version:whole type:text content:text confidence:real level:text visibility:text owner:text "
    "source:text session:text? commit:text? created_at:whole updated_at:whole last_accessed_at:whole "
    "access_count:whole half_life_days:real? valid_from:whole? valid_until:whole? stale_at:whole? "
    "deprecated_at:whole? deleted_at:whole? needs_review:flag user_verified:flag pinned:flag flagged:flag "
    "tainted:flag citation:text? language:text? rest:text",
    "sessions": "id:text version:whole kind:text owner:text visibility:text started_at:whole last_at:whole "
    "ended_at:whole? turns:whole rest:text",
    "turns": "id:text session:text seq:whole role:text text:text at:whole recorded_at:whole speaker:text? owner:text "
    "visibility:text tainted:flag deleted_at:whole? rest:text",
    "episodes": "id:text version:whole session:text? at:whole owner:text visibility:text tainted:flag domain:text? "
    "task_type:text? outcome_status:text status:text access_count:whole last_accessed_at:whole? deleted_at:whole? "
    "lifecycle:text rest:text",
    "patterns": "id:text version:whole name:text category:text status:text owner:text visibility:text created_at:whole "
    "updated_at:whole deleted_at:whole? rest:text",
    "entities": "id:text version:whole kind:text name:text mentions:whole created_at:whole updated_at:whole "
    "deleted_at:whole? rest:text",
    "entity_links": "id:text entity:text record:text created_at:whole rest:text",
    "graph_nodes": "id:text kind:text file:text? updated_at:whole stale_at:whole? rest:text",
    "graph_edges": "id:text origin:text target:text kind:text weight:real updated_at:whole stale_at:whole? rest:text",
    "co_access_edges": "id:text first:text second:text weight:real last_seen_at:whole rest:text",
    "error_fingerprints": "id:text fingerprint:text occurrences:whole last_seen_at:whole rest:text",
    "events": "id:text session:text kind:text at:whole owner:text visibility:text rest:text",
    "audit": "id:text at:whole actor:text action:text kind:text subject:text owner:text visibility:text rest:text",
    "revisions": "id:text kind:text subject:text version:whole action:text at:whole actor:text before:text group:text "
    "undone:flag owner:text visibility:text rest:text",
    "jobs": "id:text kind:text key:text? state:text run_at:whole attempts:whole max_attempts:whole lease_owner:text? "
    "lease_until:whole? error:text? created_at:whole finished_at:whole? rest:text",
    "facets": "kind:text facet:text value:text at:whole id:text",
}
# One row: what tells this database from every other, so that several can keep their blobs in one place.
IDENTITY = "treering_identity"
KEYS = {"facets": ("kind", "facet", "value", "at", "id")}
CLUSTERED = ("audit", "facets")

# table, columns after tenant and project; an index of an optional column holds only the rows that have it.
INDEXES = (
    ("knowledge", "created_at id"),
    ("knowledge", "type created_at id"),
    ("knowledge", "session created_at id"),
    ("knowledge", "deleted_at id"),
    ("sessions", "started_at id"),
    ("turns", "session seq"),
    ("turns", "at id"),
    ("episodes", "at id"),
    ("episodes", "task_type at id"),
    ("patterns", "created_at id"),
    ("entities", "name id"),
    ("entity_links", "entity created_at id"),
    ("entity_links", "record id"),
    ("graph_nodes", "file id"),
    ("graph_edges", "origin kind id"),
    ("graph_edges", "target kind id"),
    ("co_access_edges", "first id"),
    ("co_access_edges", "second id"),
    ("error_fingerprints", "fingerprint id"),
    ("events", "session at id"),
    ("audit", "subject id"),
    ("revisions", "subject id"),
    ("revisions", "group id"),
    ("jobs", "state run_at id"),
    ("jobs", "key id"),
)
UNIQUE = (("turns", "session seq"),)

# What never changes once written; only the columns left out of these lists may.
IMMUTABLE = {
    "turns": "id session seq role text at recorded_at speaker owner rest",
    "episodes": "id session at owner domain task_type outcome_status rest",
    "events": "id session kind at owner rest",
    "audit": "id at actor action kind subject owner visibility rest",
}


def upgrade() -> None:
    for name, columns in TABLES.items():
        _create_table(name, columns)
    for table, columns in INDEXES:
        _create_index(table, columns.split())
    identity = op.create_table(IDENTITY, sa.Column("id", TYPES["text"], primary_key=True))
    op.bulk_insert(identity, [{"id": str(uuid4())}])
    dialect = op.get_bind().dialect.name
    for statement in {"sqlite": _sqlite, "postgresql": _postgresql}[dialect]():
        op.execute(statement)


def _create_table(name: str, columns: str) -> None:
    key = KEYS.get(name, ("id",))
    op.create_table(
        name,
        sa.Column("tenant", TYPES["text"], nullable=False),
        sa.Column("project", TYPES["text"], nullable=False),
        *(_column(spec) for spec in columns.split()),
        sa.PrimaryKeyConstraint("tenant", "project", *key, name=f"{name}_key"),
        sqlite_with_rowid=name not in CLUSTERED,
    )


def _column(spec: str) -> sa.Column[object]:
    name, kind = spec.rstrip("?").split(":")
    return sa.Column(name, TYPES[kind], nullable=spec.endswith("?"))


def _create_index(table: str, columns: list[str]) -> None:
    optional = f"{columns[0]}:text?" in TABLES[table] or f"{columns[0]}:whole?" in TABLES[table]
    where = sa.column(columns[0]).is_not(None) if optional else None
    op.create_index(
        f"{table}_by_{columns[0]}",
        table,
        ["tenant", "project", *columns],
        unique=(table, " ".join(columns)) in UNIQUE,
        sqlite_where=where,
        postgresql_where=where,
    )


def _sqlite() -> Iterator[str]:
    yield (
        "CREATE TABLE documents (docid INTEGER PRIMARY KEY, tenant TEXT NOT NULL, project TEXT NOT NULL, "
        "kind TEXT NOT NULL, id TEXT NOT NULL, terms TEXT NOT NULL)"
    )
    yield "CREATE UNIQUE INDEX documents_key ON documents (tenant, project, kind, id)"
    yield (
        "CREATE VIRTUAL TABLE lexicon USING fts5(terms, content='documents', content_rowid='docid', "
        "tokenize='porter unicode61 remove_diacritics 2')"
    )
    for table, columns in IMMUTABLE.items():
        changed = " OR ".join(f'old."{name}" IS NOT new."{name}"' for name in columns.split())
        yield (
            f"CREATE TRIGGER {table}_append_only BEFORE UPDATE ON {table} WHEN {changed} "
            f"BEGIN SELECT RAISE(ABORT, '{table} are append-only'); END"
        )


def _postgresql() -> Iterator[str]:
    # The stemmer of SQLite, and no stop words: both engines find the same.
    yield "CREATE TEXT SEARCH DICTIONARY treering_stem (TEMPLATE = snowball, LANGUAGE = porter)"
    yield "CREATE TEXT SEARCH CONFIGURATION treering (COPY = simple)"
    yield "ALTER TEXT SEARCH CONFIGURATION treering ALTER MAPPING FOR asciiword, word, numword WITH treering_stem"
    yield (
        'CREATE TABLE documents (tenant TEXT COLLATE "C" NOT NULL, project TEXT COLLATE "C" NOT NULL, '
        'kind TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, terms TEXT NOT NULL, '
        "lexemes tsvector GENERATED ALWAYS AS (to_tsvector('treering', terms)) STORED, "
        "PRIMARY KEY (tenant, project, kind, id))"
    )
    yield "CREATE INDEX documents_by_lexemes ON documents USING gin (lexemes)"
    yield (
        "CREATE FUNCTION treering_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION '% are append-only', TG_TABLE_NAME; END $$"
    )
    for table, columns in IMMUTABLE.items():
        changed = " OR ".join(f'old."{name}" IS DISTINCT FROM new."{name}"' for name in columns.split())
        yield (
            f"CREATE TRIGGER {table}_append_only BEFORE UPDATE ON {table} FOR EACH ROW "
            f"WHEN ({changed}) EXECUTE FUNCTION treering_append_only()"
        )
    yield f"GRANT SELECT ON {IDENTITY} TO PUBLIC"
    for table in (*TABLES, "documents"):
        yield from _row_security(table)


def _row_security(table: str) -> Iterator[str]:
    """Hide rows of other tenants, projects and principals from every statement."""
    mine = "tenant = current_setting('treering.tenant', true) AND project = current_setting('treering.project', true)"
    if "visibility:text" in TABLES.get(table, ""):
        mine += (
            " AND (visibility <> 'personal' OR owner = current_setting('treering.principal', true)"
            " OR current_setting('treering.upkeep', true) = 'on')"
        )
    yield f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"
    yield f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY"
    yield f"CREATE POLICY scope ON {table} USING ({mine}) WITH CHECK ({mine})"
