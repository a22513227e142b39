"""Results that say the same become one: the best of them stays and names the others."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from treering.core.citations import cite
from treering.core.language.folding import fold
from treering.core.turns import Turn

if TYPE_CHECKING:
    from treering.search.answer import Remembered
    from treering.search.ranked_result import Ranked

# A message that was delivered twice arrives twice within moments.
_SAME_TIME = timedelta(seconds=5)
# Long texts that begin alike for so many characters are compared no further.
_READ = 2_000
_WORD = re.compile(r"\w+")


def folded(results: Sequence[Ranked], alike: float) -> Mapping[int, tuple[int, ...]]:
    """The numbers to show, in their order, each with those that say the same.

    Two say the same where the words they share are at least the share `alike` of all their words. Turns must also have
    been said at the same time: what somebody says again on another day is another piece of evidence.
    """
    words = {result.number: frozenset(_WORD.findall(fold(cite(result.record)[0][:_READ]))) for result in results}
    shown: dict[int, tuple[Ranked, list[int]]] = {}
    for result in results:
        twins = (
            others
            for kept, others in shown.values()
            if _may_repeat(kept.record, result.record) and _overlap(words[kept.number], words[result.number]) >= alike
        )
        twin = next(twins, None)
        if twin is None:
            shown[result.number] = (result, [])
        else:
            twin.append(result.number)
    return {number: tuple(others) for number, (_, others) in shown.items()}


def _may_repeat(one: Remembered, other: Remembered) -> bool:
    if isinstance(one, Turn) and isinstance(other, Turn):
        return abs(one.at - other.at) < _SAME_TIME
    return type(one) is type(other)


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Shared words against all words."""
    return len(one & other) / len(one | other) if one or other else 1.0
