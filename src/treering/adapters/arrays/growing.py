"""Arrays that grow at their end without copying what they hold, and when parts of an index are merged."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Parts that a query searches one by one; above this number, small ones are merged.
_MAX_PARTS = 6
_MIN_ROOM = 1_024
_ROOM_SHARE = 8  # one eighth of the length is kept free


class GrowingArrays:
    """Arrays of the same length with room at the end.

    Readers hold views of the first elements, which never change. Two states may continue from the same length: the
    first takes the room, the other gets a copy.
    """

    def __init__(self, arrays: Sequence[NDArray[Any]]) -> None:
        self._arrays = list(arrays)
        self._used = len(arrays[0])
        self._lock = Lock()

    def appended(self, size: int, added: Sequence[NDArray[Any]]) -> tuple[GrowingArrays, list[NDArray[Any]]]:
        """The first `size` elements and the added ones: the arrays to continue with, and their views."""
        total = size + len(added[0])
        with self._lock:
            fits = self._used == size and total <= len(self._arrays[0])
            if fits:
                self._used = total
        grown = self if fits else self._copied(size, total)
        for array, new in zip(grown._arrays, added, strict=True):
            array[size:total] = new
        return grown, [array[:total] for array in grown._arrays]

    def _copied(self, size: int, total: int) -> GrowingArrays:
        room = total + max(_MIN_ROOM, total // _ROOM_SHARE)
        arrays = [np.empty(room, array.dtype) for array in self._arrays]
        for array, before in zip(arrays, self._arrays, strict=True):
            array[:size] = before[:size]
        copied = GrowingArrays(arrays)
        copied._used = total
        return copied


def merged_from(sizes: Sequence[int]) -> int:
    """The first of the parts that are merged into one: all after those much larger than all later ones together."""
    if len(sizes) <= _MAX_PARTS:
        return len(sizes)
    after = 0
    for place in range(len(sizes) - 1, -1, -1):
        if after and sizes[place] > 4 * after:
            return place + 1
        after += sizes[place]
    return 0
