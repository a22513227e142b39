"""Plain records for tests that care about one field, and where each kind of record lives in a transaction."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from treering.core import queries
from treering.core.co_access import CoAccessEdge
from treering.core.entities import Entity, EntityLink
from treering.core.episodes import Episode
from treering.core.errors import SecretRefused
from treering.core.history import AuditEntry, Revision
from treering.core.injections import InjectedItem
from treering.core.jobs import Job
from treering.core.language.terms import codes_of, query_terms
from treering.core.observations import ObservedSession, SavedScratchpad, SignalEvidence
from treering.core.patterns import Application, Pattern
from treering.core.project_settings import ProjectSetting
from treering.core.records import Knowledge
from treering.core.redaction import without_secrets
from treering.core.runs import Run
from treering.core.settings import Settings, StoreSettings
from treering.core.turns import Session, Turn
from treering.core.values import Record
from treering.ports.index import IndexQuery

NOW = datetime(2026, 5, 8, 13, 56, tzinfo=UTC)

COLLECTIONS: dict[type[Record], str] = {
    Knowledge: "knowledge",
    Session: "sessions",
    Turn: "turns",
    Episode: "episodes",
    Pattern: "patterns",
    Application: "applications",
    Entity: "entities",
    EntityLink: "entity_links",
    CoAccessEdge: "co_access",
    ObservedSession: "observed_sessions",
    SavedScratchpad: "scratchpads",
    SignalEvidence: "evidence",
    InjectedItem: "injected_items",
    ProjectSetting: "project_settings",
    AuditEntry: "audit",
    Revision: "revisions",
    Run: "runs",
    Job: "jobs",
}

_NAMED_SHORTER = {
    "CoAccessEdge": "CoAccess",
    "AuditEntry": "Audit",
}
FILTER_OF: dict[type[Record], type[queries.Filter]] = {
    cls: getattr(queries, f"{_NAMED_SHORTER.get(cls.__name__, cls.__name__)}Filter") for cls in COLLECTIONS
}
# Texts above this go to the blob store.
SMALL_BLOBS = Settings(store=StoreSettings(blob_bytes=1_024))

_SAMPLES: dict[type[Record], dict[str, Any]] = {
    Knowledge: {
        "type": "fact",
        "content": "wet",
        **dict.fromkeys(("created_at", "updated_at", "last_accessed_at"), NOW),
    },
    Session: {"started_at": NOW, "last_at": NOW},
    Turn: {"session": "s", "role": "user", "text": "hello", "at": NOW, "recorded_at": NOW},
    Episode: {"at": NOW, "task": {"input": "build it"}, "outcome": {"status": "SUCCESS", "output": "built"}},
    Pattern: {
        "name": "small steps",
        "category": "strategy",
        "content": {"form": "strategy", "approach": "one at a time"},
        "created_at": NOW,
        "updated_at": NOW,
    },
    Application: {"pattern": "p", "at": NOW, "outcome": "SUCCESS"},
    Entity: {"kind": "person", "name": "Ada", "created_at": NOW, "updated_at": NOW},
    EntityLink: {"entity": "e", "record_kind": "knowledge", "record": "k", "mention": "Ada", "created_at": NOW},
    CoAccessEdge: {"first": "a.py", "second": "b.py", "last_seen_at": NOW},
    ObservedSession: {"started_at": NOW, "last_at": NOW},
    SavedScratchpad: {"saved_at": NOW, "state": "{}"},
    SignalEvidence: {"signal": "co_access", "subject": "a.py b.py", "first_seen_at": NOW, "last_seen_at": NOW},
    InjectedItem: {
        "session": "s",
        "point": "prompt",
        "kind": "knowledge",
        "item": "k",
        "injection": "i",
        "injected_at": NOW,
    },
    ProjectSetting: {"changed_at": NOW},
    AuditEntry: {"at": NOW, "actor": "local", "action": "create", "kind": "knowledge", "subject": "k"},
    Revision: {
        "kind": "knowledge",
        "subject": "k",
        "version": 1,
        "action": "update",
        "at": NOW,
        "actor": "local",
        "before": "",
        "group": "g",
    },
    Run: {"stage": "forget", "started_at": NOW, "updated_at": NOW},
    Job: {"kind": "tidy", "run_at": NOW, "created_at": NOW},
}


def sample(cls: type[Any], id: str = "x", **fields: Any) -> Any:
    """A valid record of a kind, with the given fields."""
    return cls.make(**{"id": id} | _SAMPLES[cls] | fields)


def knowledge(id: str = "k", content: str = "water is wet", **fields: Any) -> Knowledge:
    record: Knowledge = sample(Knowledge, id, content=content, **fields)
    return record


def turn(id: str = "t", text: str = "hello", **fields: Any) -> Turn:
    said: Turn = sample(Turn, id, text=text, **fields)
    return said


def collection(tx: Any, cls: type[Record]) -> Any:
    return getattr(tx, COLLECTIONS[cls])


def put(tx: Any, values: Iterable[Record]) -> None:
    """Store values of any kind."""
    for value in values:
        into = collection(tx, type(value))
        (into.put_many if hasattr(into, "put_many") else into.create_many)([value])


def by_words(tx: Any, query: str, **filters: queries.Filter) -> set[str]:
    """The ids of what holds any word of the query, of the kinds that a filter is given for."""
    words = [codes_of(term.forms) for term in query_terms(query, tx.index.languages())]
    found = tx.index.candidates(IndexQuery(words), tuple(filters), limit=10_000)
    # What stands beside them in a conversation comes along, whatever its words.
    return {id for _, id in tx.index.matching_ids(filters, found.number[found.words > 0]).values()}


def free_of_secrets(value: Record) -> bool:
    """Whether the store keeps the value as it is."""
    try:
        return not without_secrets(value).kinds
    except SecretRefused:
        return False
