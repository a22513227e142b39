"""Validation and normalisation of vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treering.ports.models import Vectors


def unit_rows(rows: NDArray[np.floating[Any]]) -> Vectors:
    """Scale each row to length 1; zero rows stay zero."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    units = np.zeros(rows.shape, np.float32)
    np.divide(rows, lengths, out=units, where=lengths > 0, casting="same_kind")
    return units


def read_vectors(rows: object, count: int) -> Vectors:
    """A server's answer as vectors of length 1; `ValueError`, with the reason, if it is not valid."""
    if not isinstance(rows, list) or len(rows) != count:
        found = len(rows) if isinstance(rows, list) else "no"
        raise ValueError(f"{found} vectors for {count} texts")
    try:
        numbers = np.asarray(rows)
    except (ValueError, OverflowError) as exc:
        raise ValueError("vectors of different lengths") from exc
    if numbers.dtype.kind not in "iuf" or numbers.ndim != 2 or not numbers.shape[1]:
        raise ValueError("something other than a list of numbers for each text")
    # In double precision, so that the squares of large single-precision numbers stay finite.
    numbers = numbers.astype(np.float64)
    if not np.isfinite(numbers).all() or np.abs(numbers).max() > np.finfo(np.float32).max:
        raise ValueError("numbers that are not finite")
    return unit_rows(numbers)
