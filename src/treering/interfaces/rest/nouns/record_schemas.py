"""Requests and answers of records."""

from datetime import datetime
from typing import Any, Literal

from pydantic import ConfigDict, Field

from treering.core.history import HistoryEntry
from treering.core.records import Knowledge, Level, Relation, Source, WorkUnit
from treering.core.scope import Visibility
from treering.core.taint import Taint
from treering.interfaces.rest.schemas import (
    Answered,
    Asked,
    RecordOfKind,
    Text,
)

MAX_FORGOTTEN = 10_000


class RememberRequest(Asked):
    """A piece of knowledge to store."""

    text: Text
    type: str = Field(default="fact", description="Type of knowledge: fact, decision, gotcha, preference…")
    tags: tuple[str, ...] = ()
    files: tuple[str, ...] = Field(default=(), description="Files, relative to the repository root.")
    modules: tuple[str, ...] = ()
    confidence: float | None = Field(default=None, ge=0, le=1)
    source: Source | None = Field(default=None, description="Who says so; `user_taught` for a person.")
    session: str | None = None
    payload: dict[str, Any] | None = Field(default=None, description="Fields of the type.")
    level: Level | None = None
    visibility: Visibility | None = None
    commit: str | None = None
    node: str | None = Field(default=None, description="Definition in the code that it is about.")
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    pinned: bool | None = None
    taint: Taint | None = Field(default=None, description="Marks it as from outside, and names the source.")
    tainted: bool | None = Field(default=None, description="Marks it as from outside, from an unknown source.")
    needs_review: bool | None = None
    relations: tuple[Relation, ...] | None = None
    source_ids: tuple[str, ...] | None = Field(default=None, description="Records that it was made from.")
    work_unit: WorkUnit | None = None
    methodology: str | None = None
    impacted_nodes: tuple[str, ...] | None = None
    half_life_days: float | None = Field(default=None, gt=0)
    citation: str | None = None
    language: str | None = None
    created_at: datetime | None = Field(default=None, description="When it became known; by default now.")
    id: str | None = Field(default=None, description="Id; by default a new one.")

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"text": "Deploys happen on Fridays.", "type": "fact", "tags": ["deploy"], "source": "user_taught"}
            ]
        },
    )


class CorrectRequest(Asked):
    """A correction of a record."""

    reason: Literal["inaccurate", "outdated", "too_specific", "duplicate"] | None = None
    text: str | None = Field(default=None, min_length=1, description="Text that is valid instead.")
    duplicate_of: str | None = Field(default=None, description="Id of the record that it repeats.")
    source: Source | None = Field(default=None, description="Author of the correction; by default a person.")
    session: str | None = None
    taint: Taint | None = None

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"reason": "outdated", "text": "Deploys happen on Mondays."}]}
    )


class ConfirmRequest(Asked):
    """Who confirms; by default a person."""

    source: Source | None = None
    session: str | None = None


class FlagRequest(Asked):
    """A doubt about a record."""

    note: str = Field(default="", description="Reason for the doubt.")


class PinRequest(Asked):
    pinned: bool = Field(default=True, description="False ends the protection.")


class MuteRequest(Asked):
    muted: bool = Field(default=True, description="False ends it.")


class UsedRequest(Asked):
    """Records that work was based on."""

    ids: list[str] = Field(min_length=1, max_length=1_000)
    corrected: bool = Field(default=False, description="The result had to be corrected.")


class RememberManyRequest(Asked):
    """Texts to store as facts, each once."""

    texts: list[Text] = Field(min_length=1, max_length=10_000)


class RemovedRecord(Answered):
    """A forgotten record, and the proof if it was purged for good."""

    forgotten: str
    hard: bool
    proof: dict[str, Any] | None = None


class UndoRequest(Asked):
    """Records whose last change to revert."""

    ids: tuple[str, ...] = Field(min_length=1, max_length=MAX_FORGOTTEN)


class UndoneChange(Answered):
    """The record after the undo; null if the undone change had created it."""

    id: str
    record: RecordOfKind | None


class RecordHistory(Answered):
    """Changes of a record, newest first."""

    id: str
    entries: list[HistoryEntry]


class RecordFilter(Asked):
    """Which records of knowledge: all given fields must match, and one of each list."""

    types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    since: datetime | None = Field(default=None, description="Created at this time or later.")
    before: datetime | None = Field(default=None, description="Created before this time.")
    min_confidence: float = Field(default=0.0, ge=0, le=1)
    max_confidence: float = Field(default=1.0, ge=0, le=1)
    pinned: bool | None = None
    confirmed: bool | None = None
    flagged: bool | None = None
    needs_review: bool | None = None
    tainted: bool | None = None
    stale: bool | None = None
    superseded: bool | None = None


class ForgetRequest(Asked):
    """Records to forget: those of the filter, or of the list of ids."""

    where: RecordFilter | None = None
    ids: tuple[str, ...] = Field(default=(), max_length=1_000)
    dry_run: bool = Field(default=True, description="Only say which records would go.")


class ForgottenRecords(Answered):
    """Records that were forgotten, or would be. `undo` restores each of them."""

    dry_run: bool
    ids: list[str]
    sample: list[Knowledge] = Field(description="The first of them.")
    left_out: int = Field(description="Matching records beyond the limit of one request.")
