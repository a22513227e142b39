"""Fusion of the search paths: normalised scores of words, vector, graph and neighbouring turns, weighted and added.

Scores are fused rather than ranks: the first rank of a weak path would count as much as that of a strong one. The
weights were learned on public conversations with cross-validation (`bench/weights.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from treering.ports.index import ASKS, NAMES_TIME, Candidates
from treering.search.answer import ScorePart
from treering.search.query_kinds import QueryKind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treering.search.query import Question

    Columns = Mapping[str, NDArray[np.float64]]

# Weight of each signal of relevance: learned on public conversations, then rounded (`bench/weights.py`, decision 0004).
WEIGHTS: Mapping[str, float] = {
    "words": 1.0,
    "meaning": 0.5,
    "words_before": 0.25,
    "words_after": 0.2,
    "words_2_before": 0.2,
    "words_2_after": 0.1,
    "meaning_before": 0.3,
    "meaning_after": 0.2,
    "meaning_2_before": 0.1,
    "meaning_2_after": 0.1,
    "speaker": 0.25,
    "asks": -0.05,
    "names_time": 0.1,
    "answers": 0.1,
    "feedback_words": 0.1,
    "feedback_meaning": 0.2,
    "graph": 0.5,
    "time": 0.15,
    "order": 0.1,
}
SPEAKS_FOR_ITSELF_WORDS = 100.0  # a turn this long leans only half on the turns around it

# Weight of each path by kind of query, relative to a semantic query.
KIND_WEIGHTS: Mapping[QueryKind, Mapping[str, float]] = {
    QueryKind.SEMANTIC: {"words": 1.0, "meaning": 1.0, "graph": 1.0},
    QueryKind.IDENTIFIER: {"words": 2.0, "meaning": 0.4, "graph": 1.2},
    QueryKind.STRUCTURAL: {"words": 1.0, "meaning": 0.3, "graph": 2.4},
}


@dataclass(frozen=True)
class Fused:
    """Relevance of each candidate, with its terms and their weights."""

    parts: Columns
    weights: Mapping[str, float]
    total: NDArray[np.float64]

    def parts_of(self, row: int) -> tuple[ScorePart, ...]:
        """Non-zero terms of one candidate, the largest first."""
        found = (ScorePart(name, float(values[row]), self.weights[name]) for name, values in self.parts.items())
        return tuple(sorted((part for part in found if part.added), key=lambda part: -abs(part.added)))


def fuse(
    question: Question,
    found: Candidates,
    *,
    reliability: float,
    extra: Columns,
) -> Fused:
    """Weighted sum of the features of each candidate; `extra` holds further columns, already normalised."""
    parts = {**features(question, found, reliability, SPEAKS_FOR_ITSELF_WORDS), **extra}
    weights = kind_weights(question.kind.kind, WEIGHTS)
    total = np.zeros(len(found))
    for name, values in parts.items():
        total += weights[name] * values
    return Fused(parts, weights, total)


def kind_weights(kind: QueryKind, weights: Mapping[str, float]) -> Mapping[str, float]:
    """Weights for a kind of query; a path and its neighbour features are scaled together."""
    factors = KIND_WEIGHTS[kind]
    return {name: weight * factors.get(name.split("_")[0], 1.0) for name, weight in weights.items()}


def features(
    question: Question, found: Candidates, reliability: float, speaks_for_itself: float
) -> dict[str, NDArray[np.float64]]:
    """Features of each candidate, on scales that do not depend on the size of the project.

    Words: the matched share of the query's weight. Meaning: the cosine, scaled by the model's reliability.
    Neighbouring turns count for short turns and hardly for long ones.
    """
    words = found.words / (found.words_weight or 1.0)
    meaning = reliability * np.nan_to_num(found.meaning)
    asked = (found.marks & ASKS) > 0
    context_need = 1 / (1 + (found.length / speaks_for_itself) ** 2)
    return {
        "words": words,
        "meaning": meaning,
        **_neighbour_features("words", words, found.neighbours, context_need),
        **_neighbour_features("meaning", meaning, found.neighbours, context_need),
        "speaker": _spoken_by(question.names, found),
        "asks": asked.astype(np.float64),
        "names_time": (((found.marks & NAMES_TIME) > 0) & question.asks_when).astype(np.float64),
        "answers": context_need * _values_at(np.where(asked, words, 0.0), found.neighbours[:, 1]),
    }


def _spoken_by(names: NDArray[np.int64], found: Candidates) -> NDArray[np.float64]:
    return np.isin(found.speaker, names).astype(np.float64) if len(names) else np.zeros(len(found))


def _neighbour_features(
    name: str, values: NDArray[np.float64], neighbours: NDArray[np.int64], context_need: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    """Scores of the two turns before and after, scaled by how much a turn depends on its context."""
    steps = ("2_before", "before", "after", "2_after")
    return {
        f"{name}_{step}": context_need * _values_at(values, neighbours[:, column]) for column, step in enumerate(steps)
    }


def _values_at(values: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.where(rows >= 0, values[rows], 0.0) if len(values) else values


def normalised(total: NDArray[np.float64], best: float) -> NDArray[np.float64]:
    """Scores scaled from 0 (unrelated to the query) to 1 (the best)."""
    return np.clip(total / best, 0.0, 1.0) if best > 0 else np.zeros_like(total)


def ranks(values: NDArray[np.float64], floor: float) -> Mapping[int, int]:
    """Ranks of the rows whose value is above `floor`, starting at 1."""
    order: Sequence[int] = np.argsort(-np.nan_to_num(values, nan=-np.inf), kind="stable").tolist()
    return {row: rank for rank, row in enumerate(order, start=1) if values[row] > floor}
