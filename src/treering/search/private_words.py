"""Whether a query may be sent to a model on another machine: not if it has words that only private records have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from treering.core.language.terms import codes_of, query_terms
from treering.core.privacy import ModelLocation, may_leave, text_may_leave
from treering.core.queries import KIND_FILTERS, SearchedKind
from treering.ports.index import DOCUMENT_KINDS, IndexQuery

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from treering.core.values import Record
    from treering.ports.collections import Searchable
    from treering.ports.store import Transaction

_MAX_RECORDS = 20
"""Records read for each word; if all of them are private, the word counts as private."""
_EVERYTHING = {kind.value: filter.defaults() for kind, filter in KIND_FILTERS.items()}


@dataclass
class QueryPrivacy:
    """A query and whether it is private: set by the caller, else determined from its words on first use."""

    query: str
    private: bool | None = None

    def may_leave(self, tx: Transaction, location: ModelLocation) -> bool:
        """Whether a model at this location may read the query.

        On another machine, only queries without secrets and without words that occur in private records alone.
        """
        if location is ModelLocation.HERE:
            return True
        if self.private is None:
            self.private = not text_may_leave(self.query, location) or any(
                _is_private(tx, codes_of(term.forms)) for term in query_terms(self.query, tx.index.languages())
            )
        return not self.private


def query_may_leave(tx: Transaction, query: str, location: ModelLocation) -> bool:
    """Whether a model at this location may read the query."""
    return QueryPrivacy(query).may_leave(tx, location)


def _is_private(tx: Transaction, word: Sequence[int]) -> bool:
    seen = tx.index.candidates(IndexQuery([word]), DOCUMENT_KINDS, limit=_MAX_RECORDS)
    holding = tx.index.matching_ids(_EVERYTHING, np.sort(seen.number[seen.words > 0]))
    records = list(_records(tx, list(holding.values())))
    return bool(records) and not any(may_leave(record, ModelLocation.ELSEWHERE) for record in records)


def _records(tx: Transaction, named: Sequence[tuple[str, str]]) -> Iterator[Record]:
    collections: Mapping[str, Searchable[Any, Any]] = {
        SearchedKind.KNOWLEDGE: tx.knowledge,
        SearchedKind.TURN: tx.turns,
        SearchedKind.EPISODE: tx.episodes,
        SearchedKind.PATTERN: tx.patterns,
    }
    for kind, collection in collections.items():
        if ids := [id for of, id in named if of == kind]:
            yield from (match.value for match in collection.readable(ids))
