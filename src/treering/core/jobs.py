"""Durable background work."""

from enum import StrEnum

from pydantic import Field

from treering.core.values import EMPTY, Count, FrozenMap, Instant, Key, Label, Record, Text


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
