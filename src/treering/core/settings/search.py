"""How records are found and ranked, and how much of a context they take."""

from pydantic import Field

from treering.core.values import Value


class SearchSettings(Value):
    limit: int = Field(default=10, ge=1)
    limit_max: int = Field(default=1_000, ge=1)
    """More than this is an export."""
    candidates: int = Field(default=200, ge=10)
    """Documents that each path brings to the fusion; more changed no benchmark figure."""
    feedback: int = Field(default=5, ge=0)
    """The best results, whose likes are looked for in a second look."""
    alike: float = Field(default=0.95, gt=0, le=1)
    """Two results that share so much of their words say the same; one is shown."""
    certain: float = Field(default=0.25, ge=0)
    """An answer whose best result has less than this sum of signs says that it is only the nearest: of 35 questions to
    a small memory, those about something in it had .26 and more, the others .24 and less."""


class PreciseSettings(Value):
    """What a precise search takes for proof that a record is what the query is about."""

    share: float = Field(default=0.5, ge=0, lt=1)
    """A record holds more than this share of what the query's telling words weigh: most of what is asked about."""
    likeness: float = Field(default=0.85, ge=0, le=1)
    """Vectors alone prove something only this near: texts that say the same in other words. A shared topic is none."""


class TrustSettings(Value):
    stale_factor: float = Field(default=0.5, ge=0, le=1)
    """What remains of a record's confidence once it is stale: as likely right as wrong."""
    tainted_factor: float = Field(default=0.7, ge=0, le=1)
    """What remains of what was learned from outside content, until a person confirms it."""
    stated_floor: float = Field(default=0.3, ge=0, le=1)
    """What age leaves of the confidence of what somebody stated: it ranks lower, and is never lost."""
    recency_half_life_days: float = Field(default=30.0, gt=0)
    """After a month a record is half as recent: about how long a piece of work stays in mind."""


class ContextSettings(Value):
    budget: int = Field(default=2_000, ge=0)
    """Tokens of context where neither a budget nor a phase is named: what most phases take."""
    reflection_share: float = Field(default=0.15, ge=0, le=1)
    """How much of the budget the newest reflection may take before what was found has had its part."""
    rules_share: float = Field(default=0.2, ge=0, le=1)
    """How much of the budget preferences, requirements and pinned records may take before what was found."""
