"""Durable background work."""

from collections.abc import Callable
from datetime import datetime
from enum import StrEnum

from pydantic import Field

from treering.core.turns import Session
from treering.core.values import EMPTY, Count, FrozenMap, Instant, Key, Label, Record, Text

MAX_BACKOFF_SECONDS = 3600.0  # a service that was down is tried again within the hour

EMBED = "embed"
"""The kind of job that makes vectors."""
EMBED_CODE = "embed_code"
"""The kind of job that makes the vectors of pieces of code."""
LEARN_SESSION = "learn_session"
"""The kind of job that reads what was said in a session, for what can be learned from it."""
LEARN_ATTEMPTS = 3
"""Each may ask a language model for an answer that costs money, and is lost where keeping it fails."""
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


def embedding_job(now: datetime, id: str) -> Job:
    """Whatever has no vector gets one."""
    return Job(id=id, kind=EMBED, key=EMBED, run_at=now, created_at=now)


def code_embedding_job(now: datetime, id: str, *, after: tuple[str, int] | None = None, turn: int = 0) -> Job:
    """Pieces of code behind `after` get their vectors. While one `turn` is at work, the next waits behind it."""
    what = {"after": after, "turn": turn % 2}
    return Job(id=id, kind=EMBED_CODE, key=f"{EMBED_CODE} {turn % 2}", payload=what, run_at=now, created_at=now)


def following_jobs(principal: str, now: datetime, new_id: Callable[[], str]) -> tuple[tuple[Job, ...], ...]:
    """What is to be done about a new record; of each kind the first that does not wait already."""
    linking = tuple(linking_job(principal, now, new_id(), turn) for turn in (1, 2))
    return linking, (embedding_job(now, new_id()),)


def learning_job(session: Session, now: datetime, id: str) -> Job:
    """Done as the session's owner, who sees all of it."""
    what = {"session": session.id, "owner": session.owner}
    return Job(
        id=id,
        kind=LEARN_SESSION,
        key=session.id,
        payload=what,
        run_at=now,
        created_at=now,
        max_attempts=LEARN_ATTEMPTS,
    )
