"""One entry per kind of record: its value, table, searchable text and permitted operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from treering.adapters.sql import tables
from treering.core.co_access import CoAccessEdge
from treering.core.entities import Entity, EntityLink
from treering.core.episodes import Episode
from treering.core.history import AuditEntry, Revision
from treering.core.injections import InjectedItem
from treering.core.jobs import Job
from treering.core.observations import ObservedSession, SavedScratchpad, SignalEvidence
from treering.core.patterns import Application, Pattern
from treering.core.payloads import Stated, knowledge_types
from treering.core.project_settings import ProjectSetting
from treering.core.records import Knowledge, text_digest
from treering.core.runs import Run
from treering.core.turns import Session, Turn
from treering.core.values import Record

if TYPE_CHECKING:
    from sqlalchemy import Table

V = TypeVar("V", bound=Record)

FLAG = "flag"
_FLAGS = ("pinned", "needs_review", "user_verified", "flagged")

Facets = Mapping[str, Callable[[Any], tuple[str | None, ...]]]


@dataclass(frozen=True, slots=True)
class Searched:
    """Searchable text, time and position in a conversation of a record."""

    text: str
    language: str | None = None
    thread: str = ""
    place: int = 0
    speaker: str = ""


@dataclass(frozen=True, eq=False)
class RecordKind(Generic[V]):
    """How one kind of value is stored.

    `derived` columns repeat something from inside the value so that it can be filtered; they are written, never read
    back. `searched` gives what the record is found by. `streamed` is a unique, indexed order for reading all.
    What is `computed` can be computed again: it is neither audited nor moved to the blob store.
    """

    name: str
    value: type[V]
    table: Table
    born: str
    orders: tuple[str, ...]
    facets: Facets = field(default_factory=dict)
    derived: Mapping[str, Callable[[Any], object]] = field(default_factory=dict)
    searched: Callable[[Any], Searched] | None = None
    streamed: tuple[str, ...] = ("id",)
    audited: bool = True
    computed: bool = False

    @property
    def personal(self) -> bool:
        """Whether records of this kind can be personal."""
        return "visibility" in self.table.c

    @property
    def deletable(self) -> bool:
        return "deleted_at" in self.table.c


def _fact_keys(record: Knowledge) -> tuple[str, ...]:
    said = record.payload
    if not isinstance(said, Stated) or said.subject is None or said.attribute is None:
        return ()
    from treering.core.statements import fact_key

    return (fact_key(said.subject, said.attribute),)


def _statement_keys(record: Knowledge) -> tuple[str, ...]:
    """Keys by which a new record finds those it may contradict: of their words, and of subject and attribute."""
    kind = knowledge_types().get(record.type)
    if kind is None or not issubclass(kind.payload, Stated):
        return ()
    from treering.core.wording import statement_keys

    return (*statement_keys(record.content), *_fact_keys(record))


def same_names(entity: Entity) -> tuple[str, ...]:
    from treering.core.statements import same_name

    return tuple(same_name(name) for name in (entity.name, *entity.aliases))


def _failures(episode: Episode) -> tuple[str, ...]:
    from treering.core.failures import failure_signatures

    return failure_signatures(episode)


def _searched_turn(turn: Turn) -> Searched:
    from treering.core.language.text_features import speaker_of

    speaker = turn.speaker or speaker_of(turn.text) or turn.role
    return Searched(turn.text, language=turn.language, thread=turn.session, place=turn.seq, speaker=speaker)


def _searched_episode(episode: Episode) -> Searched:
    """Every text except those of its steps; the output is last, since only the start of a long text is indexed."""
    task, execution, reflection, metadata = episode.task, episode.execution, episode.reflection, episode.metadata
    performance = reflection.performance
    parts = (
        task.input,
        *(metadata.domain, metadata.task_type, *metadata.tools, *metadata.strategies, *metadata.tags),
        *task.goals,
        *task.constraints,
        *(text for failure in reflection.failures for text in (failure.text, failure.cause, failure.resolution)),
        *(text for insight in reflection.insights for text in (insight.text, *insight.evidence)),
        *((performance.text, *performance.bottlenecks) if performance else ()),
        *execution.plan,
        *(text for adaptation in execution.adaptations for text in (adaptation.reason, adaptation.change)),
        *(artifact.name for artifact in episode.outcome.artifacts),
        *episode.outcome.side_effects,
        episode.outcome.output,
    )
    return Searched(" ".join(filter(None, parts)))


KNOWLEDGE = RecordKind(
    "knowledge",
    Knowledge,
    tables.knowledge,
    born="created_at",
    orders=("created_at", "updated_at", "last_accessed_at", "confidence", "access_count"),
    facets={
        "text": lambda k: (text_digest(k.type, k.content),),
        FLAG: lambda k: tuple(name for name in _FLAGS if k.__dict__[name]),
        "tag": lambda k: k.tags,
        "file": lambda k: k.files,
        "module": lambda k: k.modules,
        "relation": lambda k: tuple(r.record for r in k.relations),
        "source": lambda k: k.source_ids,
        "node": lambda k: (k.node, *k.impacted_nodes),
        "fact": _fact_keys,
        "statement": _statement_keys,
    },
    searched=lambda k: Searched(
        " ".join((k.content, *k.tags, *k.files, *k.modules, *(text for _, text in k.details()))), language=k.language
    ),
)
SESSIONS = RecordKind("session", Session, tables.sessions, born="started_at", orders=("started_at",), audited=False)
TURNS = RecordKind(
    "turn",
    Turn,
    tables.turns,
    born="at",
    orders=("at", "seq", "recorded_at"),
    searched=_searched_turn,
    streamed=("session", "seq"),
)
EPISODES = RecordKind(
    "episode",
    Episode,
    tables.episodes,
    born="at",
    orders=("at",),
    facets={
        "tool": lambda e: e.metadata.tools,
        "strategy": lambda e: e.metadata.strategies,
        "tag": lambda e: e.metadata.tags,
        "failure": _failures,
        "blob": lambda e: (*(a.digest for a in e.outcome.artifacts), e.cold),
    },
    derived={
        "domain": lambda e: e.metadata.domain,
        "task_type": lambda e: e.metadata.task_type,
        "outcome_status": lambda e: e.outcome.status,
        "status": lambda e: e.lifecycle.status,
        "consolidated_into": lambda e: e.lifecycle.consolidated_into,
        "access_count": lambda e: e.lifecycle.access_count,
        "last_accessed_at": lambda e: e.lifecycle.last_accessed_at,
    },
    searched=_searched_episode,
)
PATTERNS = RecordKind(
    "pattern",
    Pattern,
    tables.patterns,
    born="created_at",
    orders=("created_at", "updated_at"),
    facets={
        "problem_type": lambda p: p.applicability.problem_types,
        "domain": lambda p: p.applicability.domains,
    },
    searched=lambda p: Searched(" ".join((p.name, p.summary, p.description))),
)
APPLICATIONS = RecordKind("application", Application, tables.applications, born="at", orders=("at",), audited=False)
ENTITIES = RecordKind(
    "entity",
    Entity,
    tables.entities,
    born="created_at",
    orders=("name", "created_at", "mentions"),
    facets={
        "alias": lambda e: (e.name.casefold(), *(a.casefold() for a in e.aliases)),
        "same_name": same_names,
        "merged_into": lambda e: (e.merged_into,),
    },
)
ENTITY_LINKS = RecordKind(
    "entity_link", EntityLink, tables.entity_links, born="created_at", orders=("created_at",), computed=True
)
CO_ACCESS = RecordKind(
    "co_access",
    CoAccessEdge,
    tables.co_access_edges,
    born="last_seen_at",
    orders=("weight", "last_seen_at"),
    computed=True,
)
OBSERVED_SESSIONS = RecordKind(
    "observed_session",
    ObservedSession,
    tables.observed_sessions,
    born="started_at",
    orders=("started_at",),
    computed=True,
)
SCRATCHPADS = RecordKind(
    "scratchpad", SavedScratchpad, tables.scratchpads, born="saved_at", orders=("saved_at",), computed=True
)
SIGNAL_EVIDENCE = RecordKind(
    "signal_evidence",
    SignalEvidence,
    tables.signal_evidence,
    born="last_seen_at",
    orders=("last_seen_at",),
    computed=True,
)
INJECTED_ITEMS = RecordKind(
    "injected_item",
    InjectedItem,
    tables.injected_items,
    born="injected_at",
    orders=("injected_at",),
    computed=True,
)
PROJECT_SETTINGS = RecordKind(
    "project_setting",
    ProjectSetting,
    tables.project_settings,
    born="changed_at",
    orders=("changed_at",),
    computed=True,
)
AUDIT = RecordKind("audit", AuditEntry, tables.audit, born="at", orders=("at",), audited=False)
REVISIONS = RecordKind("revision", Revision, tables.revisions, born="at", orders=("at",), audited=False)
RUNS = RecordKind("run", Run, tables.runs, born="started_at", orders=("started_at",), computed=True)
JOBS = RecordKind("job", Job, tables.jobs, born="created_at", orders=("run_at", "created_at"), audited=False)

KINDS: tuple[RecordKind[Any], ...] = (
    KNOWLEDGE,
    SESSIONS,
    TURNS,
    EPISODES,
    PATTERNS,
    APPLICATIONS,
    ENTITIES,
    ENTITY_LINKS,
    CO_ACCESS,
    OBSERVED_SESSIONS,
    SCRATCHPADS,
    SIGNAL_EVIDENCE,
    INJECTED_ITEMS,
    PROJECT_SETTINGS,
    AUDIT,
    REVISIONS,
    RUNS,
    JOBS,
)

ADDRESSED = (KNOWLEDGE, TURNS, EPISODES, PATTERNS)
"""Kinds that callers address by id alone: their ids are unique across kinds."""

EVERYONE = " UNION ".join(f'SELECT tenant, project FROM "{kind.table.name}"' for kind in KINDS)
"""Every project with a record."""
