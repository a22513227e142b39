"""Reranking of the best results by a model that reads query and text together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from treering.core.citations import cite
from treering.core.errors import ModelUnavailable
from treering.core.privacy import WITHHELD_QUERY, may_leave
from treering.search.private_words import QueryPrivacy

if TYPE_CHECKING:
    from treering.core.settings import RerankerSettings
    from treering.ports.models import Models
    from treering.ports.store import Transaction
    from treering.search.ranked_result import RankedResult


@dataclass(frozen=True)
class RerankedResults:
    """Results in their new order; `skip_reason` is set if the order is unchanged."""

    results: Sequence[RankedResult]
    skip_reason: str = ""


def rerank(
    tx: Transaction, privacy: QueryPrivacy, results: Sequence[RankedResult], models: Models, settings: RerankerSettings
) -> RerankedResults:
    """Rerank the best results; the rest follow in their previous order.

    Results that the reranker may not read keep their score.
    """
    read, rest = results[: settings.candidates], results[settings.candidates :]
    try:
        reranker = models.reranker()
        if not read:
            return RerankedResults(results)
        if not privacy.may_leave(tx, reranker.location):
            return RerankedResults(results, WITHHELD_QUERY)
        sent = [result for result in read if may_leave(result.record, reranker.location)]
        given = reranker.scores(privacy.query, [cite(result.record)[0] for result in sent]) if sent else ()
    except ModelUnavailable as exc:
        models.failed("reranker", exc)
        return RerankedResults(results, str(exc))
    best = max(result.score for result in read) or 1.0
    scores = dict(zip((result.number for result in sent), given, strict=True))
    mixed = [
        _mixed(result, scores[result.number], best, settings.share) if result.number in scores else result
        for result in read
    ]
    ordered = sorted(mixed, key=lambda result: -result.score)
    ceiling = ordered[-1].score
    return RerankedResults([*ordered, *(_below(result, rest[0].score, ceiling) for result in rest)])


def _mixed(result: RankedResult, score: float, best: float, share: float) -> RankedResult:
    """Weighted mean of the reranker's score and the previous score relative to the best."""
    together = best * (share * score + (1 - share) * result.score / best)
    factors = {**result.factors, "reranked": together / result.score if result.score else 0.0}
    return replace(result, score=together, factors=factors)


def _below(result: RankedResult, first: float, ceiling: float) -> RankedResult:
    """A result that was not reranked, scaled to rank below all that were."""
    factor = min(1.0, ceiling / first) if first else 1.0
    return replace(result, score=result.score * factor, factors={**result.factors, "not reranked": factor})
