"""What learning found to be superseded: the turn that said it gives way to the one that said what holds now."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from treering.core.payloads import Stated
from treering.core.queries import KnowledgeFilter, SearchedKind
from treering.core.records import Knowledge
from treering.core.statements import fact_key
from treering.core.turns import Turn
from treering.search.ranked_result import Ranked

if TYPE_CHECKING:
    from treering.ports.store import Transaction
    from treering.search.answer import StoredRecord
    from treering.search.request import Filters

    Read = Callable[[Mapping[int, tuple[str, str]]], Mapping[int, tuple[str, StoredRecord]]]

_MOST_RECORDS = 20
_BEST = 3
"""How many of the best results are looked up: each costs a statement."""


def with_successor(tx: Transaction, ranked: Sequence[Ranked], filters: Filters, read: Read) -> Sequence[Ranked]:
    """The results; where one of the best is a turn whose fact was superseded, what took its place comes before it."""
    for place, old in enumerate(ranked[:_BEST]):
        successor = _successor(tx, old.record) if isinstance(old.record, Turn) else None
        if successor is None:
            continue
        found = next((each for each in ranked if each.record.id in (*successor.source_ids, successor.id)), None)
        found = found or _shown(tx, successor, filters, read)
        if found is not None:
            first = replace(found, score=max(found.score, old.score), superseded_by=None)
            rest = [each for each in ranked[place + 1 :] if each.number != first.number]
            before = [each for each in ranked[:place] if each.number != first.number]
            return [*before, first, replace(old, superseded_by=first.record.id), *rest]
    return ranked


def _successor(tx: Transaction, turn: Turn) -> Knowledge | None:
    """The record that holds in place of those that were learned from this turn; None where one of them holds itself."""
    records = tx.knowledge.find(KnowledgeFilter(derived_from=(turn.id,)), limit=_MOST_RECORDS).items
    keys = [key for each in records if (key := _key(each)) is not None]
    if not keys or any(each.deprecated_at is None for each in records):
        return None
    standing = KnowledgeFilter(fact_keys=tuple(keys), deprecated=False, flagged=False)
    later = [each for each in tx.knowledge.find(standing, limit=_MOST_RECORDS).items if each.created_at >= turn.at]
    return max(later, key=lambda each: each.created_at, default=None)


def _key(record: Knowledge) -> str | None:
    said = record.payload
    if not isinstance(said, Stated) or said.subject is None or said.attribute is None:
        return None
    return fact_key(said.subject, said.attribute)


def _shown(tx: Transaction, successor: Knowledge, filters: Filters, read: Read) -> Ranked | None:
    """The turn that said it, or the record itself, as far as the filters let it through."""
    said = tx.documents.numbers(SearchedKind.TURN, list(successor.source_ids))
    known = tx.documents.numbers(SearchedKind.KNOWLEDGE, [successor.id])
    for numbers in (sorted(said.values(), reverse=True), list(known.values())):
        named = tx.index.confirmed(filters, np.array(sorted(numbers), np.int64)) if numbers else {}
        for number, (kind, record) in read(named).items():
            return Ranked(-1, number, kind, record, 0.0, {"state": 1.0}, 0.0)
    return None
