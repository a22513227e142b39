"""Settings of patterns: validation, naming and pruning."""

from pydantic import Field

from treering.core.values import Value


class PatternSettings(Value):
    window_days: float = Field(default=90.0, gt=0)
    """Days for which an application counts as evidence."""
    least_evidence: int = Field(default=5, ge=1)
    """Minimum number of sessions before a pattern is validated or rejected."""
    success_threshold: float = Field(default=0.6, gt=0, lt=1)
    """Minimum success rate of a validated pattern, in addition to beating the base rate. Higher values exclude patterns
    for tasks that mostly fail."""
    least_confidence: float = Field(default=0.7, ge=0, le=1)
    """Minimum confidence of a validated pattern."""
    false_discovery_rate: float = Field(default=0.05, gt=0, lt=1)
    """Expected share of validated patterns that are due to chance."""
    named_a_night: int = Field(default=20, ge=0)
    """Maximum number of validated mined patterns per night that a language model, if configured, gives a name."""
    prune_confidence: float = Field(default=0.3, ge=0, le=1)
    """Confidence below which a pattern with enough evidence is deprecated, unless it beats its base rate. A success
    rate of one half gives 0.4."""
    prune_unused_days: float = Field(default=180.0, gt=0)
    """Days without use after which a pattern is deprecated."""
