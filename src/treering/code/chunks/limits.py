"""How files are cut into chunks."""

from pydantic import Field

from treering.core.values import Value


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
