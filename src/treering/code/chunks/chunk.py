"""A chunk of a source file."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CodeChunk:
    """Lines of a file, counted from 1, both ends included.

    `symbol` names what they define: a qualified name, several separated by commas, or nothing. `digest` covers path,
    symbol and text but not line numbers, so that a chunk that only moved keeps it.
    """

    path: str
    symbol: str
    start_line: int
    end_line: int
    text: str
    prefix: str
    digest: str
