"""Which files change together: what counts of a history, and what of it becomes co-access."""

from pydantic import Field

from treering.core.values import Share, Value


class HistoryLimits(Value):
    """Counts of other settings are made anew. The weights of `related` were fitted with these (`bench/cochange.py`)."""

    most_files: int = Field(default=30, ge=2)
    """A commit of more files is a sweep (formatting, licence headers): it says nothing of what belongs together."""
    habit_half_life: float = Field(default=13.5, gt=0)
    """Commits of a file after which what was changed with it counts half for what is related to it. Its own commits:
    in a large repository thousands of others pass while it rests. 34 found about as much."""
    half_life: float = Field(default=1_500.0, gt=0)
    """Commits of the repository after which the weight of a pair as co-access is half."""
    busy_half_life: float = Field(default=20.0, gt=0)
    """Commits after which a file's being touched counts half: what is worked on now."""
    recent: int = Field(default=8, ge=0)
    """Newest commits whose files may be guessed without any other tie."""
    least_together: int = Field(default=2, ge=1)
    """Commits that a pair needs to become co-access: once may be chance."""
    least_weight: Share = 0.05
    """Weaker pairs, which includes those of long ago, are no co-access."""
    most_per_file: int = Field(default=20, ge=1)
    """Pairs of one file: retrieval looks at no more neighbours."""


HISTORY_LIMITS = HistoryLimits.defaults()
