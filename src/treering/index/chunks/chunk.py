"""A piece of a file, and how large it may be."""

from dataclasses import dataclass

from pydantic import Field

from treering.core.values import Value


class ChunkSettings(Value):
    most_tokens: int = Field(default=500, ge=64)
    """What a chunk takes at most with its prefix, as `estimate_tokens` counts: what small embedding models read."""
    joined_tokens: int = Field(default=160, ge=0)
    """Neighbours are joined up to this: a getter of three lines says little by itself."""
    prose_lines: int = Field(default=100, ge=1)
    """Lines of a chunk where nothing is defined: prose, data, configuration. The requirement names it."""
    prose_slack: int = Field(default=20, ge=0)
    """How many lines sooner or later such a chunk may end, where there is a blank line."""
    group: int = Field(default=6, ge=1)
    """One name in so many begins a new group of neighbours, whatever stands before it: so that an edit moves no
    boundary far away."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Lines of a file; the first is 1, the last is inside.

    `symbol` names what they define: a qualified name, several with commas, or nothing. `digest` is of the path, the
    symbol and the text, but not of the lines: a chunk that only moved is the same.
    """

    path: str
    symbol: str
    start_line: int
    end_line: int
    text: str
    prefix: str
    digest: str
