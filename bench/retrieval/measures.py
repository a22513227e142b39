"""How good a ranking is, given the documents that answer the question."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import log2, sqrt
from statistics import fmean, stdev

from bench.retrieval.sets import ALL_AT_10

LIMIT = 10


@dataclass(frozen=True, slots=True)
class Judged:
    """One answered question."""

    category: str
    recall: float
    every: float
    recall_5: float
    ndcg: float
    reciprocal: float

    def figure(self, dataset: str) -> float:
        """The one figure that the set is measured by."""
        return self.every if dataset in ALL_AT_10 else self.recall


def judge(found: Sequence[str], gold: Collection[str], category: str) -> Judged:
    """The first ten of a ranking; what comes later counts as not found."""
    places = [place for place, id in enumerate(found[:LIMIT], start=1) if id in gold]
    ideal = sum(1 / log2(place + 1) for place in range(1, min(len(gold), LIMIT) + 1))
    return Judged(
        category=category,
        recall=len(places) / len(gold),
        every=float(len(places) == len(gold)),
        recall_5=sum(place <= 5 for place in places) / len(gold),
        ndcg=sum(1 / log2(place + 1) for place in places) / ideal,
        reciprocal=1 / places[0] if places else 0.0,
    )


def interval(values: Sequence[float]) -> float:
    """Half the width of the interval that holds the true mean in 95 of 100 such samples."""
    return 1.96 * stdev(values) / sqrt(len(values)) if len(values) > 1 else 0.0


def mean(values: Sequence[float]) -> float:
    return fmean(values) if values else 0.0
