"""Learns weights so that a question's own documents stand out among its candidates: a softmax over each list."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# How strongly weights are pulled to 0, against a mean loss of about 2.
L2 = 0.003
STEPS, RATE = 300, 0.05
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Candidates:
    """What is seen of each candidate for one question (a row each), and which of them answer it."""

    dataset: str
    group: str
    seen: Floats
    relevant: NDArray[np.bool_]
    answers: int
    """How many documents answer it, whether or not they are candidates."""

    def recall(self, weights: Floats, limit: int = 10) -> float:
        best = np.argsort(-(self.seen @ weights), kind="stable")[:limit]
        return float(self.relevant[best].sum()) / self.answers


def learned(lists: Sequence[Candidates]) -> Floats:
    """The weights with the least loss, on the scale of the softmax; every set counts alike, however many its questions.

    Adam on all questions at once: the loss is convex, so where it begins does not matter.
    """
    used = [each for each in lists if each.relevant.any()]
    questions = Counter(each.dataset for each in used)
    seen = np.concatenate([each.seen for each in used])
    lengths = [len(each.seen) for each in used]
    list_of = np.repeat(np.arange(len(used)), lengths)
    begins = np.concatenate(([0], np.cumsum(lengths)[:-1]))
    aim = np.concatenate([each.relevant / each.relevant.sum() for each in used])
    share = np.array([1 / questions[each.dataset] / len(questions) for each in used])[list_of]
    weights = np.zeros(seen.shape[1])
    slope_mean, slope_square = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        slope = seen.T @ ((_softmax(seen @ weights, begins, list_of) - aim) * share) + L2 * weights
        slope_mean = 0.9 * slope_mean + 0.1 * slope
        slope_square = 0.999 * slope_square + 0.001 * slope**2
        weights -= RATE * (slope_mean / (1 - 0.9**step)) / (np.sqrt(slope_square / (1 - 0.999**step)) + 1e-9)
    return weights


def _softmax(scores: Floats, begins: NDArray[np.int64], list_of: NDArray[np.int64]) -> Floats:
    """Within each list."""
    raised = np.exp(scores - np.maximum.reduceat(scores, begins)[list_of])
    return np.asarray(raised / np.add.reduceat(raised, begins)[list_of], np.float64)


def by_set(lists: Sequence[Candidates], weights: Floats) -> dict[str, float]:
    """Mean R@10 of each set."""
    found: dict[str, list[float]] = {}
    for each in lists:
        found.setdefault(each.dataset, []).append(each.recall(weights))
    return {name: float(np.mean(values)) for name, values in found.items()}


def across_groups(lists: Sequence[Candidates], folds: int) -> tuple[dict[str, float], list[Floats]]:
    """R@10 of each set on groups that were not learned from, and the weights of each fold."""
    places: dict[tuple[str, str], int] = {}
    counted: Counter[str] = Counter()
    for key in dict.fromkeys((each.dataset, each.group) for each in lists):
        places[key] = counted[key[0]] % folds
        counted[key[0]] += 1
    found: dict[str, list[float]] = {}
    weights = []
    for fold in range(folds):
        held = [each for each in lists if places[each.dataset, each.group] == fold]
        weights.append(learned([each for each in lists if places[each.dataset, each.group] != fold]))
        for each in held:
            found.setdefault(each.dataset, []).append(each.recall(weights[-1]))
    return {name: float(np.mean(values)) for name, values in found.items()}, weights


def without_each_set(lists: Sequence[Candidates]) -> dict[str, float]:
    """R@10 of each set with weights learned on the others only."""
    names = dict.fromkeys(each.dataset for each in lists)
    return {
        name: by_set(
            [each for each in lists if each.dataset == name],
            learned([each for each in lists if each.dataset != name]),
        )[name]
        for name in names
    }
