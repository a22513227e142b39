"""Files that sessions of agents used together with a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from math import log1p
from typing import TYPE_CHECKING

from treering.code.co_access import co_access_edges, strongest_weights
from treering.code.history.co_access_seeds import ID_PREFIX
from treering.code.history.ranking import DEFAULTS, SESSIONS, RankedFile, RankTerm
from treering.core.queries import ShareRange

if TYPE_CHECKING:
    from treering.ports.store import Transaction

MIN_WEIGHT = 0.1  # weaker ties are those of files that are used all the time


def session_ties(tx: Transaction, path: str) -> dict[str, float]:
    """Weights of the files that sessions used together with this one; empty for a path outside the project."""
    strong = ShareRange(at_least=MIN_WEIGHT)
    edges = co_access_edges(tx, path, strong)
    return strongest_weights(path, (each for each in edges if not each.id.startswith(ID_PREFIX)))


def with_sessions(
    ranked: Iterable[RankedFile], ties: Mapping[str, float], limit: int, is_there: Callable[[str], bool]
) -> tuple[RankedFile, ...]:
    """The ranked files with the ties that sessions give, best first; further files are added."""
    files = {each.path: each for each in ranked}
    for path, weight in ties.items():
        if path in files or is_there(path):
            known = files.get(path) or RankedFile(path, 0.0, ())
            term = _term(weight)
            files[path] = replace(known, score=known.score + term.gain, why=(*known.why, term))
    return tuple(sorted(files.values(), key=lambda each: (-each.score, each.path))[:limit])


def _term(weight: float) -> RankTerm:
    """Counts like commits that changed both: the weight of this term was not fitted."""
    value = log1p(weight / DEFAULTS.together_floor)
    return RankTerm(SESSIONS, value, DEFAULTS.weights.together * value)
