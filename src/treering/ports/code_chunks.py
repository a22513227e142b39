"""What Treering needs from a transaction to find code: the pieces of files, their words, and their vectors.

The text itself stays where it is, in the files: what is stored says which lines, and what they are found by.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """Lines of a file, and the words they are found by.

    `codes` are the distinct codes of its words as little-endian 32-bit numbers, `counts` a byte for each.
    """

    path: str
    place: int
    """Which chunk of the file it is, from 0."""
    symbol: str
    start_line: int
    end_line: int
    digest: str
    """Chunks with the same digest have the same vector, also when they moved to other lines."""
    length: int
    codes: bytes
    counts: bytes


class CodeChunks(Protocol):
    """The chunks of one project."""

    def put(self, files: Mapping[str, Sequence[StoredChunk]]) -> None:
        """The chunks of files, instead of those before; none where a file has none any more."""
        ...

    def clear(self) -> None:
        """Remove every chunk and every vector."""
        ...

    def every(self) -> Sequence[StoredChunk]:
        """All chunks, by path and place."""
        ...

    def unembedded(self, model: str, *, limit: int) -> Sequence[StoredChunk]:
        """Chunks that have no vector of the model, one of each digest."""
        ...

    def add_vectors(self, model: str, vectors: Mapping[str, bytes]) -> None:
        """Vectors by the digest of their chunks, as little-endian 16-bit floats; none of chunks that are gone."""
        ...

    def vectors(self, model: str) -> Mapping[str, bytes]:
        """By digest."""
        ...
