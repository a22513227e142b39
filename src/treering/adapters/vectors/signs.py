"""Vectors by the signs of their numbers: one bit each in memory, scanned whole, so that a filter never costs recall.

Signs tell which vectors may be near; how near they are is then computed from the vectors themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

STORED = np.dtype("<f2")
"""How a vector is stored: half the size of single precision, and exact enough to rank by."""
_WORD = np.dtype("<u8")


def pack(vectors: NDArray[np.float32]) -> NDArray[np.uint64]:
    """One row of 64-bit words a vector."""
    bits = np.packbits(vectors > 0, axis=1)
    missing = -bits.shape[1] % _WORD.itemsize
    return np.ascontiguousarray(np.pad(bits, ((0, 0), (0, missing)))).view(_WORD)


SAMPLE = 512
"""Vectors that the mean of a model's vectors is taken from, at most."""
# So many vectors tell half of what all texts have in common; two or three tell nothing but themselves.
_TELLING = 3


def first_sampled(count: int) -> int:
    """Number of vectors, of the first of `count`, that the sample is spread over.

    All of them up to `SAMPLE`, then `SAMPLE` times the last power of two that is reached. The mean changes only when
    this number does, so it depends on the stored vectors alone, not on when a process began to read them.
    """
    return count if count <= SAMPLE else SAMPLE << ((count // SAMPLE).bit_length() - 1)


def in_common(sample: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """What `count` vectors have in common, seen from some of them; the fewer there are, the less is certain."""
    return np.asarray(sample.mean(axis=0) * (count / (count + _TELLING)), np.float32)


def centred(vectors: NDArray[np.float32], mean: NDArray[np.float32]) -> NDArray[np.float32]:
    """Without what all texts have in common, and of length 1 again; a vector of zeros stays one."""
    apart = vectors - mean
    lengths = np.linalg.norm(apart, axis=1, keepdims=True)
    apart[~vectors.any(axis=1) | (lengths[:, 0] == 0)] = 0
    return np.asarray(np.divide(apart, lengths, out=apart, where=lengths > 0), np.float32)


@dataclass(frozen=True)
class Rounded:
    """Vectors in 8-bit numbers, each with its own scale: what signs chose is ranked by these."""

    numbers: NDArray[np.int8]
    scales: NDArray[np.float32]

    @classmethod
    def of(cls, vectors: NDArray[np.float32]) -> Rounded:
        scales = np.abs(vectors).max(axis=1, initial=0.0).astype(np.float32) / 127
        safe = np.where(scales > 0, scales, 1.0)[:, np.newaxis]
        return cls(np.rint(vectors / safe).astype(np.int8), scales)

    def joined(self, other: Rounded) -> Rounded:
        numbers = np.concatenate((self.numbers, other.numbers)) if len(self.numbers) else other.numbers
        return Rounded(numbers, np.concatenate((self.scales, other.scales)))

    def at(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        return self.numbers[rows].astype(np.float32) * self.scales[rows][:, np.newaxis]


@dataclass
class Signs:
    """The signs of all vectors of one model, in the order of their numbers."""

    mean: NDArray[np.float32]
    numbers: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    words: NDArray[np.uint64] | None = None

    def extended(self, numbers: NDArray[np.int64], apart: NDArray[np.float32]) -> Signs:
        """With more vectors, `centred` already, whose numbers are higher than all before."""
        packed = pack(apart)
        words = packed if self.words is None else np.concatenate((self.words, packed))
        return Signs(self.mean, np.concatenate((self.numbers, numbers)), words)

    def nearest(self, vector: NDArray[np.float32], most: int, among: NDArray[Any] | None = None) -> NDArray[np.int64]:
        """The numbers of those whose signs agree best, only those where `among` is true."""
        if self.words is None:
            return self.numbers
        chosen = None if among is None else np.flatnonzero(among)
        words = self.words if chosen is None else self.words[chosen]
        numbers = self.numbers if chosen is None else self.numbers[chosen]
        if len(numbers) <= most:
            return numbers
        wanted = pack(centred(vector, self.mean))[0]
        differing = np.zeros(len(numbers), np.uint16)
        for place, word in enumerate(wanted):
            differing += np.bitwise_count(words[:, place] ^ word)
        return numbers[np.argpartition(differing, most)[:most]]
