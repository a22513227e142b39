"""Every number and choice that can be changed, in one place, each with its reason."""

from typing import Literal

from pydantic import Field

from treering.core.values import LABELS, Value


class StoreSettings(Value):
    busy_seconds: float = Field(default=60.0, gt=0)
    """How long a writer waits for another process; eight busy writers need well under a second each."""
    connect_seconds: float = Field(default=10.0, gt=0)
    """How long to wait for a server before saying that it is not there."""
    pool_size: int = Field(default=8, ge=1)
    """Open connections kept for threads of one process."""
    blob_bytes: int = Field(default=262_144, ge=1_024)
    """Text above this goes to the blob store: SQLite reads rows page by page, and long overflow chains slow scans."""
    indexed_characters: int = Field(default=100_000, ge=0)
    """How much of one text is searchable word by word; a PostgreSQL tsvector ends at 1 MB."""
    orphan_blob_hours: float = Field(default=24.0, ge=0)
    """How old an unreferenced blob must be before repair removes it: its transaction may still be open."""


class SecretSettings(Value):
    on_secret: Literal["redact", "refuse"] = "redact"
    """Redact keeps the rest of the text; refuse raises `SecretRefused`."""


class KnowledgeSettings(Value):
    confirmed_confidence: float = Field(default=0.95, ge=0, le=1)
    """A person said so: as sure as anything gets (the ceiling that use alone can reach)."""
    corrected_factor: float = Field(default=0.3, ge=0, le=1)
    """What remains of a corrected record's confidence: its history stays, its voice does not."""
    flagged_factor: float = Field(default=0.5, ge=0, le=1)
    """What remains of a record's confidence while a person's doubt is open."""
    taught_confidence: float = Field(default=0.95, ge=0, le=1)
    """A person's own words start where confirmation ends."""
    witnesses: int = Field(default=50, ge=1, le=LABELS // 2)
    """How many sessions and sources are kept from each end: who said it first, and who says so now. All are counted."""


class JobSettings(Value):
    lease_seconds: float = Field(default=60.0, gt=0)
    """Longer than any single job step; after it another worker may take over."""
    backoff_seconds: float = Field(default=5.0, gt=0)
    """First wait after a failure; doubles with each attempt."""
    backoff_limit_seconds: float = Field(default=3600.0, gt=0)
    keep_done_days: float = Field(default=7.0, ge=0)
    """Finished jobs are kept as long as somebody may ask what happened last week; then they only take room."""


class RecallSettings(Value):
    limit: int = Field(default=10, ge=1)
    limit_max: int = Field(default=1_000, ge=1)
    """More than this is an export."""


class Settings(Value):
    """All settings. Defaults are good; override with `treering.open(settings=…)`."""

    store: StoreSettings = Field(default_factory=StoreSettings)
    secrets: SecretSettings = Field(default_factory=SecretSettings)
    knowledge: KnowledgeSettings = Field(default_factory=KnowledgeSettings)
    jobs: JobSettings = Field(default_factory=JobSettings)
    recall: RecallSettings = Field(default_factory=RecallSettings)
