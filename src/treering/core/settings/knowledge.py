"""Settings of learning, entities, episodes, reflection, staleness and forgetting."""

from typing import Literal

from pydantic import Field

from treering.core.values import Value


class LearnSettings(Value):
    enabled: bool = True
    """Learn facts from conversations. Turns stored while this is off stay searchable and are not learned from later."""
    model: Literal["auto", "off"] = "auto"
    """`auto` extracts facts and names with the language model of `writer`, if configured; `off` uses rules only."""
    page_characters: int = Field(default=24_000, ge=1_000, le=60_000)
    """Maximum characters of conversation per call of the language model: about 6,000 tokens, which fit small local
    models."""
    most_tokens: int = Field(default=4_000, ge=100)
    """Maximum tokens of one answer of the language model; the default fits about thirty facts."""
    max_tokens_per_day: int = Field(default=1_000_000, ge=0)
    """Tokens that learning may spend on the language model per day (UTC), over all processes of the project; rules
    apply after that. 0 spends none."""
    quiet_minutes: float = Field(default=30.0, ge=0)
    """Minutes without a message after which nightly learning treats a session as ended."""


class EntitySettings(Value):
    """Entities that records mention."""

    most_mentions: int = Field(default=30, ge=0)
    """Maximum number of entities linked to one record, the most certain first."""
    nightly_llm: int = Field(default=50, ge=0)
    """Maximum number of records per night that a language model reads for entities. Each is one request."""
    nightly_spacy: int = Field(default=2_000, ge=0)
    """Maximum number of records per night that spaCy reads for entities: about 10 ms each."""


class EpisodeSettings(Value):
    """Lifecycle, cache and search of episodes (task executions)."""

    mature_after_days: float = Field(default=30.0, gt=0)
    """Days after which an episode is mature."""
    aged_after_days: float = Field(default=180.0, gt=0)
    """Days after which an episode is aged: its trace moves to the blob store."""
    archived_after_days: float = Field(default=365.0, gt=0)
    """Days after which an episode is archived: most of its content moves to the blob store and is loaded on demand."""
    cache_bytes: int = Field(default=64_000_000, ge=0)
    """Maximum size of the episode cache, in bytes of JSON."""
    limit: int = Field(default=10, ge=1)
    """Default number of episodes that a search returns."""


class EpisodeConsolidationSettings(Value):
    """When similar episodes are merged under one representative."""

    likeness: float = Field(default=0.95, gt=0, lt=1)
    """Cosine similarity above which two episodes are the same task."""
    window_days: float = Field(default=30.0, gt=0)
    """Maximum days between two neighbouring episodes of a cluster."""


class ReflectionSettings(Value):
    every_days: float = Field(default=6.0, ge=0)
    """Minimum days between two reflections; less than a week, so that a weekly run that starts early is not skipped."""
    period_days: float = Field(default=7.0, gt=0)
    """Days that a reflection covers."""
    written_tokens: int = Field(default=600, ge=1)
    """Maximum tokens that a language model writes for a reflection."""


class StalenessSettings(Value):
    review_days: float = Field(default=30.0, ge=0)
    """Days between the creation of a record and a later change of its files that make the record due for review."""
    git_seconds: float = Field(default=60.0, gt=0)
    """Maximum seconds of one git command. A history of 100,000 commits takes a few seconds."""


class ForgettingSettings(Value):
    half_lives: float = Field(default=3.0, gt=0)
    """Half-lives without use after which a record is forgotten; after three, an eighth of its weight is left."""
    least: float = Field(default=0.05, ge=0, le=1)
    """Effective confidence below which a record is forgotten."""
    grace_days: float = Field(default=30.0, ge=0)
    """Days during which a forgotten record can be restored."""
