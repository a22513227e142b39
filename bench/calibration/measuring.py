"""A family's calibration: fitted to all texts, and how well the same fit does on sources that it never saw."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bench.calibration.counting import Found, Tokens
from bench.calibration.fit import Half, Kinds, Numbers, solve


@dataclass(frozen=True)
class Windows:
    """How estimates of windows differ from the truth: how many are below, the lowest, the sum, the highest 20th."""

    windows: int
    under: float
    worst: float
    over: float
    over_95: float


@dataclass(frozen=True)
class Singles:
    """The same of single texts."""

    under: float
    lowest_20th: float
    middle: float
    highest_20th: float


@dataclass(frozen=True)
class Calibration:
    """What a fit gave. `sample` is measured on the texts of the fit, `held_out` and `single` on sources left out."""

    sample: Windows
    held_out: Windows
    single: Singles
    costs: Mapping[str, list[float]]

    def entry(self, **words: object) -> dict[str, Any]:
        """What the calibration file says of a family, after `words`."""
        parts = {"held_out": asdict(self.held_out), "single": asdict(self.single), "costs": self.costs}
        return {**words, "over": self.sample.over, **parts}


def calibrate(kinds: Kinds, tokens: Sequence[Tokens], found: Found, first: Half, second: Half) -> Calibration:
    """Fit `first` and measure on `second`; then fit both, which gives the costs."""
    rows, true = kinds.rows(tokens, found.cuts), found.counts

    def estimates(weights: Numbers) -> Numbers:
        prices = kinds.prices(weights, found.cuts)
        return np.array([np.ceil(prices[each].sum()) for each in tokens])

    unseen = estimates(solve(rows, true, first, len(kinds.groups)))
    both = first + second
    # Rounded up: the margin of no window is lost
    weights = np.round(solve(rows, true, both, len(kinds.groups)) + 0.0005, 3)
    sample = of_windows(estimates(weights), true, both)
    return Calibration(sample, of_windows(unseen, true, second), _of_texts(unseen, true, second), kinds.costs(weights))


def of_windows(guessed: Numbers, true: Numbers, half: Half) -> Windows:
    sums, trues = (np.array([numbers[window].sum() for window in half.windows]) for numbers in (guessed, true))
    errors = sums / trues - 1
    below, high = float(np.mean(errors < 0)), float(np.quantile(errors, 0.95))
    return Windows(len(errors), below, float(errors.min()), float(sums.sum() / trues.sum() - 1), high)


def _of_texts(guessed: Numbers, true: Numbers, half: Half) -> Singles:
    errors = guessed[half.texts] / np.maximum(1, true[half.texts]) - 1
    low, middle, high = np.quantile(errors, (0.05, 0.5, 0.95)).tolist()
    return Singles(float(np.mean(errors < 0)), low, middle, high)
