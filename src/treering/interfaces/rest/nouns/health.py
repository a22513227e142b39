"""Counts, health, diagnosis and the audit log."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

from fastapi import Query
from pydantic import Field

from treering.core.errors import NotFound
from treering.core.history import Action, AuditEntry
from treering.core.queries import AuditFilter, TimeRange
from treering.core.runs import Run
from treering.interfaces.rest.calls import Route
from treering.interfaces.rest.schemas import After, Answered, Asked, Limit, ListPage
from treering.interfaces.servers.threads import CallQueue
from treering.memory import Memory

Counts = dict[str, int]


class StatsAnswer(Answered):
    """Counts of what the project holds."""

    project: str
    engine: str
    location: str
    records: Counts
    knowledge: Counts = Field(description="Records of knowledge by type.")
    states: Counts
    jobs: Counts
    latest: dict[str, datetime]
    episode_cache: dict[str, float]
    code: dict[str, Any]


class HealthAnswer(Answered):
    """Health of the memory in counts: contents, growth, confidence, pending jobs and failures."""

    at: datetime
    project: str
    records: Counts
    knowledge: Counts
    states: Counts
    growth: dict[str, Counts]
    confidence: Counts
    looked_at: int
    episodes: Counts
    patterns: Counts
    learning: Counts
    jobs: Counts
    dead_jobs: Counts
    runs: list[Run]
    sizes: Counts


class CheckAnswer(Answered):
    """One check; `advice` says what to do if it is not fine."""

    name: str
    fine: bool
    detail: str
    advice: str


class DeadJobAnswer(Answered):
    id: str
    kind: str
    error: str


class DoctorAnswer(Answered):
    """The condition of the memory."""

    version: str
    engine: str
    location: str
    project: str
    blobs: str
    healthy: bool
    checks: list[CheckAnswer]
    sizes: Counts
    missing: dict[str, str]
    repaired: list[str]
    dead_jobs: list[DeadJobAnswer]
    repository: str
    place: str


class RepairRequest(Asked):
    repair: bool = Field(default=True, description="Rebuild what is derived, and queue dead jobs again.")


class ScorePartAnswer(Answered):
    """A part of the score: a share from 0 to 1, its weight, and the number of records that lower it."""

    name: str
    share: float
    weight: float
    lowered_by: int


class CoverageAnswer(Answered):
    """Files of a module, those that a record is about, and the number of these records."""

    module: str
    directory: str
    files: int
    covered: int
    records: int


class DayAnswer(Answered):
    """Records created and sessions started on one day (UTC)."""

    day: str
    records: int
    sessions: int


class OverviewAnswer(Answered):
    """One page about the memory. The score is 0 to 100, and null for an empty memory."""

    total: int
    active: int = Field(description="Records that were used in the last 30 days.")
    needs_review: int
    tokens_given: int = Field(description="Tokens that sessions were given unasked in the last 30 days.")
    tokens_used: int = Field(description="Those of them that the sessions used.")
    score: int | None
    parts: list[ScorePartAnswer]
    modules: list[CoverageAnswer]
    days: list[DayAnswer]


def get_overview(memory: Memory) -> Any:
    """Size, use, score with its parts, coverage of the code and activity of the last 30 days."""
    return memory.maintenance.overview(_modules(memory))


def _modules(memory: Memory) -> dict[str, tuple[str, Sequence[str]]]:
    """Directory and files of each module of the code; empty if it is not indexed."""
    try:
        found = memory.code.module_map().modules
    except NotFound:
        return {}
    return {each.name: (each.directory, each.files) for each in found}


def get_stats(memory: Memory) -> Any:
    """Counts of the records of the project."""
    return memory.stats()


def get_health(memory: Memory) -> Any:
    """Contents, growth, confidence, pending jobs, maintenance runs and failures."""
    return memory.maintenance.report()


def get_doctor(memory: Memory) -> Any:
    """Diagnose the memory. Changes nothing."""
    return memory.doctor()


def repair(memory: Memory, body: RepairRequest | None = None) -> Any:
    """Rebuild what is derived, queue dead jobs again, then diagnose the memory."""
    return memory.doctor(repair=body is None or body.repair)


def list_audit(
    memory: Memory,
    *,
    actions: Annotated[Sequence[Action], Query(description="Any of these; repeatable.")] = (),
    subject: Annotated[str | None, Query(description="Only entries about this record or project.")] = None,
    kinds: Annotated[Sequence[str], Query(description="Any of these; repeatable.")] = (),
    since: Annotated[datetime | None, Query(description="At this time or later.")] = None,
    before: Annotated[datetime | None, Query(description="Before this time.")] = None,
    limit: Limit = 50,
    after: After = None,
) -> ListPage[AuditEntry]:
    """List the audit log, newest first: writes, injections, removals."""
    happened = TimeRange.make(since=since, before=before) if since or before else None
    subjects = () if subject is None else (subject,)
    where = AuditFilter.make(actions=tuple(actions), subjects=subjects, kinds=tuple(kinds), happened=happened)
    page = memory.page("audit", where=where, limit=limit, after=after)
    return ListPage[AuditEntry].model_construct(items=list(page.items), next=page.next, total=None)


_SLOW = CallQueue.SLOW
ROUTES = (
    Route("GET", "/stats", get_stats, StatsAnswer, "Get counts"),
    Route("GET", "/overview", get_overview, OverviewAnswer, "Get an overview with a score", _SLOW),
    Route("GET", "/health", get_health, HealthAnswer, "Get the health of the memory", _SLOW),
    Route("GET", "/doctor", get_doctor, DoctorAnswer, "Diagnose the memory", _SLOW),
    Route("POST", "/doctor", repair, DoctorAnswer, "Repair the memory", _SLOW),
    Route("GET", "/audit", list_audit, ListPage[AuditEntry], "List the audit log"),
)
