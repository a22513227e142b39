"""Explanation of the ranking: reasons for each result and for those that were left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from treering.core.citations import cite
from treering.search.answer import Explanation, RankExplanation
from treering.search.fusion import ranks

if TYPE_CHECKING:
    from treering.search.graph_path import GraphMatch
    from treering.search.paths import RankedCandidates
    from treering.search.query import Question
    from treering.search.query_vector import QueryVector
    from treering.search.ranked_result import RankedResult


def interpretation(question: Question, meaning: QueryVector) -> Mapping[str, str]:
    """The interpretation of the query, as labels and text."""
    labels = {
        "kind": f"{question.kind.kind.value}: {question.kind.why}",
        "words": ", ".join(term.word for term in question.terms) or "none",
        "meaning": meaning.model or f"none: {meaning.skip_reason}",
    }
    if question.files:
        labels["files in play"] = ", ".join(question.files)
    if question.times is not None and question.times.phrase:
        labels["time"] = f"{question.times.phrase} ({question.times.kind.value})"
    return labels


def explain_ranking(
    question: Question,
    meaning: QueryVector,
    found: RankedCandidates,
    *,
    results: Sequence[RankedResult],
    lost: Sequence[tuple[RankedResult, str]],
    noted: Mapping[str, str],
    passed: Mapping[int, GraphMatch],
) -> Explanation:
    """The results with their scores, then the next documents with the reason why each was left out."""
    candidates = found.candidates
    paths = {
        "words": ranks(candidates.words, 0.0),
        "meaning": ranks(candidates.meaning, -np.inf),
        "graph": ranks(found.fused.parts["graph"], 0.0),
    }

    def explained(result: RankedResult, why: str = "") -> RankExplanation:
        return RankExplanation(
            id=result.record.id,
            kind=result.kind,
            text=cite(result.record)[0],
            ranks={name: places[result.row] for name, places in paths.items() if result.row in places},
            parts=found.fused.parts_of(result.row),
            relevance=result.relevance,
            factors=result.factors,
            score=result.score,
            lost=why,
            passed=passed[result.number].why if result.number in passed else "",
        )

    return Explanation(
        understood={**interpretation(question, meaning), **noted},
        results=tuple(explained(result) for result in results),
        runners_up=tuple(explained(result, why) for result, why in lost),
    )
