"""Vectors by the signs of their numbers: one bit each in memory, scanned completely, so a filter never costs recall.

The signs preselect candidates; their similarity is then computed from the vectors themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

STORED = np.dtype("<f2")
"""Stored precision: half the size of single precision, and exact enough for ranking."""
_WORD = np.dtype("<u8")


def pack(vectors: NDArray[np.float32]) -> NDArray[np.uint64]:
    """One row of 64-bit words per vector."""
    bits = np.packbits(vectors > 0, axis=1)
    missing = -bits.shape[1] % _WORD.itemsize
    return np.ascontiguousarray(np.pad(bits, ((0, 0), (0, missing)))).view(_WORD)


SAMPLE = 512
"""Maximum number of vectors from which the mean of a model is computed."""
# Weight of the prior: this many vectors reveal half of what all texts have in common.
_PRIOR_WEIGHT = 3


def first_sampled(count: int) -> int:
    """Number of vectors, counted from the first, over which the sample of `count` vectors is spread.

    All of them up to `SAMPLE`, then `SAMPLE` times the largest power of two that fits. The mean changes only when this
    number does, so it depends on the stored vectors alone, not on when a process started reading them.
    """
    return count if count <= SAMPLE else SAMPLE << ((count // SAMPLE).bit_length() - 1)


def in_common(sample: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """Estimated mean of `count` vectors from a sample, shrunk towards zero while there are few."""
    return np.asarray(sample.mean(axis=0) * (count / (count + _PRIOR_WEIGHT)), np.float32)


def centred(vectors: NDArray[np.float32], mean: NDArray[np.float32]) -> NDArray[np.float32]:
    """Subtract the mean and scale to length 1; a zero vector stays zero."""
    apart = vectors - mean
    lengths = np.linalg.norm(apart, axis=1, keepdims=True)
    apart[~vectors.any(axis=1) | (lengths[:, 0] == 0)] = 0
    return np.asarray(np.divide(apart, lengths, out=apart, where=lengths > 0), np.float32)


@dataclass(frozen=True)
class QuantizedVectors:
    """Vectors as 8-bit numbers with one scale per vector, used to rank the preselected ones."""

    numbers: NDArray[np.int8]
    scales: NDArray[np.float32]

    @classmethod
    def of(cls, vectors: NDArray[np.float32]) -> QuantizedVectors:
        scales = np.abs(vectors).max(axis=1, initial=0.0).astype(np.float32) / 127
        safe = np.where(scales > 0, scales, 1.0)[:, np.newaxis]
        return cls(np.rint(vectors / safe).astype(np.int8), scales)

    def joined(self, other: QuantizedVectors) -> QuantizedVectors:
        numbers = np.concatenate((self.numbers, other.numbers)) if len(self.numbers) else other.numbers
        return QuantizedVectors(numbers, np.concatenate((self.scales, other.scales)))

    def at(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        return self.numbers[rows].astype(np.float32) * self.scales[rows][:, np.newaxis]


@dataclass
class SignBits:
    """Sign bits of all vectors of one model, ordered by number."""

    mean: NDArray[np.float32]
    numbers: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    words: NDArray[np.uint64] | None = None

    def extended(self, numbers: NDArray[np.int64], apart: NDArray[np.float32]) -> SignBits:
        """Add `centred` vectors whose numbers are higher than all previous ones."""
        packed = pack(apart)
        words = packed if self.words is None else np.concatenate((self.words, packed))
        return SignBits(self.mean, np.concatenate((self.numbers, numbers)), words)

    def nearest(self, vector: NDArray[np.float32], limit: int, among: NDArray[Any] | None = None) -> NDArray[np.int64]:
        """Numbers of the vectors whose signs agree best, restricted to those where `among` is true."""
        if self.words is None:
            return self.numbers
        chosen = None if among is None else np.flatnonzero(among)
        words = self.words if chosen is None else self.words[chosen]
        numbers = self.numbers if chosen is None else self.numbers[chosen]
        if len(numbers) <= limit:
            return numbers
        wanted = pack(centred(vector, self.mean))[0]
        differing = np.zeros(len(numbers), np.uint16)
        for place, word in enumerate(wanted):
            differing += np.bitwise_count(words[:, place] ^ word)
        return numbers[np.argpartition(differing, limit)[:limit]]
