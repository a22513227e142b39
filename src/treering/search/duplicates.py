"""Duplicates among results: the best one remains and lists the others."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from treering.core.citations import cite
from treering.core.language.folding import fold
from treering.core.turns import Turn

if TYPE_CHECKING:
    from treering.search.answer import StoredRecord
    from treering.search.ranked_result import RankedResult

# A message that was delivered twice arrives twice within seconds.
_SAME_TIME = timedelta(seconds=5)
# Characters of each text that are compared.
_MAX_CHARACTERS = 2_000
_WORD = re.compile(r"\w+")


def fold_duplicates(results: Sequence[RankedResult], alike: float) -> Mapping[int, tuple[int, ...]]:
    """Document numbers to show, in order, each with the numbers of its duplicates.

    Two results are duplicates if they share at least the fraction `alike` of all their words. Turns must also have the
    same time: a statement repeated on another day is further evidence.
    """
    texts = {result.number: cite(result.record)[0][:_MAX_CHARACTERS] for result in results}
    words = {number: frozenset(_WORD.findall(fold(text))) for number, text in texts.items()}
    shown: list[tuple[RankedResult, frozenset[str], list[int]]] = []
    for result in results:
        own = words[result.number]
        fewest, most = alike * len(own), len(own)
        twins = (
            others
            for first, its, others in shown
            # Texts of very different lengths cannot share that many words; this check rules out most pairs.
            if len(its) >= fewest
            and most >= alike * len(its)
            and _may_repeat(first.record, result.record)
            and _overlap(its, own) >= alike
        )
        twin = next(twins, None)
        if twin is None:
            shown.append((result, own, []))
        else:
            twin.append(result.number)
    return {first.number: tuple(others) for first, _, others in shown}


def _may_repeat(one: StoredRecord, other: StoredRecord) -> bool:
    if isinstance(one, Turn) and isinstance(other, Turn):
        return abs(one.at - other.at) < _SAME_TIME
    return type(one) is type(other)


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Shared words divided by all words."""
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if one or other else 1.0
