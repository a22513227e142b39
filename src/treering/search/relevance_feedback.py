"""A second look with what the first one found: relevant texts resemble each other more than a question."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from treering.ports.index import IndexQuery
from treering.search.fusion import WEIGHTS, Fused

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treering.core.settings import Settings
    from treering.ports.store import Transaction
    from treering.search.paths import Found

FEEDBACK_WORDS = 10  # most distinctive words of the best results that the second pass searches for as well


def with_feedback(tx: Transaction, found: Found, settings: Settings) -> Found:
    """Prefer candidates that share rare words with the best, or whose vectors lie near theirs."""
    best = np.sort(found.candidates.number[found.order[: settings.search.feedback]])
    if not len(best):
        return found
    columns = {"feedback_words": _shared_words(tx, found, best)}
    if found.wanted.vector is not None:
        near = tx.index.similarity(found.wanted.model, found.candidates.number, best)
        columns["feedback_meaning"] = np.nan_to_num(near)
    fused, total = found.fused, found.fused.total.copy()
    weights = {**fused.weights, **{name: WEIGHTS[name] for name in columns}}
    for name, column in columns.items():
        total += weights[name] * column
    order = found.order[np.argsort(-total[found.order], kind="stable")]
    return replace(found, fused=Fused({**fused.parts, **columns}, weights, total), order=order)


def _shared_words(tx: Transaction, found: Found, best: NDArray[np.int64]) -> NDArray[np.float64]:
    """The share of the best documents' own words, each counted by how often it stands there and how rare it is."""
    asked = np.array([code for forms in found.wanted.words for code in forms], np.uint32)
    counted: dict[int, float] = {}
    for codes, counts in tx.index.words_of(best).values():
        length = float(counts.sum()) or 1.0
        for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
            counted[code] = counted.get(code, 0.0) + count / length
    codes = np.setdiff1d(np.fromiter(counted, np.uint32, len(counted)), asked)
    if not len(codes):
        return np.zeros(len(found.candidates))
    telling = tx.index.rarity(codes) * np.array([counted[int(code)] for code in codes])
    chosen = np.argsort(-telling)[:FEEDBACK_WORDS]
    wanted = IndexQuery(
        [(int(code),) for code in codes[chosen]], shares=(telling[chosen] / telling[chosen[0]]).tolist()
    )
    return tx.index.word_scores(wanted, found.candidates.number)
