"""Episodes: task executions, their search and their lifecycle."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import ConfigDict, Field

from treering.core.episodes import Episode, EpisodeStatus, OutcomeStatus
from treering.core.queries import EpisodeFilter, TimeRange
from treering.interfaces.rest.calls import Raw, RecordId, Route, stored_record
from treering.interfaces.rest.schemas import After, Answered, Asked, Limit, ListPage, ScoreTerm, Total
from treering.interfaces.servers.threads import CallQueue
from treering.memory import Memory

Labels = Annotated[Sequence[str], Query(description="Any of these; repeatable.")]


class EpisodeRequest(Asked):
    """A task execution to store."""

    task: str | dict[str, Any] = Field(description="Description of the task, or its fields.")
    outcome: str | dict[str, Any] = Field(default="SUCCESS", description="SUCCESS, PARTIAL or FAILURE, or its fields.")
    output: str | None = None
    session: str | None = None
    at: str | None = Field(default=None, description="When it was executed; by default now.")
    id: str | None = Field(default=None, description="Id; an episode with a known id is stored once.")
    artifacts: dict[str, str] = Field(default_factory=dict, description="Products of the task by name, as text.")
    fields: dict[str, Any] = Field(
        default_factory=dict, description="Further fields: plan, trace, insights, domain, task_type, tools, tags…"
    )

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"task": "fix the login test", "outcome": "SUCCESS", "fields": {"tools": ["pytest"]}}]
        },
    )


class EpisodeWhere(Asked):
    """Filter for episodes: all given fields must match, and one of each list."""

    sessions: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    task_types: tuple[str, ...] = ()
    outcomes: tuple[OutcomeStatus, ...] = ()
    statuses: tuple[EpisodeStatus, ...] = ()
    tools: tuple[str, ...] = ()
    strategies: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    since: datetime | None = None
    before: datetime | None = None

    def filter(self) -> EpisodeFilter:
        fields = self.model_dump(exclude={"since", "before"})
        happened = TimeRange.make(since=self.since, before=self.before) if self.since or self.before else None
        return EpisodeFilter.make(**{name: tuple(each) for name, each in fields.items()}, happened=happened)


class EpisodeSearchRequest(Asked):
    """A search for episodes; without a query, by attributes alone."""

    query: str = Field(default="", max_length=20_000)
    where: EpisodeWhere = EpisodeWhere()
    domain: str | None = Field(default=None, description="Raises episodes of this domain.")
    limit: int | None = Field(default=None, ge=1, le=1_000)
    cold: bool = Field(default=False, description="Include aged and archived episodes.")
    by_meaning: bool = Field(default=False, description="Compare meaning alone, not words.")
    compare: Literal["whole", "task", "outcome"] | None = None


class EpisodeResult(Answered):
    """One episode without its largest parts; `GET …/episodes/{id}` returns all of it."""

    id: str
    text: str
    score: float
    source: str
    episode: Episode
    parts: tuple[ScoreTerm, ...] = ()
    stands_for: tuple[str, ...] = ()
    compared: str = ""


class EpisodeResults(Answered):
    """Episodes in order."""

    query: str
    hits: list[EpisodeResult]
    missing: dict[str, str]
    unreadable: list[str]
    embedder: str = ""


class FailureRequest(Asked):
    """A failure to look for."""

    error: str = Field(min_length=1, max_length=100_000)
    limit: int | None = Field(default=None, ge=1, le=1_000)


class FailureResult(Answered):
    """An episode with such a failure, and how it recovered."""

    id: str
    error: str
    same: bool
    likeness: float
    recovered: bool
    recovery: list[str]
    insights: list[str]
    solved_by: list[str]
    source: str
    episode: Episode


class FailureResults(Answered):
    error: str
    hits: list[FailureResult]
    unreadable: list[str]


class TrendPeriod(Answered):
    """Episodes of a group in a period."""

    since: datetime
    before: datetime
    group: str
    episodes: int
    successes: int
    success_rate: float


class LifecycleRequest(Asked):
    """Options of a step of the lifecycle."""

    older_than_days: float | None = Field(default=None, ge=0)
    likeness: float | None = Field(default=None, ge=0, le=1)
    dry_run: bool = False


class EpisodeCounts(Answered):
    """Numbers of episodes by result."""

    counts: dict[str, int]


class EpisodeIds(Answered):
    ids: list[str]


def store_episode(memory: Memory, body: EpisodeRequest) -> Episode:
    """Store a task execution. An episode with a known id is stored once."""
    given: dict[str, Any] = dict(body.fields)
    return memory.episode(
        body.task,
        outcome=body.outcome,
        output=body.output,
        session=body.session,
        at=body.at,
        id=body.id,
        artifacts=dict(body.artifacts) or None,
        **given,
    )


def list_episodes(
    memory: Memory,
    *,
    sessions: Labels = (),
    outcomes: Annotated[Sequence[OutcomeStatus], Query(description="Any of these; repeatable.")] = (),
    domains: Labels = (),
    tags: Labels = (),
    since: Annotated[datetime | None, Query(description="Executed at this time or later.")] = None,
    before: Annotated[datetime | None, Query(description="Executed before this time.")] = None,
    limit: Limit = 50,
    after: After = None,
    total: Total = False,
) -> ListPage[Episode]:
    """List episodes, newest first, without their largest parts."""
    asked = EpisodeWhere(sessions=sessions, outcomes=outcomes, domains=domains, tags=tags, since=since, before=before)
    where = asked.filter()
    page = memory.page("episodes", where=where, limit=limit, after=after)
    counted = memory.count("episodes", where=where) if total else None
    return ListPage[Episode].model_construct(items=list(page.items), next=page.next, total=counted)


def get_episode(memory: Memory, id: RecordId) -> Episode:
    """The complete episode."""
    return memory.episodes.get(id)


def get_artifact(memory: Memory, id: RecordId, name: Annotated[str, Query(description="Name of the artifact.")]) -> Raw:
    """The bytes of an artifact of an episode."""
    content = memory.episodes.artifact(id, name)
    return Raw(content, "application/octet-stream", {"Content-Disposition": "attachment"})


def search_episodes(memory: Memory, body: EpisodeSearchRequest) -> Any:
    """Search episodes by meaning, words and attributes; without a query, by attributes, newest first."""
    where = body.where.filter()
    if not body.query.strip():
        return memory.episodes.search_structured(where, limit=body.limit, cold=body.cold)
    search = memory.episodes.search_semantic if body.by_meaning else memory.episodes.search
    return search(body.query, where=where, domain=body.domain, limit=body.limit, cold=body.cold, compare=body.compare)


def similar_failures(memory: Memory, body: FailureRequest) -> Any:
    """Episodes with this failure or a similar one, and how they recovered."""
    return memory.episodes.similar_failures(body.error, limit=body.limit)


def recent_episodes(
    memory: Memory,
    limit: Annotated[int | None, Query(ge=1, le=1_000)] = None,
    sessions: Annotated[int | None, Query(ge=1, le=1_000, description="Those of the last sessions.")] = None,
) -> Any:
    """The newest episodes, or those of the last sessions."""
    return memory.episodes.recent(limit, sessions=sessions)


def episodes_around(
    memory: Memory,
    event: Annotated[str, Query(description="A time, or the id of a record.")],
    sessions: Annotated[int, Query(ge=1, le=100)] = 3,
    limit: Annotated[int | None, Query(ge=1, le=1_000)] = None,
) -> Any:
    """Episodes of some sessions before and after a time, or after a record."""
    return memory.episodes.around(event, sessions=sessions, limit=limit)


def episodes_during(
    memory: Memory,
    since: Annotated[str | None, Query(description="From this time: a date or time.")] = None,
    before: Annotated[str | None, Query(description="Until this time.")] = None,
    limit: Annotated[int | None, Query(ge=1, le=1_000)] = None,
) -> Any:
    """Episodes between two times, oldest first."""
    return memory.episodes.during(since, before, limit=limit)


def episode_trend(
    memory: Memory,
    days: Annotated[int, Query(ge=1, le=3_650)] = 30,
    by: Annotated[Literal["domain", "task_type", "tool"], Query()] = "domain",
    every: Annotated[int, Query(ge=1, le=3_650, description="Days of a period.")] = 7,
) -> ListPage[TrendPeriod]:
    """Numbers of episodes and of successes in each period, by group."""
    found = memory.episodes.trend(days, by=by, every=every)
    return ListPage[TrendPeriod](items=[TrendPeriod.model_validate(each) for each in found])


def archive_episodes(memory: Memory, body: LifecycleRequest) -> EpisodeCounts:
    """Move every episode to the phase of its age."""
    counts = memory.episodes.archive_old(older_than_days=body.older_than_days, dry_run=body.dry_run)
    return EpisodeCounts(counts=dict(counts))


def consolidate_episodes(memory: Memory, body: LifecycleRequest) -> EpisodeCounts:
    """Consolidate similar episodes."""
    return EpisodeCounts(counts=dict(memory.episodes.consolidate_similar(likeness=body.likeness, dry_run=body.dry_run)))


def dissolve_episode(memory: Memory, id: RecordId) -> EpisodeIds:
    """Dissolve a consolidated episode; the answer has the ids of its members."""
    return EpisodeIds(ids=list(memory.episodes.dissolve(id)))


def learn_from_episode(memory: Memory, id: RecordId) -> Any:
    """Record which patterns an episode followed, and say what that changed."""
    learned = memory.patterns.learn_from_episode(id)
    return {"episode": learned.episode, "counted": sorted(learned.counted), "lines": list(learned.lines)}


class EpisodeLearned(Answered):
    """Patterns that an episode followed."""

    episode: str
    counted: list[str]
    lines: list[str]


_SLOW, _WRITE = CallQueue.SLOW, CallQueue.WRITE
_BINARY = "application/octet-stream"
ROUTES = (
    Route("GET", "/episodes", list_episodes, ListPage[Episode], "List episodes"),
    Route("POST", "/episodes", store_episode, Episode, "Store an episode", _WRITE, 201, replay=stored_record),
    Route("POST", "/episodes/search", search_episodes, EpisodeResults, "Search episodes"),
    Route("POST", "/episodes/similar-failures", similar_failures, FailureResults, "Find similar failures"),
    Route("GET", "/episodes/recent", recent_episodes, EpisodeResults, "Get the latest episodes"),
    Route("GET", "/episodes/around", episodes_around, EpisodeResults, "Get episodes around a time"),
    Route("GET", "/episodes/during", episodes_during, EpisodeResults, "Get episodes between two times"),
    Route("GET", "/episodes/trend", episode_trend, ListPage[TrendPeriod], "Get the trend of outcomes"),
    Route("POST", "/episodes/archive", archive_episodes, EpisodeCounts, "Archive old episodes", _SLOW),
    Route("POST", "/episodes/consolidate", consolidate_episodes, EpisodeCounts, "Consolidate similar episodes", _SLOW),
    Route("GET", "/episodes/{id}", get_episode, Episode, "Get an episode"),
    Route("GET", "/episodes/{id}/artifact", get_artifact, bytes, "Download an artifact", media_type=_BINARY),
    Route("POST", "/episodes/{id}/dissolve", dissolve_episode, EpisodeIds, "Dissolve a consolidated episode", _WRITE),
    Route("POST", "/episodes/{id}/learn", learn_from_episode, EpisodeLearned, "Learn from an episode", _WRITE),
)
