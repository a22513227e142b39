"""What the store should answer, said again in plain Python: one row a filter field, visibility, order."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from treering.core import queries
from treering.core.failures import failure_signatures
from treering.core.payloads import Stated, knowledge_type
from treering.core.queries import Filter, Order
from treering.core.records import text_digest
from treering.core.scope import Scope, Visibility
from treering.core.statements import fact_key, same_name
from treering.core.values import FrozenDict, Record, Value
from treering.core.wording import statement_keys

Predicate = Callable[[Any, Any], bool]


def _not_in(name: str) -> Predicate:
    return lambda value, wanted: getattr(value, name) not in wanted


def _in(name: str) -> Predicate:
    return lambda record, wanted: getattr(record, name) in wanted


def _is(name: str) -> Predicate:
    return lambda record, wanted: getattr(record, name) == wanted


def _set(name: str) -> Predicate:
    return lambda record, wanted: (getattr(record, name) is not None) == wanted


def _meets(listed: Callable[[Any], Iterable[Any]]) -> Predicate:
    return lambda record, wanted: bool(set(listed(record)) & set(wanted))


def _during(name: str) -> Predicate:
    def holds(record: Any, span: queries.TimeRange) -> bool:
        at = getattr(record, name)
        return (span.since is None or at >= span.since) and (span.before is None or at < span.before)

    return holds


def _between(name: str) -> Predicate:
    return lambda record, span: span.at_least <= getattr(record, name) <= span.at_most


def _valid(record: Any, at: Any) -> bool:
    begun = record.valid_from is None or record.valid_from <= at
    return begun and (record.valid_until is None or record.valid_until > at)


def _believed(record: Any, at: Any) -> bool:
    return record.created_at <= at and (record.deprecated_at is None or record.deprecated_at > at)


def _keys_of(payload: Any) -> list[str]:
    said = isinstance(payload, Stated) and payload.subject is not None and payload.attribute is not None
    return [fact_key(payload.subject, payload.attribute)] if said else []


def _statement_keys(record: Any) -> Sequence[str]:
    states = issubclass(knowledge_type(record.type).payload, Stated)
    return (*statement_keys(record.content), *_keys_of(record.payload)) if states else ()


def _called(record: Any, names: Any) -> bool:
    known = {name.casefold() for name in (record.name, *record.aliases)}
    return bool(known & {name.casefold() for name in names})


PREDICATES: Mapping[type[Filter], Mapping[str, Predicate]] = {
    queries.KnowledgeFilter: {
        "ids": _in("id"),
        "types": _in("type"),
        "levels": _in("level"),
        "visibility": _in("visibility"),
        "owners": _in("owner"),
        "sources": _in("source"),
        "sessions": _in("session"),
        "not_sessions": _not_in("session"),
        "tags": _meets(lambda record: record.tags),
        "all_tags": lambda record, wanted: set(wanted) <= set(record.tags),
        "files": _meets(lambda record: record.files),
        "modules": _meets(lambda record: record.modules),
        "related_to": _meets(lambda record: [relation.record for relation in record.relations]),
        "derived_from": _meets(lambda record: record.source_ids),
        "nodes": _meets(lambda record: [record.node, *record.impacted_nodes]),
        "same_text": _meets(lambda record: [text_digest(record.type, record.content)]),
        "fact_keys": _meets(lambda record: _keys_of(record.payload)),
        "statement_keys": _meets(_statement_keys),
        "created": _during("created_at"),
        "updated": _during("updated_at"),
        "accessed": _during("last_accessed_at"),
        "valid_at": _valid,
        "believed_at": _believed,
        "confidence": _between("confidence"),
        "language": _is("language"),
        "pinned": _is("pinned"),
        "needs_review": _is("needs_review"),
        "user_verified": _is("user_verified"),
        "flagged": _is("flagged"),
        "tainted": _is("tainted"),
        "stale": _set("stale_at"),
        "deprecated": _set("deprecated_at"),
        "deleted": _set("deleted_at"),
    },
    queries.TurnFilter: {
        "ids": _in("id"),
        "sessions": _in("session"),
        "not_sessions": _not_in("session"),
        "roles": _in("role"),
        "speakers": _in("speaker"),
        "visibility": _in("visibility"),
        "owners": _in("owner"),
        "said": _during("at"),
        "places": lambda record, places: places.first <= record.seq < places.before,
        "tainted": _is("tainted"),
        "deleted": _set("deleted_at"),
    },
    queries.SessionFilter: {
        "ids": _in("id"),
        "started": _during("started_at"),
        "owners": _in("owner"),
        "ended": _set("ended_at"),
        "learned": lambda record, wanted: (record.turns <= record.learned) == wanted,
    },
    queries.EpisodeFilter: {
        "ids": _in("id"),
        "sessions": _in("session"),
        "not_sessions": _not_in("session"),
        "domains": lambda record, wanted: record.metadata.domain in wanted,
        "task_types": lambda record, wanted: record.metadata.task_type in wanted,
        "outcomes": lambda record, wanted: record.outcome.status in wanted,
        "statuses": lambda record, wanted: record.lifecycle.status in wanted,
        "tools": _meets(lambda record: record.metadata.tools),
        "strategies": _meets(lambda record: record.metadata.strategies),
        "tags": _meets(lambda record: record.metadata.tags),
        "failures": _meets(failure_signatures),
        "consolidated": lambda record, wanted: (record.lifecycle.consolidated_into is not None) == wanted,
        "cold": _set("cold"),
        "happened": _during("at"),
        "tainted": _is("tainted"),
        "deleted": _set("deleted_at"),
    },
    queries.PatternFilter: {
        "ids": _in("id"),
        "categories": _in("category"),
        "statuses": _in("status"),
        "problem_types": _meets(lambda record: record.applicability.problem_types),
        "domains": _meets(lambda record: record.applicability.domains),
        "updated": _during("updated_at"),
        "deleted": _set("deleted_at"),
    },
    queries.ApplicationFilter: {
        "ids": _in("id"),
        "patterns": _in("pattern"),
        "episodes": _in("episode"),
        "sessions": _in("session"),
        "outcomes": _in("outcome"),
        "happened": _during("at"),
    },
    queries.EntityFilter: {
        "ids": _in("id"),
        "kinds": _in("kind"),
        "names": _in("name"),
        "aliases": _called,
        "same_names": _meets(lambda record: [same_name(name) for name in (record.name, *record.aliases)]),
        "merged_into": _in("merged_into"),
        "deleted": _set("deleted_at"),
    },
    queries.EntityLinkFilter: {"entities": _in("entity"), "records": _in("record")},
    queries.CoAccessFilter: {
        "ids": _in("id"),
        "files": _meets(lambda record: (record.first, record.second)),
        "weight": _between("weight"),
    },
    queries.ObservedSessionFilter: {
        "ids": _in("id"),
        "types": _in("type"),
        "outcomes": _in("outcome"),
        "finished": _set("finished_at"),
        "started": _during("started_at"),
    },
    queries.SavedScratchpadFilter: {"ids": _in("id"), "saved": _during("saved_at")},
    queries.SignalEvidenceFilter: {
        "ids": _in("id"),
        "signals": _in("signal"),
        "records": _in("record"),
        "promoted": _set("record"),
        "seen": _during("last_seen_at"),
    },
    queries.InjectedItemFilter: {
        "ids": _in("id"),
        "sessions": _in("session"),
        "points": _in("point"),
        "kinds": _in("kind"),
        "items": _in("item"),
        "outcomes": _in("outcome"),
        "judged": _set("outcome"),
        "injected": _during("injected_at"),
    },
    queries.ProjectSettingFilter: {"ids": _in("id")},
    queries.AuditFilter: {
        "subjects": _in("subject"),
        "actions": _in("action"),
        "kinds": _in("kind"),
        "actors": _in("actor"),
        "happened": _during("at"),
    },
    queries.RevisionFilter: {
        "subjects": _in("subject"),
        "kinds": _in("kind"),
        "groups": _in("group"),
        "undone": _is("undone"),
    },
    queries.JobFilter: {"kinds": _in("kind"), "keys": _in("key"), "states": _in("state")},
    queries.RunFilter: {"stages": _in("stage"), "states": _in("state"), "started": _during("started_at")},
}


def visible(scope: Scope, record: Any) -> bool:
    """Whether a principal sees a record of their project."""
    visibility = getattr(record, "visibility", None)
    if visibility is None:
        return True
    return visibility in scope.visible and (visibility is not Visibility.PERSONAL or record.owner == scope.principal)


def matches(where: Filter | None, record: Any) -> bool:
    """Whether a filter lets a record pass; without a filter, whatever is not deleted."""
    if where is None:
        return getattr(record, "deleted_at", None) is None
    asked = {name: wanted for name, wanted in where.__dict__.items() if wanted is not None and wanted != ()}
    return all(PREDICATES[type(where)][name](record, wanted) for name, wanted in asked.items())


def ordered(records: Iterable[Record], order: Order) -> Sequence[Record]:
    """By the field, ties by id, text by its bytes."""

    def key(record: Record) -> Any:
        field = getattr(record, order.by)
        return (field.encode() if isinstance(field, str) else field, record.id.encode())

    return sorted(records, key=key, reverse=order.descending)


def typed(value: Any) -> Any:
    """A form in which 1, 1.0 and True differ, and tuples stay tuples."""
    if isinstance(value, Value):
        return type(value), {name: typed(item) for name, item in value.__dict__.items()}
    if isinstance(value, Mapping):
        return FrozenDict, {key: typed(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(typed(item) for item in value)
    return type(value), value
