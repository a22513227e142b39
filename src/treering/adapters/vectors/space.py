"""The vectors of one model: sign bits that preselect, and quantized numbers that rank.

The signs are scanned completely, so a filter never costs recall.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from treering.adapters.arrays.growing import GrowingArrays, merged_from
from treering.adapters.vectors.signs import centred, quantize, sign_planes

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SCANNED = 1 << 15  # vectors whose signs are compared at a time, so that intermediate results stay in the cache


@dataclass(frozen=True)
class VectorPart:
    """Consecutive vectors from row `first`. `file` names the file that holds them; empty if none does.

    `planes` holds the sign bits, 64 dimensions of all vectors in each row; `quantized` the vectors as 8-bit numbers,
    with one of `scales` for each.
    """

    ARRAYS: ClassVar = ("planes", "quantized", "scales")

    first: int
    planes: NDArray[np.uint64]
    quantized: NDArray[np.int8]
    scales: NDArray[np.float32]
    file: str = ""
    checksum: str = ""

    @property
    def size(self) -> int:
        return len(self.scales)

    @property
    def rows(self) -> slice:
        return slice(self.first, self.first + self.size)

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {name: getattr(self, name) for name in self.ARRAYS}

    @classmethod
    def of_arrays(cls, first: int, arrays: Mapping[str, NDArray[Any]], **file: str) -> VectorPart:
        return cls(first, arrays["planes"], arrays["quantized"], arrays["scales"], **file)

    def without(self, gone: NDArray[np.bool_]) -> VectorPart:
        """With zero in place of the vectors in these rows, counted from `first`."""
        if not (gone & (self.scales > 0)).any():
            return self
        kept = ~gone
        return VectorPart(
            self.first, self.planes * kept, self.quantized * kept[:, np.newaxis], np.where(gone, 0, self.scales)
        )

    def first_until(self, row: int) -> VectorPart:
        """Without the vectors from this row on."""
        count = row - self.first
        if count >= self.size:
            return self
        return VectorPart(self.first, self.planes[:, :count], self.quantized[:count], self.scales[:count])

    @classmethod
    def merged(cls, parts: Sequence[VectorPart]) -> VectorPart:
        return cls(
            parts[0].first,
            np.concatenate([part.planes for part in parts], axis=1),
            np.concatenate([part.quantized for part in parts]),
            np.concatenate([part.scales for part in parts]),
        )


@dataclass(frozen=True)
class VectorSpace:
    """The vectors of one model without what they have in common, ordered by the number of their document."""

    mean: NDArray[np.float32]
    numbers: NDArray[np.int64]
    growing: GrowingArrays
    parts: tuple[VectorPart, ...] = ()

    @classmethod
    def of(
        cls, mean: NDArray[np.float32], numbers: NDArray[np.int64] | None = None, parts: Sequence[VectorPart] = ()
    ) -> VectorSpace:
        known = np.empty(0, np.int64) if numbers is None else numbers
        return cls(mean, known, GrowingArrays([known]), tuple(parts))

    @classmethod
    def empty(cls) -> VectorSpace:
        return cls.of(np.zeros(0, np.float32))

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def newest(self) -> int:
        return int(self.numbers[-1]) if len(self.numbers) else 0

    @property
    def unsaved(self) -> int:
        """Number of vectors that are in no file."""
        return sum(part.size for part in self.parts if not part.file)

    def extended(self, numbers: Sequence[int], vectors: NDArray[np.float32]) -> VectorSpace:
        """Add vectors whose numbers are higher than all previous ones."""
        apart = centred(vectors, self.mean)
        parts = (*self.parts, VectorPart(len(self), sign_planes(apart), *quantize(apart)))
        kept = merged_from([part.size for part in parts])
        if kept < len(parts):
            parts = (*parts[:kept], VectorPart.merged(parts[kept:]))
        growing, (known,) = self.growing.appended(len(self), [np.array(numbers, np.int64)])
        return VectorSpace(self.mean, known, growing, parts)

    def first(self, count: int) -> VectorSpace:
        """The first vectors only."""
        if count == len(self):
            return self
        parts = tuple(part.first_until(count) for part in self.parts if part.first < count)
        return VectorSpace.of(self.mean, self.numbers[:count], parts)

    def without(self, numbers: NDArray[np.int64]) -> VectorSpace:
        """With zero in place of the vectors of removed documents."""
        gone = np.isin(self.numbers, numbers)
        return replace(self, parts=tuple(part.without(gone[part.rows]) for part in self.parts))

    def rows_of(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Rows of these numbers; −1 for those without a vector."""
        if not len(self.numbers):
            return np.full(len(numbers), -1, np.int64)
        place = np.minimum(np.searchsorted(self.numbers, numbers), len(self.numbers) - 1)
        return np.where(self.numbers[place] == numbers, place, -1)

    def at(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """The vectors of these rows."""
        found = np.empty((len(rows), len(self.mean)), np.float32)
        for part in self.parts:
            within = np.flatnonzero((rows >= part.first) & (rows < part.first + part.size))
            if len(within):
                there = rows[within] - part.first
                found[within] = part.quantized[there] * part.scales[there, np.newaxis]
        return found

    def centred(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """A query's vector without what all texts have in common."""
        return np.asarray(centred(vector, self.mean)[0], np.float32)

    def likeness(self, query: NDArray[np.float32], numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        """Cosines to a centred vector; NaN for a missing or zero vector."""
        found = np.full(len(numbers), np.nan)
        rows = self.rows_of(numbers)
        there = np.flatnonzero(rows >= 0)
        length = float(np.linalg.norm(query))
        if not len(there) or not length:
            return found
        rows, query = rows[there], query / length
        for part in self.parts:
            within = np.flatnonzero((rows >= part.first) & (rows < part.first + part.size))
            if len(within):
                found[there[within]] = _products(part, rows[within] - part.first, query)
        return found

    def nearest(
        self, query: NDArray[np.float32], limit: int, among: NDArray[np.bool_] | None = None
    ) -> NDArray[np.int64]:
        """Ascending rows of the vectors whose signs agree best with a centred vector, where `among` is true."""
        chosen = None if among is None else np.flatnonzero(among)
        count = len(self) if chosen is None else len(chosen)
        if count <= limit:
            return np.arange(len(self)) if chosen is None else chosen
        differing = self._differing_signs(query)
        closest = _smallest(differing if chosen is None else differing[chosen], limit)
        return closest if chosen is None else chosen[closest]

    def _differing_signs(self, query: NDArray[np.float32]) -> NDArray[np.uint16]:
        wanted = sign_planes(query[np.newaxis])[:, 0]
        differing = np.empty(len(self), np.uint16)
        for part in self.parts:
            for start in range(0, part.size, _SCANNED):
                planes = part.planes[:, start : start + _SCANNED]
                counted = differing[part.first + start : part.first + start + planes.shape[1]]
                np.bitwise_count(planes[0] ^ wanted[0], out=counted)
                for plane, word in zip(planes[1:], wanted[1:], strict=True):
                    counted += np.bitwise_count(plane ^ word)
        return differing


def _products(part: VectorPart, rows: NDArray[np.int64], query: NDArray[np.float32]) -> NDArray[np.float32]:
    scales = part.scales[rows]
    products = part.quantized[rows].astype(np.float32) @ query
    return np.where(scales > 0, products * scales, np.nan)


def _smallest(values: NDArray[np.uint16], limit: int) -> NDArray[np.int64]:
    """Ascending places of the `limit` smallest values; of equal values the first."""
    counts = np.cumsum(np.bincount(values))
    last = int(np.searchsorted(counts, limit))
    chosen = values < last
    ties = np.flatnonzero(values == last)
    chosen[ties[: limit - int(counts[last - 1] if last else 0)]] = True
    return np.flatnonzero(chosen)
