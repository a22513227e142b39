"""Why the results stand where they stand, and why others do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from treering.search.answer import Explanation, RankExplanation
from treering.search.citations import cite
from treering.search.fusion import ranks

if TYPE_CHECKING:
    from treering.search.graph_path import Tie
    from treering.search.paths import Found
    from treering.search.query import Question
    from treering.search.query_vector import Meaning
    from treering.search.ranked_result import Ranked


def understood(question: Question, meaning: Meaning) -> Mapping[str, str]:
    """The query as it was read."""
    told = {
        "kind": f"{question.kind.kind.value}: {question.kind.why}",
        "words": ", ".join(term.word for term in question.terms) or "none",
        "meaning": meaning.model or f"none: {meaning.why_not}",
    }
    if question.files:
        told["files in play"] = ", ".join(question.files)
    if question.times is not None and question.times.phrase:
        told["time"] = f"{question.times.phrase} ({question.times.kind.value})"
    return told


def explain(
    question: Question,
    meaning: Meaning,
    found: Found,
    *,
    results: Sequence[Ranked],
    lost: Sequence[tuple[Ranked, str]],
    noted: Mapping[str, str],
    passed: Mapping[int, Tie],
) -> Explanation:
    """The results with their reasons, then those that came next with what they lost by."""
    candidates = found.candidates
    paths = {
        "words": ranks(candidates.words, 0.0),
        "meaning": ranks(candidates.meaning, -np.inf),
        "graph": ranks(found.fused.parts["graph"], 0.0),
    }

    def reasons(result: Ranked, why: str = "") -> RankExplanation:
        return RankExplanation(
            id=result.record.id,
            kind=result.kind,
            text=cite(result.record)[0],
            ranks={name: places[result.row] for name, places in paths.items() if result.row in places},
            parts=found.fused.explained(result.row),
            relevance=result.relevance,
            factors=result.factors,
            score=result.score,
            lost=why,
            passed=passed[result.number].why if result.number in passed else "",
        )

    return Explanation(
        understood={**understood(question, meaning), **noted},
        results=tuple(reasons(result) for result in results),
        runners_up=tuple(reasons(result, why) for result, why in lost),
    )
