"""Paths to one relevance: what the words, the vector, the graph and the surroundings say, each normalised, then added.

Ranks alone are not fused: a weak path's first place would count as much as a strong one's. The weights were learned on
public conversations with cross-validation (`bench/weights.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from treering.ports.index import ASKS, NAMES_TIME, Candidates
from treering.search.answer import ScorePart
from treering.search.query_kinds import QueryKind

if TYPE_CHECKING:
    from treering.core.settings import FusionSettings
    from treering.search.query import Question

Columns = Mapping[str, NDArray[np.float64]]

# How much each path counts for a kind of query, against what it counts for a semantic one.
KIND_WEIGHTS: Mapping[QueryKind, Mapping[str, float]] = {
    QueryKind.SEMANTIC: {"words": 1.0, "meaning": 1.0, "graph": 1.0},
    QueryKind.IDENTIFIER: {"words": 2.0, "meaning": 0.4, "graph": 1.2},
    QueryKind.STRUCTURAL: {"words": 1.0, "meaning": 0.3, "graph": 2.4},
}


@dataclass(frozen=True)
class Fused:
    """The relevance of each candidate, and what it is made of."""

    parts: Columns
    weights: Mapping[str, float]
    total: NDArray[np.float64]

    def explained(self, row: int) -> tuple[ScorePart, ...]:
        """What counted for one candidate, the most important first."""
        found = (ScorePart(name, float(values[row]), self.weights[name]) for name, values in self.parts.items())
        return tuple(sorted((part for part in found if part.added), key=lambda part: -abs(part.added)))


def fuse(
    question: Question,
    found: Candidates,
    settings: FusionSettings,
    *,
    reliance: float,
    extra: Columns,
) -> Fused:
    """Add up what speaks for each candidate; `extra` are further columns, already normalised."""
    parts = {**features(question, found, reliance, settings.speaks_for_itself), **extra}
    weights = kind_weights(question.kind.kind, settings.weights())
    total = np.zeros(len(found))
    for name, values in parts.items():
        total += weights[name] * values
    return Fused(parts, weights, total)


def kind_weights(kind: QueryKind, weights: Mapping[str, float]) -> Mapping[str, float]:
    """The weights for a kind of query: those of a path and of its neighbours move together."""
    factors = KIND_WEIGHTS[kind]
    return {name: weight * factors.get(name.split("_")[0], 1.0) for name, weight in weights.items()}


def features(
    question: Question, found: Candidates, reliance: float, speaks_for_itself: float
) -> dict[str, NDArray[np.float64]]:
    """What is seen of each candidate, on scales that do not depend on the size of the project.

    Words: the share of what the query weighs. Meaning: the cosine, as far as the model can be relied on for this query.
    A short turn leans on those around it, a long one speaks for itself.
    """
    words = found.words / (found.words_weight or 1.0)
    meaning = reliance * np.nan_to_num(found.meaning)
    asked = (found.marks & ASKS) > 0
    leaning = 1 / (1 + (found.length / speaks_for_itself) ** 2)
    return {
        "words": words,
        "meaning": meaning,
        **_around("words", words, found.neighbours, leaning),
        **_around("meaning", meaning, found.neighbours, leaning),
        "speaker": np.isin(found.speaker, question.names).astype(np.float64),
        "asks": asked.astype(np.float64),
        "names_time": (((found.marks & NAMES_TIME) > 0) & question.asks_when).astype(np.float64),
        "answers": leaning * _value(np.where(asked, words, 0.0), found.neighbours[:, 1]),
    }


def _around(
    name: str, values: NDArray[np.float64], neighbours: NDArray[np.int64], leaning: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    """What the turns before and after say, as far as a turn leans on them."""
    steps = ("2_before", "before", "after", "2_after")
    return {f"{name}_{step}": leaning * _value(values, neighbours[:, column]) for column, step in enumerate(steps)}


def _value(values: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.where(rows >= 0, values[rows], 0.0) if len(values) else values


def normalised(total: NDArray[np.float64], best: float) -> NDArray[np.float64]:
    """From 0 (as a document that has nothing to do with the query) to 1 (the best)."""
    return np.clip(total / best, 0.0, 1.0) if best > 0 else np.zeros_like(total)


def ranks(values: NDArray[np.float64], floor: float) -> Mapping[int, int]:
    """Places of the rows whose value is above `floor`, from 1."""
    order: Sequence[int] = np.argsort(-np.nan_to_num(values, nan=-np.inf), kind="stable").tolist()
    return {row: place for place, row in enumerate(order, start=1) if values[row] > floor}
