"""A location in the code."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CodeLocation:
    """Lines of a file that match a query; numbers start at 1 and the end is inclusive."""

    path: str
    symbol: str
    """Qualified names of the definitions, separated by commas; may be empty."""
    start_line: int
    end_line: int
    score: float
    """Score relative to the best location, which has 1."""
    text: str = ""
    """The first lines without secrets; empty if the file cannot be read."""
    relevance: float = 0.0
    """Absolute relevance, on the same scale as the strength of stored records."""

    @property
    def id(self) -> str:
        return f"{self.path}:{self.start_line}-{self.end_line}"

    @property
    def files(self) -> tuple[str, ...]:
        return (self.path,)
