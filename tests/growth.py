"""How processor time grows with the input: ratios hold on a busy machine, seconds do not."""

import math
from collections.abc import Callable
from time import thread_time
from typing import TypeVar

T = TypeVar("T")

LINEAR = 9.0
"""Upper bound for an input four times as large: linear work takes 4 times as long, quadratic work 16 times."""
_UNMEASURABLE = 0.003


def growth(work: Callable[[T], object], small: T, large: T, enough: float = LINEAR) -> float:
    """Processor time for the large input divided by that for the small one, each the best of up to three runs.

    Other processes only ever make a run longer, so the large input is not measured again once the ratio is below
    `enough`.
    """
    least = min(seconds(work, small) for _ in range(3))
    ratio = math.inf
    for _ in range(3):
        ratio = min(ratio, seconds(work, large) / least)
        if ratio < enough:
            break
    return ratio


def seconds(work: Callable[[T], object], given: T) -> float:
    """Processor time of one run, at least what can be measured."""
    began = thread_time()
    work(given)
    return max(_UNMEASURABLE, thread_time() - began)
