"""What works: when a pattern is believed, when it is doubted, what is mined."""

from pydantic import Field

from treering.core.values import LABELS, Value


class PatternSettings(Value):
    window_days: float = Field(default=90.0, gt=0)
    """Applications older than a quarter say little about the code as it is now; the requirement names it."""
    least_evidence: int = Field(default=5, ge=1)
    """Fewer sessions than this decide nothing."""
    success_threshold: float = Field(default=0.6, gt=0, lt=1)
    """What fails in more than two sessions of five is no advice, however bad the alternatives. Higher, and a pattern
    for tasks that mostly fail could never be believed; that it beats its base rate is asked for besides."""
    significance: float = Field(default=0.05, gt=0, lt=1)
    """The p-value that a validated pattern stays below; the requirement names it."""
    least_confidence: float = Field(default=0.7, ge=0, le=1)
    """The confidence that a validated pattern reaches; the requirement names it."""
    floor_rate: float = Field(default=0.5, gt=0, lt=1)
    """No pattern is believed that does not beat a coin; the requirement names it."""
    false_discovery_rate: float = Field(default=0.05, gt=0, lt=1)
    """Of the patterns that are believed, the share that may be there by luck, on average and on any night."""
    base_weight: float = Field(default=6.0, gt=0)
    """Sessions that the project's overall rate stands for where a task type has few of its own: rates of task types
    that spread as widely as 0.3 to 0.85 lie about as far apart as samples of six do."""
    base_certainty: float = Field(default=0.9, ge=0.5, lt=1)
    """How surely the bound that a pattern has to beat lies above the base rate. At 0.5, the estimate itself, a fifth
    of what is believed was idle where base rates rested on few sessions, and at 0.8 the promised twentieth was used
    up; at 0.95 hardly more is kept out than at 0.9, and fewer that help are seen (`bench/pattern_worlds.py`)."""
    watched_sessions: int = Field(default=60, ge=5)
    """The latest sessions of a validated pattern that are held against the earlier ones."""
    reference_certainty: float = Field(default=0.75, ge=0.5, lt=1)
    """How surely a validated pattern was at least as good as the rate it is held to: what was chosen for doing well
    did a little worse in truth."""
    alarm: float = Field(default=1_000.0, gt=1)
    """Sessions that pass on average, at least, between two false alarms about a pattern that is as good as its
    reference. Ten times as many cost half as much again in sessions until a true one is noticed."""
    clearly: float = Field(default=20.0, gt=1)
    """How much likelier the failures of a candidate are to be its own than luck, before it is reviewed: one in
    twenty good candidates is reviewed in error at most, however many nights look at it."""
    refinement_level: float = Field(default=0.05, gt=0, lt=1)
    """Chance of finding a split where there is none, over all the splits that were tried."""
    refinement_side: int = Field(default=3, ge=1)
    """Sessions that stand on each side of a split: what one or two did is an anecdote."""
    refinement_values: int = Field(default=6, ge=2, le=12)
    """Values of a field that are tried in every grouping; of a field with more, each value by itself. Six have 31."""
    refinement_cuts: int = Field(default=16, ge=1)
    """Places at which the values of a number are cut: each further one makes chance finds likelier."""
    rank_confidence: float = Field(default=0.4, ge=0)
    """What confidence counts in the order of patterns that apply; the requirement names it and the six that follow."""
    rank_success: float = Field(default=0.3, ge=0)
    """What the success rate counts."""
    rank_use: float = Field(default=0.15, ge=0)
    """What use counts: log(1 + uses) over `rank_use_scale`, at most 1."""
    rank_use_scale: float = Field(default=10.0, gt=0)
    """Where use counts in full: e^10, some 22,000 uses."""
    rank_recency: float = Field(default=0.1, ge=0)
    """What a fresh validation counts."""
    rank_recency_days: float = Field(default=90.0, gt=0)
    """Days after which a validation counts e times less."""
    rank_match: float = Field(default=0.05, ge=0)
    """What counts that a pattern is made for such a task, not for any."""
    most_suggested: int = Field(default=5, ge=1)
    """Patterns that are suggested for a task; the requirement names it."""
    context_patterns: int = Field(default=3, ge=1)
    """Patterns that a task is given when it begins; the requirement names it and the next."""
    context_episodes: int = Field(default=5, ge=1)
    """Episodes like it that it is given."""
    context_known: int = Field(default=5, ge=1)
    """Pieces of knowledge that it is given: as many as episodes; recall finds the others."""
    alike: float = Field(default=0.6, ge=0, le=1)
    """From here on two patterns are shown as similar. Two wordings of one lesson lie above, two lessons for the same
    kind of task below."""
    alike_structure: float = Field(default=0.4, ge=0)
    """What alike steps count in similarity: they are what a pattern does."""
    alike_applicability: float = Field(default=0.3, ge=0)
    """What it counts that both apply to the same."""
    alike_words: float = Field(default=0.3, ge=0)
    """What alike names and descriptions count."""
    validated_together: int = Field(default=200, ge=1)
    """Verdicts that are written in one transaction: what a crash costs at most."""
    told_episodes: int = Field(default=50, ge=0, le=LABELS)
    """Episodes that a pattern names for and against it, the newest; all of them are counted."""
    refined_applications: int = Field(default=1_000, ge=1, le=LABELS)
    """Applications that a refinement looks at, the newest: more make no clearer split, only a slower one."""
    prune_confidence: float = Field(default=0.3, ge=0, le=1)
    """Below it, with enough evidence, a pattern has little value. One that succeeds every second time has 0.4."""
    prune_unused_days: float = Field(default=180.0, gt=0)
    """What nobody used for two quarters is in the way of what is used."""
