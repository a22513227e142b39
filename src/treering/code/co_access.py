"""Weights of the files that changed, or were used in sessions, together with a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from treering.core.errors import InvalidInput
from treering.core.queries import CoAccessFilter, Order, ShareRange

if TYPE_CHECKING:
    from treering.core.co_access import CoAccessEdge
    from treering.ports.store import Transaction

_MAX_EDGES = 200


def co_access_weights(tx: Transaction, path: str) -> dict[str, float]:
    """Weights of the files of all edges; empty for a path outside the project."""
    return strongest_weights(path, co_access_edges(tx, path))


def co_access_edges(tx: Transaction, path: str, weight: ShareRange | None = None) -> Sequence[CoAccessEdge]:
    """The strongest edges of a file; none for a path outside the project."""
    try:
        where = CoAccessFilter.make(files=(path,), weight=weight)
    except InvalidInput:
        return ()
    return tx.co_access.find(where, order=Order(by="weight"), limit=_MAX_EDGES).items


def strongest_weights(path: str, edges: Iterable[CoAccessEdge]) -> dict[str, float]:
    """The weight of the strongest edge to each other file."""
    found: dict[str, float] = {}
    for each in edges:
        other = each.second if each.first == path else each.first
        found[other] = max(each.weight, found.get(other, 0.0))
    return found
