"""The tables, shared by both engines. Every key starts with tenant and project.

Times are microseconds since 1970 in UTC, so that both engines order them equally; text is compared by bytes.
Fields without a column of their own are in `rest`, as JSON. Tables of only one engine belong to its dialect.
"""

from collections.abc import Callable
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Float,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
)

metadata = MetaData()

_TEXT = Text().with_variant(Text(collation="C"), "postgresql")


def text(name: str, **options: Any) -> Column[str]:
    return Column(name, _TEXT, nullable=options.pop("nullable", False), **options)


def moment(name: str, nullable: bool = False) -> Column[int]:
    return Column(name, BigInteger, nullable=nullable, info={"moment": True})


def integer(name: str, nullable: bool = False) -> Column[int]:
    return Column(name, BigInteger, nullable=nullable)


def real(name: str, nullable: bool = False) -> Column[float]:
    return Column(name, Float(53), nullable=nullable)


def flag(name: str) -> Column[bool]:
    return Column(name, Boolean, nullable=False)


def table(name: str, *columns: Column[Any], key: tuple[str, ...] = ("id",), clustered: bool = False) -> Table:
    return Table(
        name,
        metadata,
        text("tenant"),
        text("project"),
        *columns,
        PrimaryKeyConstraint("tenant", "project", *key, name=f"{name}_key"),
        sqlite_with_rowid=not clustered,
    )


def add_index(on: Table, *columns: str, unique: bool = False, where: str | None = None) -> None:
    condition = None if where is None else on.c[where].is_not(None)
    _declare(on, columns[0], condition, *columns, unique=unique)


def _partial(on: Table, name: str, condition: ColumnElement[bool], *columns: str) -> None:
    _declare(on, name, condition, *columns)


_declared: list[Callable[[], Index]] = []


def _declare(on: Table, name: str, condition: ColumnElement[bool] | None, *columns: str, unique: bool = False) -> None:
    _declared.append(
        lambda: Index(
            f"{on.name}_by_{name}",
            *(on.c[column] for column in ("tenant", "project", *columns)),
            unique=unique,
            sqlite_where=condition,
            postgresql_where=condition,
        )
    )


def declare_indexes() -> None:
    """Add the indexes to the tables, for comparison with a database. No statement needs them, and they would load
    the dialects of both engines."""
    while _declared:
        _declared.pop()()


knowledge = table(
    "knowledge",
    text("id"),
    integer("version"),
    text("type"),
    text("content"),
    real("confidence"),
    text("level"),
    text("visibility"),
    text("owner"),
    text("source"),
    text("session", nullable=True),
    text("commit", nullable=True),
    moment("created_at"),
    moment("updated_at"),
    moment("last_accessed_at"),
    integer("access_count"),
    real("half_life_days", nullable=True),
    moment("valid_from", nullable=True),
    moment("valid_until", nullable=True),
    moment("stale_at", nullable=True),
    moment("deprecated_at", nullable=True),
    moment("deleted_at", nullable=True),
    flag("needs_review"),
    flag("user_verified"),
    flag("pinned"),
    flag("flagged"),
    flag("tainted"),
    text("citation", nullable=True),
    text("language", nullable=True),
    text("rest"),
)
add_index(knowledge, "created_at", "id")
add_index(knowledge, "type", "created_at", "id")
add_index(knowledge, "session", "created_at", "id", where="session")
add_index(knowledge, "deleted_at", "id", where="deleted_at")

sessions = table(
    "sessions",
    text("id"),
    integer("version"),
    text("kind"),
    text("owner"),
    text("visibility"),
    moment("started_at"),
    moment("last_at"),
    moment("ended_at", nullable=True),
    integer("turns"),
    integer("learned"),
    text("rest"),
)
add_index(sessions, "started_at", "id")
_partial(sessions, "open", sessions.c.ended_at.is_(None), "last_at", "id")
_partial(sessions, "learned", sessions.c.turns > sessions.c.learned, "last_at", "id")

turns = table(
    "turns",
    text("id"),
    text("session"),
    integer("seq"),
    text("role"),
    text("text"),
    moment("at"),
    moment("recorded_at"),
    text("speaker", nullable=True),
    text("owner"),
    text("visibility"),
    flag("tainted"),
    moment("deleted_at", nullable=True),
    text("rest"),
)
add_index(turns, "session", "seq", unique=True)
add_index(turns, "at", "id")

episodes = table(
    "episodes",
    text("id"),
    integer("version"),
    text("session", nullable=True),
    moment("at"),
    text("owner"),
    text("visibility"),
    flag("tainted"),
    text("domain", nullable=True),
    text("task_type", nullable=True),
    text("outcome_status"),
    text("status"),
    integer("access_count"),
    moment("last_accessed_at", nullable=True),
    moment("deleted_at", nullable=True),
    text("lifecycle"),
    text("consolidated_into", nullable=True),
    text("cold", nullable=True),
    text("rest"),
)
add_index(episodes, "at", "id")
add_index(episodes, "task_type", "at", "id", where="task_type")
add_index(episodes, "status", "at", "id")
add_index(episodes, "deleted_at", "id", where="deleted_at")

patterns = table(
    "patterns",
    text("id"),
    integer("version"),
    text("name"),
    text("category"),
    text("status"),
    text("owner"),
    text("visibility"),
    moment("created_at"),
    moment("updated_at"),
    moment("deleted_at", nullable=True),
    text("rest"),
)
add_index(patterns, "created_at", "id")
add_index(patterns, "updated_at", "deleted_at", "visibility", "owner", "version", "id")

