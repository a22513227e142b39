"""Estimates for models without a published vocabulary: the tokens of o200k_base, weighted by kind."""

import gzip
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from threading import Lock
from typing import TYPE_CHECKING, Any

from treering.adapters.tokenizers.exact import ExactTokenizer
from treering.adapters.tokenizers.kinds import kind_of
from treering.core.tokens import estimate_tokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BASE = "o200k_base"
PREFIX = "estimate:"

_MIN_COST = 0.25
"""Minimum weight of a token, whatever the fit says about its kind."""
_UNSPLIT_FACTOR = 2.0
"""Factor for text that tiktoken cannot split; no family needs twice the estimate for prose or code."""


@dataclass(frozen=True)
class Family:
    """Models with equal counts. `costs` maps a group of tokens to a factor and an offset for each length class."""

    name: str
    as_of: date
    against: str
    over: float
    costs: Mapping[str, tuple[float, ...]]


class EstimatingTokenizer:
    """Counts for one family: rarely below the models' own count, and as little above as the kinds of tokens allow."""

    exact = False

    def __init__(self, family: Family) -> None:
        self.name = PREFIX + family.name
        self._costs = family.costs
        self._base = ExactTokenizer(BASE)
        self._cuts = b""
        self._prices: NDArray[np.float32] | None = None
        self._loading = Lock()

    def count(self, text: str) -> int:
        tokens = self._base.encode(text)
        if tokens is None:
            return math.ceil(estimate_tokens(text) * _UNSPLIT_FACTOR)
        return math.ceil(self._priced(tokens))

    def _priced(self, tokens: "NDArray[np.uint32]") -> float:
        import numpy as np

        prices = self._prices if self._prices is not None else self._load()
        total = float(prices[tokens].sum(dtype=np.float64))
        if math.isnan(total):
            self._learn(prices, np.unique(tokens))
            total = float(prices[tokens].sum(dtype=np.float64))
        return total

    def _load(self) -> "NDArray[np.float32]":
        import numpy as np

        with self._loading:
            if self._prices is None:
                family = self.name.removeprefix(PREFIX)
                self._cuts = gzip.decompress((files(__package__) / "cuts" / f"{family}.gz").read_bytes())
                self._prices = np.full(self._base.size, np.nan, dtype=np.float32)
            return self._prices

    def _learn(self, prices: "NDArray[np.float32]", tokens: "NDArray[np.uint32]") -> None:
        """Compute the weights of tokens that occur; all of them would take half a second."""
        import numpy as np

        for token in tokens[np.isnan(prices[tokens])].tolist():
            group, length = kind_of(self._base.token(token))
            factor, *added = self._costs[group]
            prices[token] = max(_MIN_COST, factor * self._cuts[token] + added[min(length, len(added) - 1)])


@cache
def families() -> Mapping[str, Family]:
    """The families of `calibration.toml`, by name."""
    text = (files(__package__) / "calibration.toml").read_text("utf-8")
    return {name: _family(name, entry) for name, entry in tomllib.loads(text).items()}


def _family(name: str, entry: Mapping[str, Any]) -> Family:
    costs = {group: tuple(prices) for group, prices in entry["costs"].items()}
    return Family(name, entry["as_of"], entry["against"], entry["over"], costs)
