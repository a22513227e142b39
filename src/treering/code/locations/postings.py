"""Inverted index in arrays: which rows contain a code, and how often."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class CodeCounts(NamedTuple):
    """Rows with a count each; a row may occur more than once."""

    rows: NDArray[np.int32]
    counts: NDArray[np.uint8]


class ChunkPostings:
    """Rows by code. A lookup takes time in proportion to the rows found, not to the number of rows."""

    def __init__(self, codes: NDArray[np.uint32], rows: NDArray[np.int32], counts: NDArray[np.uint8]) -> None:
        order = np.argsort(codes)
        self._codes, self._rows, self._counts = codes[order], rows[order], counts[order]

    def find(self, codes: Sequence[int]) -> CodeCounts:
        """The rows that contain any of the codes."""
        wanted = np.array(codes, np.uint32)
        starts, ends = (np.searchsorted(self._codes, wanted, side) for side in ("left", "right"))
        if len(codes) == 1:
            return CodeCounts(self._rows[starts[0] : ends[0]], self._counts[starts[0] : ends[0]])
        spans = [slice(start, end) for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
        return CodeCounts(
            np.concatenate([self._rows[span] for span in spans]),
            np.concatenate([self._counts[span] for span in spans]),
        )


def postings_of(codes_by_row: Sequence[Sequence[int]]) -> ChunkPostings:
    """Postings in which each row contains each of its codes as often as it is listed."""
    codes = [code for codes in codes_by_row for code in codes]
    rows = np.repeat(np.arange(len(codes_by_row), dtype=np.int32), [len(codes) for codes in codes_by_row])
    return ChunkPostings(np.array(codes, np.uint32), rows, np.ones(len(codes), np.uint8))
