"""Durable background jobs."""

from collections.abc import Callable
from datetime import datetime
from enum import StrEnum

from pydantic import Field

from treering.core.turns import Session
from treering.core.values import EMPTY, Count, FrozenMap, Instant, Key, Label, Record, Text

MAX_BACKOFF_SECONDS = 3600.0  # a service that was down is tried again within the hour

EMBED = "embed"
"""Job kind: embed documents."""
EMBED_CODE = "embed_code"
"""Job kind: embed chunks of code."""
LEARN_SESSION = "learn_session"
"""Job kind: learn facts from a session."""
LEARN_ATTEMPTS = 3
"""Few, because each attempt may pay for an answer of a language model."""
LINK_ENTITIES = "link_entities"
"""Job kind: extract entities from new records and link them."""


AFTER_SESSION = "after_session"
"""Job kind: store the conversation of an observed session and update statistics over sessions."""


class JobState(StrEnum):
    QUEUED = "queued"
    LEASED = "leased"
    DONE = "done"
    DEAD = "dead"


class Job(Record):
    """A job that survives a crash. `key` prevents the same job from being queued twice."""

    kind: Label
    key: Label | None = None
    payload: FrozenMap = EMPTY
    state: JobState = JobState.QUEUED
    run_at: Instant
    attempts: Count = 0
    max_attempts: Count = Field(default=5, ge=1)
    lease_owner: Key | None = None
    lease_until: Instant | None = None
    error: Text | None = None
    created_at: Instant
    finished_at: Instant | None = None


def linking_job(principal: str, now: datetime, id: str, turn: int = 1) -> Job:
    """Job that runs as the principal. While the job of one `turn` runs, the one of the other can be queued."""
    key = f"{turn} {principal}"
    return Job(id=id, kind=LINK_ENTITIES, key=key, payload={"principal": principal}, run_at=now, created_at=now)


def embedding_job(now: datetime, id: str) -> Job:
    """Job that embeds all documents without a vector."""
    return Job(id=id, kind=EMBED, key=EMBED, run_at=now, created_at=now)


def code_embedding_job(now: datetime, id: str, *, after: tuple[str, int] | None = None, turn: int = 0) -> Job:
    """Job that embeds code chunks after `after`. While one `turn` runs, the next can be queued."""
    payload = {"after": after, "turn": turn % 2}
    return Job(id=id, kind=EMBED_CODE, key=f"{EMBED_CODE} {turn % 2}", payload=payload, run_at=now, created_at=now)


def follow_up_jobs(principal: str, now: datetime, new_id: Callable[[], str]) -> tuple[tuple[Job, ...], ...]:
    """Follow-up jobs of a new record: for each kind, alternatives of which the first free one is queued."""
    linking = tuple(linking_job(principal, now, new_id(), turn) for turn in (1, 2))
    return linking, (embedding_job(now, new_id()),)


def learning_job(session: Session, now: datetime, id: str) -> Job:
    """Job that runs as the session's owner, so that every turn is visible."""
    payload = {"session": session.id, "owner": session.owner}
    return Job(
        id=id,
        kind=LEARN_SESSION,
        key=session.id,
        payload=payload,
        run_at=now,
        created_at=now,
        max_attempts=LEARN_ATTEMPTS,
    )


def after_session_job(session: str, principal: str, now: datetime, id: str, turn: int = 1) -> Job:
    """Job that runs as the principal who observed the session.

    While the job of one `turn` runs, the one of the other can be queued: the session may have gone on since it began.
    """
    payload = {"session": session, "principal": principal}
    return Job(id=id, kind=AFTER_SESSION, key=f"{turn} {session}", payload=payload, run_at=now, created_at=now)