applications = table(
    "applications",
    text("id"),
    text("pattern"),
    integer("evidence"),
    text("episode", nullable=True),
    text("session", nullable=True),
    moment("at"),
    text("outcome"),
    text("task_type", nullable=True),
    real("time_saved_ms", nullable=True),
    real("cost_saved", nullable=True),
    text("owner"),
    text("visibility"),
    text("rest"),
)
add_index(applications, "pattern", "at", "id", "visibility", "owner")
add_index(applications, "episode", "id", where="episode")

entities = table(
    "entities",
    text("id"),
    integer("version"),
    text("kind"),
    text("name"),
    text("owner"),
    text("visibility"),
    integer("mentions"),
    flag("tainted"),
    moment("created_at"),
    moment("updated_at"),
    moment("deleted_at", nullable=True),
    text("rest"),
)
add_index(entities, "name", "id")

entity_links = table(
    "entity_links",
    text("id"),
    text("entity"),
    text("record"),
    text("owner"),
    text("visibility"),
    moment("created_at"),
    text("rest"),
)
add_index(entity_links, "entity", "created_at", "id")
add_index(entity_links, "record", "id")

co_access_edges = table(
    "co_access_edges",
    text("id"),
    text("first"),
    text("second"),
    real("weight"),
    moment("last_seen_at"),
    text("rest"),
)
add_index(co_access_edges, "first", "id")
add_index(co_access_edges, "second", "id")

observed_sessions = table(
    "observed_sessions",
    text("id"),
    text("type"),
    text("outcome", nullable=True),
    moment("started_at"),
    moment("finished_at", nullable=True),
    text("owner"),
    text("visibility"),
    text("rest"),
)
add_index(observed_sessions, "started_at", "id")

scratchpads = table(
    "scratchpads",
    text("id"),
    moment("saved_at"),
    text("owner"),
    text("visibility"),
    text("rest"),
)
add_index(scratchpads, "saved_at", "id")

signal_evidence = table(
    "signal_evidence",
    text("id"),
    text("signal"),
    moment("last_seen_at"),
    text("record", nullable=True),
    text("rest"),
)
add_index(signal_evidence, "signal", "last_seen_at", "id")
add_index(signal_evidence, "record", "id", where="record")

injected_items = table(
    "injected_items",
    text("id"),
    text("session"),
    text("point"),
    text("kind"),
    text("item"),
    moment("injected_at"),
    text("outcome", nullable=True),
    text("owner"),
    text("visibility"),
    text("rest"),
)
add_index(injected_items, "session", "injected_at", "id")
add_index(injected_items, "item", "injected_at", "id")
add_index(injected_items, "injected_at", "id")

project_settings = table("project_settings", text("id"), moment("changed_at"), text("rest"))

audit = table(
    "audit",
    text("id"),
    moment("at"),
    text("actor"),
    text("action"),
    text("kind"),
    text("subject"),
    text("owner"),
    text("visibility"),
    text("rest"),
    clustered=True,
)
add_index(audit, "subject", "id")

revisions = table(
    "revisions",
    text("id"),
    text("kind"),
    text("subject"),
    integer("version"),
    text("action"),
    moment("at"),
    text("actor"),
    text("before"),
    text("group"),
    flag("undone"),
    text("owner"),
    text("visibility"),
    text("rest"),
)
add_index(revisions, "subject", "id")
add_index(revisions, "group", "id")

jobs = table(
    "jobs",
    text("id"),
    text("kind"),
    text("key", nullable=True),
    text("state"),
    moment("run_at"),
    integer("attempts"),
    integer("max_attempts"),
    text("lease_owner", nullable=True),
    moment("lease_until", nullable=True),
    text("error", nullable=True),
    moment("created_at"),
    moment("finished_at", nullable=True),
    text("rest"),
)
add_index(jobs, "state", "run_at", "id")
add_index(jobs, "key", "id", where="key")

runs = table(
    "runs",
    text("id"),
    text("stage"),
    text("state"),
    moment("started_at"),
    moment("updated_at"),
    text("rest"),
)
add_index(runs, "stage", "started_at", "id")
add_index(runs, "started_at", "id")

facets = table(
    "facets",
    text("kind"),
    text("facet"),
    text("value"),
    moment("at"),
    text("id"),
    text("owner", server_default=""),
    key=("kind", "facet", "value", "at", "id"),
    clustered=True,
)
"""The inverted index of a record's list-valued fields: tags, files, modules, relations, blobs…

Here and in the tables below `owner` is the owner of a personal record, and empty for records that are shared.
"""

principals = table("principals", text("principal"), key=("principal",), clustered=True)
"""Principals with personal records in a project; an empty name represents the shared records."""

ids = table("ids", Column("digest", LargeBinary, nullable=False), key=("digest",), clustered=True)
"""Digests of used ids in a project, shared by knowledge, turns, episodes and patterns."""

documents = Table(
    "documents",
    metadata,
    Column("number", BigInteger().with_variant(Integer(), "sqlite"), Identity(always=True), primary_key=True),
    text("tenant"),
    text("project"),
    text("kind"),
    text("id"),
    text("owner"),
    text("language"),
    text("thread"),
    integer("place"),
    moment("at"),
    integer("speaker"),
    integer("marks"),
    integer("length"),
    Column("codes", LargeBinary, nullable=False),
    Column("counts", LargeBinary, nullable=False),
    sqlite_autoincrement=True,
)
"""The searchable form of a record: its word codes and their counts, sorted by code.

Numbers are never reused: a reader finds everything newer by asking for higher numbers.
"""
add_index(documents, "kind", "id", unique=True)

vectors = table(
    "vectors",
    integer("number"),
    text("model"),
    text("digest"),
    Column("vector", LargeBinary, nullable=False),
    text("owner", server_default=""),
    key=("number", "model"),
)
"""One vector per document and model, as little-endian 16-bit floats. Vectors of equal texts have equal digests."""
add_index(vectors, "model", "digest", "number")
