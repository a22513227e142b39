"""Row-level security by principal on every table derived from records, names of all principals, and ids taken."""

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0010"
down_revision = "0009"

TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
# Tables of records that can be personal, by the name of their kind.
RECORDS = {
    "knowledge": "knowledge",
    "session": "sessions",
    "turn": "turns",
    "episode": "episodes",
    "pattern": "patterns",
    "application": "applications",
    "entity": "entities",
    "entity_link": "entity_links",
    "event": "events",
    "audit": "audit",
    "revision": "revisions",
}
SHARED = ("graph_nodes", "graph_edges", "co_access_edges", "error_fingerprints", "jobs", "runs")
ADDRESSED = ("knowledge", "turns", "episodes", "patterns")
HERE = "tenant = current_setting('treering.tenant', true) AND project = current_setting('treering.project', true)"
ME = "current_setting('treering.principal', true)"


def upgrade() -> None:
    dialect = op.get_bind().dialect.name
    op.create_table(
        "principals",
        *(sa.Column(name, TEXT, nullable=False) for name in ("tenant", "project", "principal")),
        sa.PrimaryKeyConstraint("tenant", "project", "principal", name="principals_key"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "ids",
        *(sa.Column(name, TEXT, nullable=False) for name in ("tenant", "project")),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "project", "digest", name="ids_key"),
        sqlite_with_rowid=False,
    )
    if dialect == "sqlite":
        driver: Any = op.get_bind().connection.driver_connection
        driver.create_function("digest_of_id", 1, lambda id: sha256(id.encode()).digest()[:16], deterministic=True)
    for table in ("facets", "vectors"):
        op.add_column(table, sa.Column("owner", TEXT, nullable=False, server_default=""))
    filled = (*RECORDS.values(), *SHARED, "facets", "documents", "vectors")
    if dialect == "postgresql":
        # Row-level security hides every project from a session that names none; the owner of the tables lifts it.
        for table in filled:
            op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
    for statement in (*_filled(), _taken(dialect)):
        op.execute(statement)
    if dialect == "postgresql":
        for table in filled:
            op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
        for statement in _postgresql():
            op.execute(statement)


def _filled() -> Iterator[str]:
    whose = "CASE visibility WHEN 'personal' THEN owner ELSE '' END"
    owners = [f"SELECT tenant, project, {whose} FROM {table}" for table in RECORDS.values()]
    owners += [f"SELECT tenant, project, '' FROM {table}" for table in SHARED]
    yield f"INSERT INTO principals (tenant, project, principal) {' UNION '.join(owners)}"
    for kind, table in RECORDS.items():
        yield (
            f"UPDATE facets SET owner = records.owner FROM {table} AS records WHERE facets.tenant = records.tenant "
            f"AND facets.project = records.project AND facets.kind = '{kind}' AND facets.id = records.id "
            "AND records.visibility = 'personal'"
        )
    yield (
        "UPDATE vectors SET owner = documents.owner FROM documents WHERE vectors.tenant = documents.tenant "
        "AND vectors.project = documents.project AND vectors.number = documents.number AND documents.owner <> ''"
    )


def _taken(dialect: str) -> str:
    digest = "digest_of_id(id)" if dialect == "sqlite" else "substr(sha256(convert_to(id, 'UTF8')), 1, 16)"
    found = " UNION ".join(f"SELECT tenant, project, {digest} FROM {table}" for table in ADDRESSED)
    return f"INSERT INTO ids (tenant, project, digest) {found}"


def _postgresql() -> Iterator[str]:
    # The owner is in the index too: a look-up that needs nothing else does not read the table for it.
    yield "ALTER TABLE facets DROP CONSTRAINT facets_key"
    yield (
        "ALTER TABLE facets ADD CONSTRAINT facets_key PRIMARY KEY (tenant, project, kind, facet, value, at, id) "
        "INCLUDE (owner)"
    )
    yield "DROP INDEX vectors_by_model"
    yield "CREATE INDEX vectors_by_model ON vectors (tenant, project, model, digest, number) INCLUDE (owner)"
    for table in RECORDS.values():
        yield from _policy(table, f"visibility <> 'personal' OR owner = {ME}")
    for table in ("documents", "vectors", "facets"):
        yield from _policy(table, f"owner = '' OR owner = {ME}")
    # The upper half of a code is the owner's, as in `server_words.code_in`: each row compares an integer, not a text.
    # What it costs is in docs/decisions/0018-row-level-security.md.
    digest = f"substr(encode(sha256(convert_to({ME}, 'UTF8')), 'hex'), 1, 8)"
    whose = f"(SELECT greatest(('x' || {digest})::bit(32)::bigint & 2147483647, 1))"
    yield from _policy("postings", f"code < 4294967296 OR code >> 32 = {whose}")
    yield (
        "DO $$ BEGIN IF to_regclass('nearby') IS NOT NULL THEN DROP POLICY scope ON nearby; "
        f"CREATE POLICY scope ON nearby USING ({HERE} AND (owner = '' OR owner = {ME})) "
        f"WITH CHECK ({HERE} AND (owner = '' OR owner = {ME})); END IF; END $$"
    )
    yield "ALTER TABLE ids ENABLE ROW LEVEL SECURITY"
    yield "ALTER TABLE ids FORCE ROW LEVEL SECURITY"
    yield f"CREATE POLICY scope ON ids USING ({HERE}) WITH CHECK ({HERE})"
    yield "ALTER TABLE principals ENABLE ROW LEVEL SECURITY"
    yield "ALTER TABLE principals FORCE ROW LEVEL SECURITY"
    yield f"CREATE POLICY scope ON principals USING ({HERE} AND (principal = '' OR principal = {ME}))"
    yield "CREATE POLICY names ON principals FOR SELECT USING (current_setting('treering.names', true) = 'on')"
    yield (
        "CREATE FUNCTION treering_names(of_tenant text, of_project text) RETURNS SETOF principals LANGUAGE plpgsql "
        "AS $$ BEGIN PERFORM set_config('treering.names', 'on', true); "
        "RETURN QUERY SELECT * FROM principals WHERE (of_tenant IS NULL OR tenant = of_tenant) "
        "AND (of_project IS NULL OR project = of_project); "
        "PERFORM set_config('treering.names', 'off', true); END $$"
    )


def _policy(table: str, seen: str) -> Iterator[str]:
    yield f"DROP POLICY scope ON {table}"
    yield f"CREATE POLICY scope ON {table} USING ({HERE} AND ({seen})) WITH CHECK ({HERE} AND ({seen}))"
