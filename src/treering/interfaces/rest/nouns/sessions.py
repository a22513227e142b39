"""Observed sessions: what happened, what was learned, what was given, and what waits for a decision."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Path, Query
from pydantic import ConfigDict, Field

from treering.core.events import SessionOutcome, SessionType
from treering.core.injections import InjectedItem, InjectionPoint, ItemOutcome, Occasion
from treering.core.observations import Candidate, ObservedSession
from treering.core.queries import InjectedItemFilter, ObservedSessionFilter, TimeRange
from treering.core.records import Knowledge
from treering.core.trust import TrustLevel
from treering.interfaces.rest.calls import Route
from treering.interfaces.rest.schemas import After, Answered, Asked, Limit, ListPage
from treering.interfaces.servers.threads import CallQueue
from treering.memory import Memory

SessionId = Annotated[str, Path(description="Id of the observed session.")]


class SessionDetails(Answered):
    """A session with the records that it created and those that it strengthened, as they are now."""

    session: ObservedSession
    promoted: list[Knowledge]
    reinforced: list[Knowledge]
    rejected: list[Candidate]


class SessionReviewAnswer(Answered):
    """What a session was given and used, and the records that wait for a decision."""

    session: str | None
    level: TrustLevel
    given: list[InjectedItem]
    used: list[InjectedItem]
    learned: list[Knowledge]
    tainted: list[Knowledge]
    not_shown: int
    tokens: int
    confirms_all: bool


class TimelineEntryAnswer(Answered):
    """A message or an action of a session; what was not kept is null or empty."""

    kind: Literal["prompt", "answer", "read", "searched", "edited", "succeeded", "failed", "corrected"]
    at: datetime | None
    text: str = Field(description="The message, or the path, pattern or command.")
    step: int | None
    error: str = Field(description="Message of a failure.")
    agent: str = Field(description="Name of a subagent.")
    taint: str | None = Field(description="Source from outside that the message depends on.")


class TimelineAnswer(Answered):
    """Messages and the latest actions of a session, in order."""

    entries: list[TimelineEntryAnswer]
    dropped: int = Field(description="Earlier actions that were not kept.")


class GivenCountAnswer(Answered):
    """How many items a session was given unasked, and how many it used."""

    session: str
    given: int
    used: int


class SessionEvents(Asked):
    """Events of an agent's session, in order."""

    events: tuple[dict[str, Any], ...] = Field(default=(), max_length=10_000)
    type: SessionType = SessionType.BUILD
    agent: str | None = None
    finish: Literal["success", "failure", "abandoned"] | None = Field(
        default=None, description="Finish the session after these events."
    )
    validated: bool | None = Field(default=None, description="Whether its result was checked.")

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "events": [{"kind": "prompt", "at": "2026-05-08T13:56:00Z", "text": "fix the login test"}],
                    "finish": "success",
                }
            ]
        },
    )


class EarlyNotice(Answered):
    """An early notice about a running session."""

    signal: str
    text: str
    priority: float


class ObservedEvents(Answered):
    """Events taken in so far, early notices, and the report if the session was finished."""

    session: str
    events: int
    alerts: list[EarlyNotice]
    report: SessionDetails | None = None


class OccasionRequest(Asked):
    """What happens in an agent's loop now; files are relative to the project's folder."""

    session: str
    point: InjectionPoint
    agent: str | None = None
    prompt: str = Field(default="", description="What the user just typed.")
    files: tuple[str, ...] = ()
    search: str = ""
    command: str = ""
    error: str = ""
    step: int = Field(default=0, ge=0)
    begin: str = ""
    seconds: float | None = Field(default=None, gt=0, le=30, description="Time until the offer is silence.")


class OfferedInjection(Answered):
    """Text for the agent, and what it contains; if it is empty, `silence` says why."""

    text: str
    items: list[InjectedItem]
    tokens: int
    silence: str


class ForgottenSession(Answered):
    forgotten: str


def list_sessions(
    memory: Memory,
    *,
    types: Annotated[Sequence[SessionType], Query(description="Any of these; repeatable.")] = (),
    outcomes: Annotated[Sequence[SessionOutcome], Query(description="Any of these; repeatable.")] = (),
    since: Annotated[datetime | None, Query(description="Started at this time or later.")] = None,
    finished: Annotated[bool | None, Query(description="Only finished sessions, or running ones.")] = None,
    limit: Limit = 20,
    after: After = None,
) -> ListPage[ObservedSession]:
    """List observed sessions, newest first."""
    started = None if since is None else TimeRange.make(since=since)
    where = ObservedSessionFilter.make(types=tuple(types), outcomes=tuple(outcomes), started=started, finished=finished)
    page = memory.page("observed_sessions", where=where, limit=limit, after=after)
    return ListPage[ObservedSession].model_construct(items=list(page.items), next=page.next, total=None)


