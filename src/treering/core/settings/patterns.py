"""What works: when a pattern is believed, when it is doubted, what is mined."""

from pydantic import Field

from treering.core.values import Value


class PatternSettings(Value):
    window_days: float = Field(default=90.0, gt=0)
    """Applications older than a quarter say little about the code as it is now; the requirement names it."""
    least_evidence: int = Field(default=5, ge=1)
    """Fewer sessions than this decide nothing."""
    success_threshold: float = Field(default=0.6, gt=0, lt=1)
    """What fails in more than two sessions of five is no advice, however bad the alternatives. Higher, and a pattern
    for tasks that mostly fail could never be believed; that it beats its base rate is asked for besides."""
    least_confidence: float = Field(default=0.7, ge=0, le=1)
    """The confidence that a validated pattern reaches; the requirement names it."""
    false_discovery_rate: float = Field(default=0.05, gt=0, lt=1)
    """Of the patterns that are believed, the share that may be there by luck, on average and on any night."""
    named_a_night: int = Field(default=20, ge=0)
    """Patterns that a language model, if configured, names each night: those that were found and proved true."""
    prune_confidence: float = Field(default=0.3, ge=0, le=1)
    """Below it, with enough evidence, a pattern has little value. One that succeeds every second time has 0.4."""
    prune_unused_days: float = Field(default=180.0, gt=0)
    """What nobody used for two quarters is in the way of what is used."""
