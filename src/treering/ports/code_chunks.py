"""What Treering needs from a transaction to find code: the pieces of files, their words, and their vectors.

The text itself stays where it is, in the files: what is stored says which lines, and what they are found by.
"""

from collections.abc import Collection, Mapping, Sequence
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


@dataclass(frozen=True, slots=True)
class ChunkCoverage:
    """How many chunks there are, and how many of them have a vector of a model."""

    chunks: int = 0
    vectors: int = 0


class CodeChunks(Protocol):
    """The chunks of one project. They come and go with their files: see `CodeIndex.put` and `remove`."""

    def put(self, files: Mapping[str, Sequence[StoredChunk]]) -> None:
        """The chunks of files, instead of those before; none where a file has none any more."""
        ...

    def clear(self) -> None:
        """Remove every chunk; vectors stay for those that come again, until `drop_unused_vectors`."""
        ...

    def drop_unused_vectors(self) -> None:
        """Remove the vectors that no chunk has."""
        ...

    def every(self) -> Sequence[StoredChunk]:
        """All chunks, by path and place."""
        ...

    def unembedded(self, model: str, *, limit: int, after: tuple[str, int] | None = None) -> Sequence[StoredChunk]:
        """Chunks that have no vector of the model, by path and place, behind the one at `after`."""
        ...

    def coverage(self, model: str, kept: Collection[str] = ()) -> ChunkCoverage:
        """Chunks, and those that have a vector of the model, stored or `kept` in memory by its digest."""
        ...

    def add_vectors(self, model: str, vectors: Mapping[str, bytes]) -> None:
        """Vectors by the digest of their chunks, as little-endian 16-bit floats; none of chunks that are gone."""
        ...

    def vectors(self, model: str) -> Mapping[str, bytes]:
        """By digest."""
        ...

    def drop_vectors(self, *, but: str) -> int:
        """Remove the vectors of every other model; how many is returned."""
        ...
