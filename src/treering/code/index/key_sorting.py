"""Sorting of the hashes of keys."""

from collections.abc import Sequence

import numpy as np

_HASHES = np.dtype("<u8")
_HALF = np.dtype("<u4")


def sort_keys(packed: bytearray, counts: Sequence[int]) -> None:
    """Replace the lower half of each hash by the index of its file, of which `counts` has the sizes, and sort them."""
    column = np.frombuffer(packed, _HASHES)
    column.view(_HALF)[::2] = np.arange(len(counts), dtype=_HALF).repeat(counts)
    column.sort()
