"""Storage of code chunks within a transaction: their lines, words and vectors.

The text itself is not stored; it stays in the files.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """Lines of a file, and the words they are found by.

    `codes` are the distinct codes of its words as little-endian 32-bit numbers, `counts` one byte for each.
    """

    path: str
    place: int
    """Index of the chunk in its file, from 0."""
    symbol: str
    start_line: int
    end_line: int
    digest: str
    """Chunks with the same digest share a vector, even after they moved to other lines."""
    length: int
    codes: bytes
    counts: bytes


@dataclass(frozen=True, slots=True)
class ChunkCoverage:
    """Number of chunks, and of those with a vector of a model."""

    chunks: int = 0
    vectors: int = 0


class CodeChunks(Protocol):
    """The chunks of one project. They are added and removed with their files: see `CodeIndex.put` and `remove`."""

    def put(self, files: Mapping[str, Sequence[StoredChunk]]) -> None:
        """Replace the chunks of files."""
        ...

    def clear(self) -> None:
        """Remove every chunk; vectors stay until `drop_unused_vectors`."""
        ...

    def drop_unused_vectors(self) -> None:
        """Remove the vectors that belong to no chunk."""
        ...

    def every(self) -> Sequence[StoredChunk]:
        """All chunks, by path and index."""
        ...

    def unembedded(self, model: str, *, limit: int, after: tuple[str, int] | None = None) -> Sequence[StoredChunk]:
        """Chunks without a vector of the model, by path and index, after the one at `after`."""
        ...

    def coverage(self, model: str, kept: Collection[str] = ()) -> ChunkCoverage:
        """Number of chunks, and of those with a vector of the model, stored or with a digest in `kept`."""
        ...

    def add_vectors(self, model: str, vectors: Mapping[str, bytes]) -> None:
        """Store vectors by chunk digest, as little-endian 16-bit floats; those of removed chunks are ignored."""
        ...

    def vectors(self, model: str) -> Mapping[str, bytes]:
        """Vectors by digest."""
        ...

    def drop_vectors(self, *, but: str) -> int:
        """Remove the vectors of every other model; returns how many."""
        ...
