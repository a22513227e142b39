"""How files are cut into pieces that can be found, and how they are found."""

from pydantic import Field

from treering.core.values import Share, Value


class ChunkSettings(Value):
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


class FindingSettings(Value):
    saturation_at: float = Field(default=1.2, ge=0)
    length_share: Share = 0.3
    """The usual BM25, with less against long chunks: they are cut to about a length."""
    named: float = Field(default=0.5, ge=0)
    """What a word counts for once more where what is defined is called by it: names are chosen to be found."""
    meaning: Share = 0.2
    """The share of the vectors beside that of the words: chosen, like the two above, on 24 questions about requests
    and gin, and measured on others (`bench/results/code.md`)."""
    apart: float = Field(default=5.0, ge=0)
    """How many standard deviations nearer than all chunks one must lie that shares no word with the question. Of the
    model that comes with Treering only: on requests, questions that mean nothing there came up to 4.9, and every
    answer to one that does shares a word with it. Other models are taken at their word."""
    embed_seconds: float = Field(default=5.0, ge=0)
    """How long a question about code first makes vectors where some are missing and the model comes with Treering: it
    reads about 2,000 chunks a second, which is too long for every index. 0 leaves it to `embedder.inline`."""
    tests: Share = 0.6
    """What a chunk of tests counts, unless tests are asked for: they repeat the words of what they test."""
    shown_lines: int = Field(default=3, ge=0)
    """First lines of a place that an answer shows."""
    recalled: int = Field(default=3, ge=1, le=100)
    """Places among the results of a search that does not ask for code alone."""
    beside: Share = 0.5
    """What the relevance of a place counts beside that of a record, unless the query speaks of code: "where are orders
    kept?" may ask for a decision as well."""
