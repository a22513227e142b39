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
