"""Numbers of the chunks and the history, which decide what is stored. Importing this must stay cheap."""

from pydantic import Field

from treering.core.values import Share, Value


class ChunkLimits(Value):
    """Files are cut anew when they are read again."""

    most_bytes: int = Field(default=1_600, ge=200)
    """What a chunk takes at most with its prefix: about 500 tokens of code, which is what small embedding models read.
    Bytes, because counting tokens takes longer than reading the code."""
    joined_bytes: int = Field(default=500, ge=0)
    """Neighbours are joined up to this: a getter of three lines says little by itself."""
    prose_lines: int = Field(default=100, ge=1)
    """Lines of a chunk where nothing is defined: prose, data, configuration. The requirement names it."""
    prose_slack: int = Field(default=20, ge=0)
    """How many lines sooner or later such a chunk may end, where there is a blank line."""
    group: int = Field(default=6, ge=1)
    """One name in so many begins a new group of neighbours, whatever stands before it: so that an edit moves no
    boundary far away."""


CHUNK_LIMITS = ChunkLimits.defaults()


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
