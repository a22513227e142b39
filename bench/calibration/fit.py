"""What each kind of token costs a family: least squares first, then a linear program that lifts every window."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from bench.calibration.counting import Cuts, Tokens
from bench.calibration.texts import Text
from treering.adapters.tokenizers.estimates import _MIN_COST, BASE
from treering.adapters.tokenizers.exact import ExactTokenizer
from treering.adapters.tokenizers.kinds import Kind, kind_of

Numbers = NDArray[np.float64]
Window = list[int]
"""Places of texts that follow one another in a source."""

WINDOW, REST = 2_000, 1_200
"""Tokens of o200k_base in a window, and in the last one of a source."""
MARGIN = 0.015
"""Every window comes out this much too high."""
STAY = 0.1
"""What it costs to leave the least squares, against a sum that is too high."""
PRIOR = 10.0
"""How firmly least squares hold to one token for each cut, where a kind is rare."""
REACH = 1.5
"""How far the linear program may go from the least squares."""


class Kinds:
    """The kinds of all tokens of o200k_base: columns of factors by group, then of what is added by kind."""

    def __init__(self) -> None:
        base = ExactTokenizer(BASE)
        of_token = [kind_of(base.token(number)) for number in range(base.size)]
        self.kinds: list[Kind] = sorted(set(of_token))
        self.groups = sorted({group for group, _ in self.kinds})
        places = {kind: place for place, kind in enumerate(self.kinds)}
        self._kind = np.array([places[kind] for kind in of_token])
        self._group = np.array([self.groups.index(group) for group, _ in of_token])

    def rows(self, tokens: Sequence[Tokens], cuts: Cuts) -> Numbers:
        """For each text: by group the cuts of its tokens, by kind how many there are."""
        weights = cuts.astype(np.float64)
        return np.stack([np.concatenate((self._cut(each, weights), self._count(each))) for each in tokens])

    def prices(self, weights: Numbers, cuts: Cuts) -> Numbers:
        """What each token costs, as the estimate computes it."""
        factors, added = weights[: len(self.groups)], weights[len(self.groups) :]
        return np.asarray(np.maximum(factors[self._group] * cuts + added[self._kind], _MIN_COST))

    def costs(self, weights: Numbers) -> Mapping[str, list[float]]:
        """By group: the factor, and what is added by class of length."""
        added = dict(zip(self.kinds, weights[len(self.groups) :].tolist(), strict=True))
        costs = {}
        for group, factor in zip(self.groups, weights.tolist(), strict=False):
            last = max(length for name, length in self.kinds if name == group)
            costs[group] = [factor, *(added.get((group, length), 0.0) for length in range(last + 1))]
        return costs

    def _cut(self, tokens: Tokens, weights: Numbers) -> Numbers:
        counted = np.bincount(self._group[tokens], weights=weights[tokens], minlength=len(self.groups))
        return counted.astype(np.float64)

    def _count(self, tokens: Tokens) -> Numbers:
        return np.bincount(self._kind[tokens], minlength=len(self.kinds)).astype(np.float64)


@dataclass(frozen=True)
class Half:
    """Texts by their places, and the windows among them."""

    texts: list[int]
    windows: list[Window]

    def __add__(self, other: "Half") -> "Half":
        return Half(sorted(self.texts + other.texts), self.windows + other.windows)


def half_of(texts: Sequence[Text], tokens: Sequence[Tokens], half: str) -> Half:
    """The texts of one half, cut into windows that never reach over two sources."""
    mine = [place for place, text in enumerate(texts) if text.half == half]
    sources = groupby(mine, key=lambda place: texts[place].source)
    return Half(mine, [window for _, places in sources for window in _windows(places, tokens)])


def _windows(places: Iterator[int], tokens: Sequence[Tokens]) -> Iterator[Window]:
    window, size = [], 0
    for place in places:
        window.append(place)
        size += len(tokens[place])
        if size >= WINDOW:
            yield window
            window, size = [], 0
    if size >= REST:
        yield window


def solve(rows: Numbers, true: Numbers, half: Half, groups: int) -> Numbers:
    """Weights that put no window of `half` lower than MARGIN above the truth, and the mean as low as that allows.

    ValueError where no weights do.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_matrix

    start = _least_squares(rows[half.texts], true[half.texts], groups)
    sums, trues = (np.stack([numbers[window].sum(0) for window in half.windows]) for numbers in (rows, true))
    shares = sums / trues[:, None]
    mean, most = shares.mean(0), np.maximum(shares.max(0), 1e-3)
    answer = linprog(
        np.concatenate((mean + STAY * most, -mean + STAY * most)),
        A_ub=csr_matrix(np.hstack((-shares, shares))),
        b_ub=-(1 + MARGIN) + shares @ start,
        bounds=[(0, REACH)] * (2 * len(start)),
        method="highs",
    )
    if answer.status:
        raise ValueError(f"the linear program has no answer: {answer.message}")
    up, down = np.split(answer.x, 2)
    return np.asarray(start + up - down)


def _least_squares(rows: Numbers, true: Numbers, groups: int) -> Numbers:
    scale = 1 / np.sqrt(true + 5)
    scaled, size = rows * scale[:, None], rows.shape[1]
    prior = np.concatenate((np.ones(groups), np.zeros(size - groups)))
    square = scaled.T @ scaled + PRIOR * np.eye(size)
    return np.asarray(np.linalg.solve(square, scaled.T @ (true * scale) + PRIOR * prior))
