"""Pseudo-relevance feedback: relevant texts resemble each other more than they resemble the question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from treering.ports.index import IndexQuery
from treering.search.fusion import WEIGHTS, Fused

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treering.core.settings import Settings
    from treering.ports.store import Transaction
    from treering.search.paths import RankedCandidates

FEEDBACK_WORDS = 10  # most distinctive words of the best results that the second pass searches for as well


def with_feedback(tx: Transaction, found: RankedCandidates, settings: Settings) -> RankedCandidates:
    """Raise candidates that share rare words with the best ones or have similar vectors."""
    best = np.sort(found.candidates.number[found.order[: settings.search.feedback]])
    if not len(best):
        return found
    frequency = _other_words(tx, found, best)
    codes = np.fromiter(sorted(frequency), np.uint32, len(frequency))
    if found.wanted.vector is None:
        columns = {"feedback_words": _shared_words(tx, found, codes, frequency, tx.index.rarity(codes))}
    else:
        rarity, near = tx.index.feedback(codes, found.wanted.model, found.candidates.number, best)
        columns = {
            "feedback_words": _shared_words(tx, found, codes, frequency, rarity),
            "feedback_meaning": np.nan_to_num(near),
        }
    fused, total = found.fused, found.fused.total.copy()
    weights = {**fused.weights, **{name: WEIGHTS[name] for name in columns}}
    for name, column in columns.items():
        total += weights[name] * column
    order = found.order[np.argsort(-total[found.order], kind="stable")]
    return replace(found, fused=Fused({**fused.parts, **columns}, weights, total), order=order)


def _other_words(tx: Transaction, found: RankedCandidates, best: NDArray[np.int64]) -> Mapping[int, float]:
    """Frequency in the best documents of each word that is not in the query."""
    query_codes = {code for forms in found.wanted.words for code in forms}
    frequency: dict[int, float] = {}
    for codes, counts in tx.index.words_of(best).values():
        length = float(counts.sum()) or 1.0
        for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
            frequency[code] = frequency.get(code, 0.0) + count / length
    return {code: share for code, share in frequency.items() if code not in query_codes}


def _shared_words(
    tx: Transaction,
    found: RankedCandidates,
    codes: NDArray[np.uint32],
    frequency: Mapping[int, float],
    rarity: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Scores by the words of the best documents, weighted by their frequency there and their rarity."""
    if not len(codes):
        return np.zeros(len(found.candidates))
    weights_of_words = rarity * np.array([frequency[int(code)] for code in codes])
    chosen = np.argsort(-weights_of_words)[:FEEDBACK_WORDS]
    wanted = IndexQuery(
        [(int(code),) for code in codes[chosen]],
        shares=(weights_of_words[chosen] / weights_of_words[chosen[0]]).tolist(),
    )
    return tx.index.word_scores(wanted, found.candidates.number)
