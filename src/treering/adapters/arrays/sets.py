"""Sets as sorted arrays. `np.unique` imports masked arrays, which takes 10 ms of the first search of a process."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

N = TypeVar("N", bound=np.generic)


def distinct(values: NDArray[N]) -> NDArray[N]:
    """The distinct values, ascending."""
    ordered = np.sort(values)
    is_first = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return np.asarray(ordered[is_first])


def union(one: NDArray[N], other: NDArray[N]) -> NDArray[N]:
    """The distinct values of both, ascending."""
    return distinct(np.concatenate((one, other)))
