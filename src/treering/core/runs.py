"""Runs of maintenance stages."""

from datetime import UTC, datetime
from enum import StrEnum

from treering.core.values import EMPTY, Count, FrozenMap, Instant, Key, Label, Record, Text


class RunState(StrEnum):
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class Run(Record):
    """One run of a stage. `slot` is its scheduled time; None if it was requested.

    `cursor` is the position from which to resume after a crash; `counts` are the results so far.
    """

    stage: Label
    state: RunState = RunState.RUNNING
    slot: Instant | None = None
    started_at: Instant
    updated_at: Instant
    finished_at: Instant | None = None
    worker: Key | None = None
    attempts: Count = 1
    cursor: Text | None = None
    total: Count | None = None
    done: Count = 0
    counts: FrozenMap = EMPTY
    error: Text | None = None


LANGUAGE_MODEL = "language model"
"""Stage of the daily runs that count the tokens of learning, in `done`."""
SKIPPED_WITHOUT_REPOSITORY = "skipped_without_repository"
"""Count of a `staleness` run that found no repository with commits."""


def token_run(now: datetime) -> str:
    """Id of the run that counts the tokens of this day (UTC)."""
    return f"{LANGUAGE_MODEL} {now.astimezone(UTC):%Y-%m-%d}"
