"""What maintenance did: one run of one stage."""

from datetime import UTC, datetime
from enum import StrEnum

from treering.core.values import EMPTY, Count, FrozenMap, Instant, Key, Label, Record, Text


class RunState(StrEnum):
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class Run(Record):
    """One run. `slot` is the moment of the schedule it was for; None where somebody asked for it.

    `cursor` is how far it came, for whoever goes on after a crash; `counts` what it did so far.
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
"""Stage of the runs that count what learning spends on the language model: one a day, with its tokens in `done`."""


def token_run(now: datetime) -> str:
    """Id of the run that counts the tokens of this day (UTC)."""
    return f"{LANGUAGE_MODEL} {now.astimezone(UTC):%Y-%m-%d}"
