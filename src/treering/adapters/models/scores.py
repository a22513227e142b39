"""Normalisation of reranker scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROUNDING = 1e-3


def logistic(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    # Beyond any difference that matters, and within the range of the exponential function.
    return np.asarray(1 / (1 + np.exp(-np.clip(logits, -500, 500))), np.float64)


def from_0_to_1(scores: Sequence[float]) -> list[float]:
    """Return scores that are all from 0 to 1 unchanged; otherwise treat all of them as logits and map them to 0–1.

    The order never changes. (vLLM, Cohere and Jina return probabilities; llama.cpp, and vLLM if configured, logits.)
    """
    given = np.asarray(scores, np.float64)
    if given.size and (given.min() < -_ROUNDING or given.max() > 1 + _ROUNDING):
        given = logistic(given)
    return [float(score) for score in np.clip(given, 0.0, 1.0)]
