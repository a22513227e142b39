"""Translation of filters to SQL: one condition per field, complete (a test checks it)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Table, and_, exists, or_, select, true

from treering.adapters.sql.codec import micros, primitive
from treering.adapters.sql.kinds import FLAG, RecordKind
from treering.adapters.sql.tables import facets
from treering.core import queries
from treering.core.scope import EVERY_VISIBILITY, Scope, Visibility

if TYPE_CHECKING:
    from treering.core.queries import Filter, PlaceRange, ShareRange, TimeRange

Condition = Callable[[RecordKind[Any], Any], ColumnElement[bool]]


def in_scope(kind: RecordKind[Any], scope: Scope) -> ColumnElement[bool]:
    """Rows of a kind that the scope can see. Part of every statement."""
    return _seen(kind.table, scope)


# Building it costs as much as a small statement; a process uses few scopes.
@lru_cache(maxsize=1_000)
def _seen(table: Table, scope: Scope) -> ColumnElement[bool]:
    columns = table.c
    clauses = [columns.tenant == scope.tenant, columns.project == scope.project]
    if "visibility" in columns:
        clauses.append(or_(columns.visibility != Visibility.PERSONAL.value, columns.owner == scope.principal))
        if scope.visible != EVERY_VISIBILITY:
            clauses.append(columns.visibility.in_(sorted(v.value for v in scope.visible)))
    return and_(*clauses)


def matching(
    kind: RecordKind[Any], where: Filter, answered: str | None = None, *, every_row: bool = False
) -> Iterator[ColumnElement[bool]]:
    """Conditions of a filter, without unset fields and the one that is `answered` otherwise.

    For a statement that reads `every_row`, a flag is its column; elsewhere it is looked up in the inverted index.
    """
    table = CONDITIONS[type(where)]
    for field, wanted in where.__dict__.items():
        if field != answered and wanted is not None and wanted != ():
            condition = table[field]
            yield (
                condition.column(kind, wanted) if every_row and isinstance(condition, Flag) else condition(kind, wanted)
            )


@dataclass(frozen=True, slots=True)
class OneOf:
    """The column holds one of the values."""

    column: str

    def __call__(self, kind: RecordKind[Any], values: tuple[Any, ...]) -> ColumnElement[bool]:
        return kind.table.c[self.column].in_([primitive(value) for value in values])


def _none_of(column: str) -> Condition:
    """True for a row without a value, too."""

    def build(kind: RecordKind[Any], values: tuple[str, ...]) -> ColumnElement[bool]:
        stored = kind.table.c[column]
        return or_(stored.is_(None), stored.not_in([primitive(value) for value in values]))

    return build


def _equal(column: str) -> Condition:
    return lambda kind, value: kind.table.c[column] == primitive(value)


def _is_set(column: str) -> Condition:
    def build(kind: RecordKind[Any], wanted: bool) -> ColumnElement[bool]:
        stored = kind.table.c[column]
        return stored.is_not(None) if wanted else stored.is_(None)

    return build


def _during(column: str) -> Condition:
    def build(kind: RecordKind[Any], span: TimeRange) -> ColumnElement[bool]:
        stored = kind.table.c[column]
        bounds: list[ColumnElement[bool]] = [true()]
        if span.since is not None:
            bounds.append(stored >= micros(span.since))
        if span.before is not None:
            bounds.append(stored < micros(span.before))
        return and_(*bounds)

    return build


def _share(column: str) -> Condition:
    def build(kind: RecordKind[Any], span: ShareRange) -> ColumnElement[bool]:
        return kind.table.c[column].between(span.at_least, span.at_most)

    return build


def _valid_at(kind: RecordKind[Any], moment: Any) -> ColumnElement[bool]:
    return valid_at(kind, micros(moment))


def valid_at(kind: RecordKind[Any], at: Any) -> ColumnElement[bool]:
    """The record is valid at this time: microseconds, or a parameter for them."""
    start, end = kind.table.c.valid_from, kind.table.c.valid_until
    return and_(or_(start.is_(None), start <= at), or_(end.is_(None), end > at))


def _believed_at(kind: RecordKind[Any], moment: Any) -> ColumnElement[bool]:
    at = micros(moment)
    learned, retired = kind.table.c.created_at, kind.table.c.deprecated_at
    return and_(learned <= at, or_(retired.is_(None), retired > at))


def _placed(kind: RecordKind[Any], places: PlaceRange) -> ColumnElement[bool]:
    stored = kind.table.c.seq
    return and_(stored >= places.first, stored < places.before)


def _learned(kind: RecordKind[Any], wanted: bool) -> ColumnElement[bool]:
    turns, learned = kind.table.c.turns, kind.table.c.learned
    return turns <= learned if wanted else turns > learned


def has_facet(kind: RecordKind[Any], facet: str, values: tuple[str, ...]) -> ColumnElement[bool]:
    """The record has one of `values`; checked for each record."""
    columns = kind.table.c
    return exists(
        select(1).where(
            facets.c.tenant == columns.tenant,
            facets.c.project == columns.project,
            facets.c.kind == kind.name,
            facets.c.facet == facet,
            facets.c.value.in_(values),
            facets.c.at == columns[kind.born],
            facets.c.id == columns.id,
        )
    )


@dataclass(frozen=True, slots=True)
class AnyFacet:
    """The record has one of the values."""

    facet: str
    fold: bool = False

    def __call__(self, kind: RecordKind[Any], values: tuple[str, ...]) -> ColumnElement[bool]:
        return has_facet(kind, self.facet, self.folded(values))

    def folded(self, values: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(value.casefold() for value in values) if self.fold else values


@dataclass(frozen=True, slots=True)
class Flag:
    """The record has the flag or not. Flagged records are few, and are in the inverted index."""

    name: str

    def __call__(self, kind: RecordKind[Any], wanted: bool) -> ColumnElement[bool]:
        return has_facet(kind, FLAG, (self.name,)) if wanted else self.column(kind, wanted)

    def column(self, kind: RecordKind[Any], wanted: bool) -> ColumnElement[bool]:
        return kind.table.c[self.name].is_(wanted)


@dataclass(frozen=True, slots=True)
class EveryFacet:
    """The record has all of the values."""

    facet: str

    def __call__(self, kind: RecordKind[Any], values: tuple[str, ...]) -> ColumnElement[bool]:
        return and_(*(has_facet(kind, self.facet, (value,)) for value in values))


def _either_file(kind: RecordKind[Any], files: tuple[str, ...]) -> ColumnElement[bool]:
    return or_(kind.table.c.first.in_(files), kind.table.c.second.in_(files))


_OWNED: Mapping[str, Condition] = {"ids": OneOf("id"), "deleted": _is_set("deleted_at")}
_SHARED: Mapping[str, Condition] = {
    **_OWNED,
    "visibility": OneOf("visibility"),
    "owners": OneOf("owner"),
    "sessions": OneOf("session"),
    "not_sessions": _none_of("session"),
    "tainted": _equal("tainted"),
}

CONDITIONS: Mapping[type[Filter], Mapping[str, Condition]] = {
    queries.KnowledgeFilter: {
        **_SHARED,
        "types": OneOf("type"),
        "levels": OneOf("level"),
        "sources": OneOf("source"),
        "tags": AnyFacet("tag"),
        "all_tags": EveryFacet("tag"),
        "files": AnyFacet("file"),
        "modules": AnyFacet("module"),
        "related_to": AnyFacet("relation"),
        "derived_from": AnyFacet("source"),
        "nodes": AnyFacet("node"),
        "same_text": AnyFacet("text"),
        "fact_keys": AnyFacet("fact"),
        "statement_keys": AnyFacet("statement"),
        "created": _during("created_at"),
        "updated": _during("updated_at"),
        "accessed": _during("last_accessed_at"),
        "valid_at": _valid_at,
        "believed_at": _believed_at,
        "confidence": _share("confidence"),
        "language": _equal("language"),
        "pinned": Flag("pinned"),
        "needs_review": Flag("needs_review"),
        "user_verified": Flag("user_verified"),
        "flagged": Flag("flagged"),
        "stale": _is_set("stale_at"),
        "deprecated": _is_set("deprecated_at"),
    },
    queries.TurnFilter: {
        **_SHARED,
        "roles": OneOf("role"),
        "speakers": OneOf("speaker"),
        "said": _during("at"),
        "places": _placed,
    },
    queries.SessionFilter: {
        "ids": OneOf("id"),
        "started": _during("started_at"),
        "ended": _is_set("ended_at"),
        "owners": OneOf("owner"),
        "learned": _learned,
    },
    queries.EpisodeFilter: {
        **_OWNED,
        "sessions": OneOf("session"),
        "not_sessions": _none_of("session"),
        "domains": OneOf("domain"),
        "task_types": OneOf("task_type"),
        "outcomes": OneOf("outcome_status"),
        "statuses": OneOf("status"),
        "tools": AnyFacet("tool"),
        "strategies": AnyFacet("strategy"),
        "tags": AnyFacet("tag"),
        "failures": AnyFacet("failure"),
        "consolidated": _is_set("consolidated_into"),
        "cold": _is_set("cold"),
        "happened": _during("at"),
        "tainted": _equal("tainted"),
    },
    queries.PatternFilter: {
        **_OWNED,
        "categories": OneOf("category"),
        "statuses": OneOf("status"),
        "problem_types": AnyFacet("problem_type"),
        "domains": AnyFacet("domain"),
        "updated": _during("updated_at"),
    },
    queries.ApplicationFilter: {
        "ids": OneOf("id"),
        "patterns": OneOf("pattern"),
        "episodes": OneOf("episode"),
        "sessions": OneOf("session"),
        "outcomes": OneOf("outcome"),
        "happened": _during("at"),
    },
    queries.EntityFilter: {
        **_OWNED,
        "kinds": OneOf("kind"),
        "names": OneOf("name"),
        "aliases": AnyFacet("alias", fold=True),
        "same_names": AnyFacet("same_name"),
        "merged_into": AnyFacet("merged_into"),
    },
    queries.EntityLinkFilter: {"entities": OneOf("entity"), "records": OneOf("record")},
    queries.CoAccessFilter: {"ids": OneOf("id"), "files": _either_file, "weight": _share("weight")},
    queries.ObservedSessionFilter: {
        "ids": OneOf("id"),
        "types": OneOf("type"),
        "outcomes": OneOf("outcome"),
        "finished": _is_set("finished_at"),
        "started": _during("started_at"),
    },
    queries.SavedScratchpadFilter: {"ids": OneOf("id"), "saved": _during("saved_at")},
    queries.SignalEvidenceFilter: {
        "ids": OneOf("id"),
        "signals": OneOf("signal"),
        "records": OneOf("record"),
        "promoted": _is_set("record"),
        "seen": _during("last_seen_at"),
    },
    queries.InjectedItemFilter: {
        "ids": OneOf("id"),
        "sessions": OneOf("session"),
        "points": OneOf("point"),
        "kinds": OneOf("kind"),
        "items": OneOf("item"),
        "outcomes": OneOf("outcome"),
        "judged": _is_set("outcome"),
        "injected": _during("injected_at"),
    },
    queries.ProjectSettingFilter: {"ids": OneOf("id")},
    queries.AuditFilter: {
        "subjects": OneOf("subject"),
        "actions": OneOf("action"),
        "kinds": OneOf("kind"),
        "actors": OneOf("actor"),
        "happened": _during("at"),
    },
    queries.RevisionFilter: {
        "subjects": OneOf("subject"),
        "kinds": OneOf("kind"),
        "groups": OneOf("group"),
        "undone": _equal("undone"),
    },
    queries.JobFilter: {"kinds": OneOf("kind"), "keys": OneOf("key"), "states": OneOf("state")},
    queries.RunFilter: {"stages": OneOf("stage"), "states": OneOf("state"), "started": _during("started_at")},
}
