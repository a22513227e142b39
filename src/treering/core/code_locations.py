"""Where something is in the code."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CodePlace:
    """Lines of a file that answer a question; the first is 1, the last is inside."""

    path: str
    symbol: str
    """What they define: a qualified name, several with commas, or nothing."""
    start_line: int
    end_line: int
    score: float
    """How well it answers beside the best, which has 1."""
    text: str = ""
    """Its first lines without secrets; empty where the file cannot be read here."""
    relevance: float = 0.0
    """How much of the question it answers, on the scale of what is found in memory."""

    @property
    def id(self) -> str:
        return f"{self.path}:{self.start_line}-{self.end_line}"

    @property
    def files(self) -> tuple[str, ...]:
        return (self.path,)
