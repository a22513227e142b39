"""A piece of a file."""

from dataclasses import dataclass


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
