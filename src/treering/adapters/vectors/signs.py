"""How vectors are centred, and reduced to sign bits and to 8-bit numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

STORED = np.dtype("<f2")
"""Stored precision: half the size of single precision, and exact enough for ranking."""
_WORD = np.dtype("<u8")


def sign_planes(vectors: NDArray[np.float32]) -> NDArray[np.uint64]:
    """The sign bits of vectors: each row holds 64 dimensions of all of them."""
    bits = np.packbits(vectors > 0, axis=1)
    missing = -bits.shape[1] % _WORD.itemsize
    words = np.ascontiguousarray(np.pad(bits, ((0, 0), (0, missing)))).view(_WORD)
    return np.ascontiguousarray(words.T)


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


def quantize(vectors: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Vectors as 8-bit numbers, and the scale of each vector."""
    scales = np.abs(vectors).max(axis=1, initial=0.0).astype(np.float32) / 127
    safe = np.where(scales > 0, scales, 1.0)[:, np.newaxis]
    return np.rint(vectors / safe).astype(np.int8), scales
