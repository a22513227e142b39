"""Scores of rerankers on one scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROUNDING = 1e-3


def logistic(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    # Far beyond what decides between two texts, and still within what the exponential can take.
    return np.asarray(1 / (1 + np.exp(-np.clip(logits, -500, 500))), np.float64)


def from_0_to_1(scores: Sequence[float]) -> list[float]:
    """Scores as they are where all lie from 0 to 1; otherwise they are logits, all of them, and become likelihoods.

    Either way the order stays. (vLLM, Cohere and Jina give likelihoods; llama.cpp, and vLLM when told so, logits.)
    """
    given = np.asarray(scores, np.float64)
    if given.size and (given.min() < -_ROUNDING or given.max() > 1 + _ROUNDING):
        given = logistic(given)
    return [float(score) for score in np.clip(given, 0.0, 1.0)]
