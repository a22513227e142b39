"""Settings of search, confidence and context."""

from pydantic import Field

from treering.core.values import Value


class SearchSettings(Value):
    limit: int = Field(default=10, ge=1)
    """Default number of results."""
    limit_max: int = Field(default=1_000, ge=1)
    """Largest `limit` that a search accepts; use an export to read more."""
    candidates: int = Field(default=200, ge=10)
    """Documents that each retrieval path contributes to the fusion. Larger values are slower and did not improve the
    benchmarks."""
    feedback: int = Field(default=5, ge=0)
    """Number of top results used for relevance feedback (a second search for similar documents); 0 disables it."""
    alike: float = Field(default=0.95, gt=0, le=1)
    """Share of common words above which two results are duplicates; only the better one is shown."""
    certain: float = Field(default=0.25, ge=0)
    """Score below which the best result is reported as only the nearest match. Of 35 test queries, those with an answer
    scored 0.26 or more, the others 0.24 or less."""


class PreciseSettings(Value):
    """Thresholds at which a precise search accepts a record."""

    share: float = Field(default=0.5, ge=0, lt=1)
    """Share of the weight of the query's significant words that a record must exceed to match."""
    likeness: float = Field(default=0.85, ge=0, le=1)
    """Cosine similarity at which a record matches by its vector alone: paraphrases match, texts that only share a topic
    do not."""


class TrustSettings(Value):
    stale_factor: float = Field(default=0.5, ge=0, le=1)
    """Factor applied to the confidence of a stale record."""
    tainted_factor: float = Field(default=0.7, ge=0, le=1)
    """Factor applied to the confidence of a record from outside until a person confirms it."""
    stated_floor: float = Field(default=0.3, ge=0, le=1)
    """Share of its confidence that an explicitly stated record keeps at any age: it ranks lower but does not fade
    out."""
    recency_half_life_days: float = Field(default=30.0, gt=0)
    """Days after which the recency of a record is halved."""


class ContextSettings(Value):
    budget: int = Field(default=2_000, ge=0)
    """Tokens of a context if neither a budget nor a phase is given."""
    reflection_share: float = Field(default=0.15, ge=0, le=1)
    """Share of the budget that the newest reflection may take before search results are added."""
    rules_share: float = Field(default=0.2, ge=0, le=1)
    """Share of the budget that preferences, requirements and pinned records may take before search results are
    added."""
    control_groups: bool = True
    """Whether 5 % of the sessions are given nothing unasked, and 10 % only at their start, to measure
    what it changes."""
