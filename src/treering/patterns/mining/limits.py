"""Thresholds and bounds of pattern mining."""

from pydantic import Field

from treering.core.values import LABELS, Value


class MiningLimits(Value):
    """Limits that exclude chance and noise. Every candidate still has to be validated."""

    least_episodes: int = Field(default=5, ge=1)
    """Minimum episodes of a candidate: validation requires the same number of applications."""
    least_sessions: int = Field(default=3, ge=1)
    """Minimum sessions of a candidate: one session repeats itself, and two may be one person's week."""
    least_share: float = Field(default=0.01, ge=0, le=1)
    """Minimum share of all episodes: five similar ones among ten thousand are chance, and finding them is slow."""
    most_gap: int = Field(default=2, ge=0, le=20)
    """Maximum unrelated steps between two steps of a sequence."""
    longest: int = Field(default=6, ge=2, le=20)
    """Maximum steps of a sequence."""
    most_sequences: int = Field(default=5_000, ge=1)
    """Maximum sequences of each length that are extended, most frequent first; bounds time and memory."""
    most_places: int = Field(default=5_000_000, ge=1_000)
    """Maximum end positions of all sequences of one length: 40 MB, and the same for the next length."""
    block: int = Field(default=1_000_000, ge=1_000)
    """Positions extended at once: about 100 MB of memory, independent of the number of episodes."""
    absorbed_at: float = Field(default=0.9, gt=0, le=1)
    """Share of its episodes that a longer sequence must contain for a part of it to be left out."""
    most_candidates: int = Field(default=100, ge=1)
    """Maximum candidates of each category, best supported first: each further test weakens the others."""
    named_episodes: int = Field(default=50, ge=0, le=LABELS)
    """Maximum ids of supporting and contradicting episodes stored with a candidate; the counts are complete."""
    least_gain: float = Field(default=0.1, ge=0, le=1)
    """Minimum gain in success rate of a tool or plan."""
    base_prior: float = Field(default=5.0, ge=0)
    """Weight, in episodes, of the overall rate in that of a task type: two successes are not a rate of 100 %."""
    least_saved: float = Field(default=0.2, gt=0, lt=1)
    """Minimum share of the time or steps that is saved."""
    saved_z: float = Field(default=2.33, ge=0)
    """Minimum z-score of the saving (rank sum, one-sided 1 %): many sequences are tested for each task type."""
    recovery_within: int = Field(default=10, ge=1)
    """Maximum steps between a failure and its retry; later, it is a new attempt."""
    recovery_steps: int = Field(default=4, ge=1)
    """Maximum distinct steps of a recovery."""

    habit_sessions: int = Field(default=2, ge=1)
    """Minimum sessions of a habit. Habits only rank predictions, so two are enough."""
    habit_order: int = Field(default=3, ge=1, le=6)
    """Directly preceding steps used as the context; four predicted no better than three in recorded sessions."""
    habit_window: int = Field(default=8, ge=1, le=50)
    """Number of earlier steps that each influence the prediction independently."""
    most_habits: int = Field(default=20_000, ge=1)
    """Maximum contexts stored, most frequent first: about 10 MB."""
    most_followers: int = Field(default=20, ge=1)
    """Maximum steps stored after each context, most frequent first."""
    most_failures: int = Field(default=2_000, ge=1)
    """Maximum distinct failures stored, most frequent first; searching them takes milliseconds."""
    failure_words: int = Field(default=60, ge=1)
    """Number of words that identify a failure; the rest is output of the failed command."""


MINING_LIMITS = MiningLimits.defaults()
