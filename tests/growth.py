"""How processor time grows with the input: ratios hold on a busy machine, seconds do not."""

from collections.abc import Callable
from time import thread_time
from typing import TypeVar

T = TypeVar("T")

LINEAR = 9.0
"""Upper bound for an input four times as large: linear work takes 4 times as long, quadratic work 16 times."""
_UNMEASURABLE = 0.003


def growth(work: Callable[[T], object], small: T, large: T) -> float:
    """Processor time for the large input divided by that for the small one, each the best of three runs."""
    return _best(work, large) / _best(work, small)


def _best(work: Callable[[T], object], given: T) -> float:
    return max(_UNMEASURABLE, min(_seconds(work, given) for _ in range(3)))


def _seconds(work: Callable[[T], object], given: T) -> float:
    began = thread_time()
    work(given)
    return thread_time() - began
