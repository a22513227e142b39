"""Lists of stored values of one kind, page by page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from treering.core.errors import InvalidInput
from treering.core.queries import (
    AuditFilter,
    EntityFilter,
    EpisodeFilter,
    Filter,
    InjectedItemFilter,
    JobFilter,
    KnowledgeFilter,
    ObservedSessionFilter,
    Order,
    Page,
    PatternFilter,
    RunFilter,
    SessionFilter,
    TurnFilter,
)

if TYPE_CHECKING:
    from datetime import datetime

    from treering.core.scope import Scope
    from treering.ports.store import Store, Transaction

MAX_PAGE = 1_000

_KINDS: Mapping[str, tuple[type[Filter], Callable[[Transaction], Any], str]] = MappingProxyType(
    {
        "knowledge": (KnowledgeFilter, lambda tx: tx.knowledge, "created_at"),
        "turns": (TurnFilter, lambda tx: tx.turns, "at"),
        "conversations": (SessionFilter, lambda tx: tx.sessions, "started_at"),
        "episodes": (EpisodeFilter, lambda tx: tx.episodes, "at"),
        "patterns": (PatternFilter, lambda tx: tx.patterns, "created_at"),
        "entities": (EntityFilter, lambda tx: tx.entities, "mentions"),
        "observed_sessions": (ObservedSessionFilter, lambda tx: tx.observed_sessions, "started_at"),
        "injected_items": (InjectedItemFilter, lambda tx: tx.injected_items, "injected_at"),
        "audit": (AuditFilter, lambda tx: tx.audit, "at"),
        "jobs": (JobFilter, lambda tx: tx.jobs, "created_at"),
        "runs": (RunFilter, lambda tx: tx.runs, "started_at"),
    }
)
"""Filter, collection and default order of each kind."""


def page(
    scope: Scope,
    store: Store,
    now: datetime,
    kind: str,
    *,
    where: Filter | None,
    order: str | None,
    descending: bool,
    limit: int,
    after: str | None,
) -> Page[Any]:
    """One page of the values that pass the filter; `InvalidInput` for an unknown kind, order or cursor."""
    filter_type, collection, default_order = _listed(kind, where)
    if not 1 <= limit <= MAX_PAGE:
        raise InvalidInput(f"limit is {limit:,}; pass a number from 1 to {MAX_PAGE:,}")
    sorted_by = Order.make(by=order or default_order, descending=descending)
    with store.reading(scope, now) as tx:
        found: Page[Any] = collection(tx).find(
            where or filter_type.defaults(), order=sorted_by, limit=limit, after=after
        )
    return found


def count(scope: Scope, store: Store, now: datetime, kind: str, where: Filter | None) -> int:
    """The number of values that pass the filter; `InvalidInput` for an unknown kind."""
    filter_type, collection, _ = _listed(kind, where)
    with store.reading(scope, now) as tx:
        return int(collection(tx).count(where or filter_type.defaults()))


def _listed(kind: str, where: Filter | None) -> tuple[type[Filter], Callable[[Transaction], Any], str]:
    if kind not in _KINDS:
        raise InvalidInput(f"{kind!r} cannot be listed; use one of {', '.join(_KINDS)}")
    filter_type = _KINDS[kind][0]
    if where is not None and not isinstance(where, filter_type):
        raise InvalidInput(f"where is a {type(where).__name__}; pass a {filter_type.__name__} to list {kind}")
    return _KINDS[kind]
