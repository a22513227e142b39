"""Turns whose learned facts were superseded rank below the turn or record with the current fact."""

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
from treering.search.ranked_result import RankedResult

if TYPE_CHECKING:
    from treering.ports.store import Transaction
    from treering.search.answer import StoredRecord
    from treering.search.request import Filters

    Read = Callable[[Mapping[int, tuple[str, str]]], Mapping[int, tuple[str, StoredRecord]]]

_MAX_RECORDS = 20
_MAX_CHECKED = 3  # results that are checked


def with_successor(
    tx: Transaction, ranked: Sequence[RankedResult], filters: Filters, read: Read
) -> Sequence[RankedResult]:
    """The results; a successor is placed before the turn whose fact it superseded, if that turn is among the best."""
    turns = [each.record for each in ranked[:_MAX_CHECKED] if isinstance(each.record, Turn)]
    superseded = tx.knowledge.superseded_sources([turn.id for turn in turns]) if turns else frozenset()
    learned = _learned(tx, [turn for turn in turns if turn.id in superseded])
    for place, old in enumerate(ranked[:_MAX_CHECKED]):
        if not isinstance(old.record, Turn) or old.record.id not in superseded:
            continue
        successor = _successor(tx, old.record, learned[old.record.id])
        if successor is None:
            continue
        found = next((each for each in ranked if each.record.id in (*successor.source_ids, successor.id)), None)
        found = found or _result_for(tx, successor, filters, read)
        if found is not None:
            first = replace(found, score=max(found.score, old.score), superseded_by=None)
            rest = [each for each in ranked[place + 1 :] if each.number != first.number]
            before = [each for each in ranked[:place] if each.number != first.number]
            return [*before, first, replace(old, superseded_by=first.record.id), *rest]
    return ranked


def _learned(tx: Transaction, turns: Sequence[Turn]) -> Mapping[str, Sequence[Knowledge]]:
    """The newest records learned from each turn, by its id."""
    if not turns:
        return {}
    ids = tuple(turn.id for turn in turns)
    page = tx.knowledge.find(KnowledgeFilter(derived_from=ids), limit=_MAX_RECORDS * _MAX_CHECKED)
    if page.next is None:
        return {id: [each for each in page.items if id in each.source_ids][:_MAX_RECORDS] for id in ids}
    one_by_one = (KnowledgeFilter(derived_from=(id,)) for id in ids)
    return {id: tx.knowledge.find(of, limit=_MAX_RECORDS).items for id, of in zip(ids, one_by_one, strict=True)}


def _successor(tx: Transaction, turn: Turn, records: Sequence[Knowledge]) -> Knowledge | None:
    """The record that supersedes those learned from this turn; None if one of them is still current."""
    keys = [key for each in records if (key := _key(each)) is not None]
    if not keys or any(each.deprecated_at is None for each in records):
        return None
    current = KnowledgeFilter(fact_keys=tuple(keys), deprecated=False, flagged=False)
    later = [each for each in tx.knowledge.find(current, limit=_MAX_RECORDS).items if each.created_at >= turn.at]
    return max(later, key=lambda each: each.created_at, default=None)


def _key(record: Knowledge) -> str | None:
    fact = record.payload
    if not isinstance(fact, Stated) or fact.subject is None or fact.attribute is None:
        return None
    return fact_key(fact.subject, fact.attribute)


def _result_for(tx: Transaction, successor: Knowledge, filters: Filters, read: Read) -> RankedResult | None:
    """A result for the turn that states the successor, else for the record, if it passes the filters."""
    turns = tx.documents.numbers(SearchedKind.TURN, list(successor.source_ids))
    records = tx.documents.numbers(SearchedKind.KNOWLEDGE, [successor.id])
    for numbers in (sorted(turns.values(), reverse=True), list(records.values())):
        named = tx.index.matching_ids(filters, np.array(sorted(numbers), np.int64)) if numbers else {}
        for number, (kind, record) in read(named).items():
            return RankedResult(-1, number, kind, record, 0.0, {"state": 1.0}, 0.0)
    return None
