"""Files that were used together with a file, in sessions of agents and in commits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import log1p
from typing import TYPE_CHECKING

from treering.code.history.co_access_seeds import ID_PREFIX
from treering.code.history.ranking import DEFAULTS, SESSIONS, RankedFile, RankTerm
from treering.core.errors import InvalidInput
from treering.core.queries import CoAccessFilter, Order, ShareRange

if TYPE_CHECKING:
    from treering.core.co_access import CoAccessEdge
    from treering.ports.store import Transaction

MIN_WEIGHT = 0.1  # weaker ties are those of files that are used all the time
_MAX_EDGES = 200


def session_ties(tx: Transaction, path: str) -> dict[str, float]:
    """Weights of the files that sessions used together with this one; empty for a path outside the project."""
    strong = ShareRange(at_least=MIN_WEIGHT)
    return _weights(path, (each for each in _edges(tx, path, strong) if not each.id.startswith(ID_PREFIX)))


def co_access_weights(tx: Transaction, path: str) -> dict[str, float]:
    """Weights of the files that changed, or were used in sessions, together with this one."""
    return _weights(path, _edges(tx, path))


def _edges(tx: Transaction, path: str, weight: ShareRange | None = None) -> Sequence[CoAccessEdge]:
    try:
        where = CoAccessFilter.make(files=(path,), weight=weight)
    except InvalidInput:
        return ()
    return tx.co_access.find(where, order=Order(by="weight"), limit=_MAX_EDGES).items


def _weights(path: str, edges: Iterable[CoAccessEdge]) -> dict[str, float]:
    """The weight of the strongest edge to each other file."""
    found: dict[str, float] = {}
    for each in edges:
        other = each.second if each.first == path else each.first
        found[other] = max(each.weight, found.get(other, 0.0))
    return found


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