def get_session(memory: Memory, id: SessionId) -> Any:
    """What was seen in a session, and what was promoted or rejected, and why."""
    return memory.sessions.get(id)


def get_timeline(memory: Memory, id: SessionId) -> Any:
    """Prompts, the agent's last words before each, and its latest actions with errors, as far as they are kept."""
    return memory.sessions.timeline(id)


def count_given(
    memory: Memory, ids: Annotated[Sequence[str], Query(max_length=100, description="Ids of sessions; repeatable.")]
) -> list[GivenCountAnswer]:
    """How many items each of these sessions was given unasked, and used; sessions that were given none are left out."""
    found = memory.sessions.given_counts(ids)
    return [GivenCountAnswer(session=id, given=each.given, used=each.used) for id, each in found.items()]


def review_session(
    memory: Memory, id: SessionId, every: Annotated[bool, Query(description="Include all new records.")] = False
) -> Any:
    """What a session was given and used, and its new records that a person should confirm, correct or reject."""
    return memory.sessions.review(id, every=every)


def review_all(memory: Memory, every: Annotated[bool, Query(description="Include all new records.")] = False) -> Any:
    """All records that wait for a decision, the newest session first."""
    return memory.sessions.review(None, every=every)


def list_injected(
    memory: Memory,
    id: SessionId,
    outcomes: Annotated[Sequence[ItemOutcome], Query(description="Any of these; repeatable.")] = (),
    limit: Limit = 200,
    after: After = None,
) -> ListPage[InjectedItem]:
    """What a session was given unasked, in order, and whether it used it."""
    where = InjectedItemFilter.make(sessions=(id,), outcomes=tuple(outcomes))
    page = memory.page("injected_items", where=where, descending=False, limit=limit, after=after)
    return ListPage[InjectedItem].model_construct(items=list(page.items), next=page.next, total=None)


def observe_session(memory: Memory, id: SessionId, body: SessionEvents) -> dict[str, Any]:
    """Take events of a session in; a session that goes on continues. Events may come late or twice."""
    watch = memory.observe(id, type=body.type, agent=body.agent)
    for event in body.events:
        watch.event(event)
    report = None
    if body.finish is None:
        watch.checkpoint()
    else:
        report = watch.finish(body.finish, validated=body.validated)
    return {"session": id, "events": watch.events, "alerts": watch.alerts(), "report": report}


def offer_injection(memory: Memory, body: OccasionRequest) -> Any:
    """What the agent should be given now without asking, within the time; usually nothing."""
    fields = body.model_dump(exclude={"seconds"})
    return memory.injections.offer(Occasion(**fields), seconds=body.seconds)


def forget_session(memory: Memory, id: SessionId) -> ForgottenSession:
    """Remove what was observed of a session; its records stay with their evidence."""
    memory.sessions.forget(id)
    return ForgottenSession(forgotten=id)


_WRITE = CallQueue.WRITE
ROUTES = (
    Route("GET", "/sessions", list_sessions, ListPage[ObservedSession], "List observed sessions"),
    Route("GET", "/review", review_all, SessionReviewAnswer, "Get everything that waits for review"),
    Route("GET", "/given", count_given, list[GivenCountAnswer], "Count what sessions were given"),
    Route("GET", "/sessions/{id}", get_session, SessionDetails, "Get an observed session"),
    Route("DELETE", "/sessions/{id}", forget_session, ForgottenSession, "Forget an observed session", _WRITE),
    Route("GET", "/sessions/{id}/timeline", get_timeline, TimelineAnswer, "Get the timeline of a session"),
    Route("GET", "/sessions/{id}/review", review_session, SessionReviewAnswer, "Review a session"),
    Route("GET", "/sessions/{id}/injected", list_injected, ListPage[InjectedItem], "List what a session was given"),
    Route("POST", "/injections", offer_injection, OfferedInjection, "Offer an injection"),
    Route("POST", "/sessions/{id}/events", observe_session, ObservedEvents, "Observe a session", _WRITE),
)
