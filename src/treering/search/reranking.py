"""A closer reading of the best results: query and text together."""

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
    from treering.search.ranked_result import Ranked


@dataclass(frozen=True)
class Reranked:
    """Results in their new order; `why_not` where they keep the old one."""

    results: Sequence[Ranked]
    why_not: str = ""


def reranked(
    tx: Transaction, asked: QueryPrivacy, results: Sequence[Ranked], models: Models, settings: RerankerSettings
) -> Reranked:
    """Let the reranker read the best; the rest stays behind them in its order.

    What it may not read keeps the score it has.
    """
    read, rest = results[: settings.candidates], results[settings.candidates :]
    try:
        reranker = models.reranker()
        if not read:
            return Reranked(results)
        if not asked.may_leave(tx, reranker.location):
            return Reranked(results, WITHHELD_QUERY)
        sent = [result for result in read if may_leave(result.record, reranker.location)]
        given = reranker.scores(asked.query, [cite(result.record)[0] for result in sent]) if sent else ()
    except ModelUnavailable as exc:
        models.failed("reranker", exc)
        return Reranked(results, str(exc))
    best = max(result.score for result in read) or 1.0
    scores = dict(zip((result.number for result in sent), given, strict=True))
    mixed = [
        _mixed(result, scores[result.number], best, settings.share) if result.number in scores else result
        for result in read
    ]
    ordered = sorted(mixed, key=lambda result: -result.score)
    ceiling = ordered[-1].score
    return Reranked([*ordered, *(_below(result, rest[0].score, ceiling) for result in rest)])


def _mixed(result: Ranked, score: float, best: float, share: float) -> Ranked:
    """The reranker's word and the score before it, both against the best."""
    together = best * (share * score + (1 - share) * result.score / best)
    factors = {**result.factors, "reranked": together / result.score if result.score else 0.0}
    return replace(result, score=together, factors=factors)


def _below(result: Ranked, first: float, ceiling: float) -> Ranked:
    """What was not read stays in its order, behind all that was."""
    factor = min(1.0, ceiling / first) if first else 1.0
    return replace(result, score=result.score * factor, factors={**result.factors, "not reranked": factor})
