"""Forms of the estimate on the same texts: fitted to one half of the sources, measured on the other half."""

from collections.abc import Iterator, Sequence

import numpy as np

from bench.calibration.counting import Found, Tokens
from bench.calibration.fit import MARGIN, Half, Kinds, Numbers, solve
from bench.calibration.measuring import Windows, of_windows

HEADS = ("family", "estimate", "sum", "windows under", "lowest window", "95th percentile")
OVER = 0.05
"""How far above the truth CV2 allows a count to be."""


def compare(
    kinds: Kinds, tokens: Sequence[Tokens], found: Found, first: Half, second: Half
) -> Iterator[tuple[str, Windows]]:
    """Each form by name, with its errors on `second`."""
    true = found.counts
    ones = np.ones_like(found.cuts)
    for name, cuts in (("cuts and kinds", found.cuts), ("kinds without cuts", ones)):
        weights = solve(kinds.rows(tokens, cuts), true, first, len(kinds.groups))
        prices = kinds.prices(weights, cuts)
        yield name, of_windows(np.array([np.ceil(prices[each].sum()) for each in tokens]), true, second)
    base = np.array([len(each) for each in tokens], dtype=np.float64)
    for name, factor in (
        ("factor, no window of the fit under", _largest_ratio(base, true, first) * (1 + MARGIN)),
        ("factor, sum of the fit 5 % over", _ratio(base, true, first) * (1 + OVER)),
    ):
        yield f"{name}: {factor:.2f}", of_windows(np.ceil(base * factor), true, second)


def _largest_ratio(base: Numbers, true: Numbers, half: Half) -> float:
    return max(float(true[window].sum() / base[window].sum()) for window in half.windows)


def _ratio(base: Numbers, true: Numbers, half: Half) -> float:
    return float(true[half.texts].sum() / base[half.texts].sum())
