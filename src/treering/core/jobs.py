"""Durable background work."""

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from treering.core.turns import Session
from treering.core.values import EMPTY, Count, FrozenMap, Instant, Key, Label, Record, Text

LEARN_SESSION = "learn_session"
"""The kind of job that reads what was said in a session, for what can be learned from it."""
LINK_ENTITIES = "link_entities"
"""The kind of job that reads what is new for names, and ties it to who and what it speaks of."""


class JobState(StrEnum):
    QUEUED = "queued"
    LEASED = "leased"
    DONE = "done"
    DEAD = "dead"


class Job(Record):
    """A piece of work that survives a crash. `key` keeps the same work from being queued twice."""

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
    """Done as whoever stored something. While the job of one `turn` is at work, that of the other waits behind it."""
    key = f"{turn} {principal}"
    return Job(id=id, kind=LINK_ENTITIES, key=key, payload={"principal": principal}, run_at=now, created_at=now)


def learning_job(session: Session, now: datetime, id: str) -> Job:
    """Done as the session's owner, who sees all of it."""
    what = {"session": session.id, "owner": session.owner}
    return Job(id=id, kind=LEARN_SESSION, key=session.id, payload=what, run_at=now, created_at=now)
